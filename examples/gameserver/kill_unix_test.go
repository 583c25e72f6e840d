//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/racing"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// childVariable makes this test binary the game server, with these settings.
const childVariable = "DEPOSITPAY_TEST_GAMESERVER_CHILD"

func init() {
	text := os.Getenv(childVariable)
	if text == "" {
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // it is killed all the time
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the test is over, or killed
	}()
	var cfg settings
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		var s *server
		if s, err = open(context.Background(), quick(cfg)); err == nil {
			err = s.serve(context.Background(), func() { fmt.Println("ready") })
		}
	}
	fmt.Fprintln(os.Stderr, "child:", err)
	os.Exit(1)
}

// TestKilled: with the game server killed at any moment, while customers buy and players join
// and leave, no unit is given twice and none is lost.
func TestKilled(t *testing.T) {
	kills, purchases := 50, 300
	if testing.Short() || racing.On {
		kills, purchases = 8, 80
	}
	for name, refuses := range map[string]bool{"TheGameRefusesTwice": true, "TheGameTakesAnything": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newOrdeal(t, refuses).run(kills, purchases)
		})
	}
}

// ordeal is one run of TestKilled.
type ordeal struct {
	t        *testing.T
	mock     *mockserver.Server
	world    *world
	cfg      settings
	accounts []string
	paid     []string        // payments
	wanted   map[string]bool // keys
}

func newOrdeal(t *testing.T, refuses bool) *ordeal {
	o := &ordeal{t: t, mock: mockserver.RunT(t), world: newWorld(t, refuses), wanted: map[string]bool{}}
	for i, items := range [][]string{{"sword"}, {"shield", "potion", "potion"}} {
		made, err := o.mock.SaveProduct(mockserver.Product{Name: items[0], Price: int64(1000 * (i + 1))})
		require.NoError(t, err)
		o.cfg.Catalogue = append(o.cfg.Catalogue, grant.Product{ID: made.ID, Price: payments.NewAmount(made.Price), Items: items})
	}
	for i := range 8 {
		u, err := o.mock.SaveStoreUser(mockserver.StoreUser{ID: fmt.Sprintf("acc-%d", i), Name: fmt.Sprintf("Player %d", i)})
		require.NoError(t, err)
		o.accounts = append(o.accounts, u.ID)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // a port that every child takes again
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	o.cfg.URL, o.cfg.Ledger, o.cfg.Listen = o.mock.URL(), filepath.Join(t.TempDir(), "payments.db"), ln.Addr().String()
	o.cfg.Game, o.cfg.RefusesTwice = o.world.URL, refuses
	require.NoError(t, o.mock.SetWebhook(o.mock.Token(), "http://"+o.cfg.Listen+"/hook"))
	return o
}

func (o *ordeal) run(kills, purchases int) {
	ctx, cancel := context.WithCancel(context.Background())
	var churn sync.WaitGroup
	churn.Go(func() { o.world.churn(ctx, o.accounts, "http://"+o.cfg.Listen) })
	began := time.Now()
	for range kills {
		kill := o.start()
		var buying sync.WaitGroup
		buying.Go(func() { o.buy(purchases / kills) })
		<-time.After(time.Duration(rand.Int64N(int64(150 * time.Millisecond))))
		kill()
		buying.Wait()
	}
	cancel()
	churn.Wait()
	o.t.Logf("%d kills during %d purchases in %v", kills, purchases, time.Since(began).Round(time.Second))
	o.finish(kills)
}

// start starts a child and returns once it is ready.
func (o *ordeal) start() (kill func()) {
	text, err := json.Marshal(o.cfg)
	require.NoError(o.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(o.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(o.t, err)
	require.NoError(o.t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(o.t, err, "the child ended before it was ready")
	require.Equal(o.t, "ready\n", line)
	return func() {
		require.NoError(o.t, cmd.Process.Kill())
		_ = cmd.Wait()
		_ = in.Close()
	}
}

// buy is customers in the store, and their bank.
func (o *ordeal) buy(n int) {
	for range n {
		product := o.cfg.Catalogue[rand.IntN(len(o.cfg.Catalogue))]
		p, err := o.mock.Buy(product.ID, o.accounts[rand.IntN(len(o.accounts))])
		require.NoError(o.t, err)
		_, err = o.mock.Deposit(p.ID, mockserver.Deposit{Payer: "Kim"})
		require.NoError(o.t, err)
		o.paid = append(o.paid, p.ID)
		for i := range product.Items {
			o.wanted[fmt.Sprintf("%s:%d", p.ID, i+1)] = true
		}
		<-time.After(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
	}
}

// finish is a server that is not killed, and the operator.
func (o *ordeal) finish(kills int) {
	s := serving(o.t, o.cfg)
	o.world.calmDown(o.t.Context(), o.accounts, "http://"+o.cfg.Listen)
	o.await("payments wait at the service", func() bool {
		for _, id := range o.paid {
			if p, _ := o.mock.Payment(id); p.Status != mockserver.StatusComplete {
				return false
			}
		}
		return true
	})
	o.recoverLost(s)
	review := map[string]bool{}
	o.await("units are under way", func() bool {
		waiting, err := s.book.Waiting(o.t.Context(), -1)
		require.NoError(o.t, err)
		var units int
		require.NoError(o.t, s.ledger.Reader.QueryRowContext(o.t.Context(), `SELECT count(*) FROM grants`).Scan(&units))
		clear(review)
		for _, g := range waiting {
			if g.State != grant.Review {
				_, err := s.book.Joined(o.t.Context(), g.Account)
				require.NoError(o.t, err)
				return false
			}
			review[g.Key] = true
		}
		return units == len(o.wanted)
	})
	missing := o.world.requireOnce(o.t, o.wanted, review)
	o.t.Logf("%d units; %d need review, %d of these were not given; the game was asked %d times for what it had",
		len(o.wanted), len(review), missing, o.world.asked)
	if o.world.refuses {
		require.Empty(o.t, review)
		return
	}
	require.LessOrEqual(o.t, len(review), kills, "the game is asked for one unit at a time")
	require.Zero(o.t, o.world.asked)
}

// recoverLost: payments that the dashboard shows and the ledger does not have were taken by a
// poll whose response died with a process. Each is a possible loss in the report, and the
// operator sends its id to the webhook.
func (o *ordeal) recoverLost(s *server) {
	lost := 0
	for _, id := range o.paid {
		if _, err := s.box.Get(o.t.Context(), id); err != nil {
			require.ErrorIs(o.t, err, inbox.ErrNotFound)
			lost++
			hook(o.t, s, id)
		}
	}
	report, err := s.box.Reconcile(o.t.Context())
	require.NoError(o.t, err)
	o.t.Logf("%d payments were lost with a response, %d possible losses are reported", lost, len(report.PossibleLosses))
	require.LessOrEqual(o.t, lost, len(report.PossibleLosses), "no loss is silent")
}

func (o *ordeal) await(what string, done func() bool) {
	o.t.Helper()
	limit := time.After(3 * time.Minute)
	for !done() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			require.Fail(o.t, what+" for ever")
		}
	}
}
