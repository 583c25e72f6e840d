package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

const gameSecret = "test-game-secret"

// world is a game in a process that is not killed, with its own record of what it gave.
// Players join and leave while it is asked.
type world struct {
	*httptest.Server
	refuses bool

	mu     sync.Mutex
	given  map[string]int // by key
	asked  int            // for keys that it had already
	online map[string]bool
	free   map[string]int
	calm   bool // everybody is online, with room
}

func newWorld(t *testing.T, refuses bool) *world {
	w := &world{refuses: refuses, given: map[string]int{}, online: map[string]bool{}, free: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /grants", w.give)
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

func (w *world) give(rw http.ResponseWriter, r *http.Request) {
	var d grant.Delivery
	if r.Header.Get("Authorization") != "Bearer "+gameSecret || json.NewDecoder(r.Body).Decode(&d) != nil {
		rw.WriteHeader(http.StatusForbidden)
		return
	}
	answer := w.decide(d)
	if rand.IntN(2) == 0 { // a kill may come between the item and the answer
		<-time.After(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
	}
	_ = json.NewEncoder(rw).Encode(map[string]grant.Answer{"answer": answer})
}

func (w *world) decide(d grant.Delivery) grant.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.given[d.Key] > 0 {
		w.asked++
		if w.refuses {
			return grant.AlreadyGranted
		}
	}
	switch {
	case !w.calm && !w.online[d.Account]:
		return grant.Offline
	case !w.calm && w.free[d.Account] == 0:
		return grant.Full
	}
	w.given[d.Key]++
	w.free[d.Account]--
	return grant.Given
}

// churn makes players join and leave until ctx ends, and tells the merchant who joins.
func (w *world) churn(ctx context.Context, accounts []string, merchant string) {
	for ctx.Err() == nil {
		<-time.After(3 * time.Millisecond)
		account := accounts[rand.IntN(len(accounts))]
		w.mu.Lock()
		joins := !w.online[account]
		w.online[account], w.free[account] = joins, 1+rand.IntN(6)
		w.mu.Unlock()
		if joins {
			w.joined(ctx, merchant, account)
		}
	}
}

// joined is the game's call. It may fail: the merchant is killed all the time.
func (w *world) joined(ctx context.Context, merchant, account string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, merchant+"/joined/"+account, http.NoBody)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+gameSecret)
	if resp, err := w.Client().Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

// calmDown makes everybody join, with room for everything.
func (w *world) calmDown(ctx context.Context, accounts []string, merchant string) {
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	for _, account := range accounts {
		w.joined(ctx, merchant, account)
	}
}

// requireOnce requires each wanted key to have been given once, but for those that may be
// missing.
func (w *world) requireOnce(t *testing.T, wanted, mayMiss map[string]bool) (missing int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.given {
		require.True(t, wanted[key], "%s was never paid for", key)
		require.Equal(t, 1, n, "%s was given %d times", key, n)
	}
	for key := range wanted {
		if w.given[key] == 0 {
			require.True(t, mayMiss[key], "%s was never given", key)
			missing++
		}
	}
	return missing
}
