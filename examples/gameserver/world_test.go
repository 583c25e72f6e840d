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
	"github.com/depositpay/depositpay-go/mockserver"
)

const gameSecret = "test-game-secret"

// quick adds what is not in the file.
func quick(cfg settings) settings {
	cfg.token, cfg.secret = mockserver.DefaultToken, gameSecret
	cfg.pace = pace{
		pollMin: 20 * time.Millisecond, pollMax: 40 * time.Millisecond, every: 10 * time.Millisecond,
		look: 100 * time.Millisecond, backoff: 20 * time.Millisecond,
	}
	return cfg
}

// world is a game in a process that is not killed, with its own book of what it gave.
// Players come and go while it is asked.
type world struct {
	*httptest.Server
	refuses bool

	mu     sync.Mutex
	given  map[string]int // by key
	asked  int            // for keys that it had already
	online map[string]bool
	free   map[string]int
	calm   bool // everybody is there, with room
}

func newWorld(t *testing.T, refuses bool) *world {
	w := &world{refuses: refuses, given: map[string]int{}, online: map[string]bool{}, free: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /players/{account}", w.player)
	mux.HandleFunc("POST /grants", w.give)
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

func (w *world) player(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	account := r.PathValue("account")
	_ = json.NewEncoder(rw).Encode(grant.Player{Online: w.calm || w.online[account], Free: w.room(account)})
}

func (w *world) room(account string) int {
	if w.calm {
		return 100
	}
	return w.free[account]
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
	case w.room(d.Account) < d.Slots:
		return grant.Full
	}
	w.given[d.Key]++
	w.free[d.Account] -= d.Slots
	return grant.Given
}

// churn makes players join and leave until ctx ends, and tells the merchant who joins.
func (w *world) churn(ctx context.Context, accounts []string, merchant string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(3 * time.Millisecond):
		}
		account := accounts[rand.IntN(len(accounts))]
		w.mu.Lock()
		joins := !w.online[account]
		w.online[account] = joins
		if joins {
			w.free[account] = 1 + rand.IntN(6)
		}
		w.mu.Unlock()
		if joins {
			w.tell(ctx, merchant+"/joined/"+account)
		}
	}
}

// tell may fail: the merchant is killed all the time.
func (w *world) tell(ctx context.Context, address string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+gameSecret)
	if resp, err := w.Client().Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

func (w *world) calmDown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = true
}

// requireOnce: every wanted key was given once, but for those that may be missing.
func (w *world) requireOnce(t *testing.T, wanted map[string]bool, mayMiss map[string]bool) (missing int) {
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
