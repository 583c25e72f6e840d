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

// TestKilled: the game server is killed at any moment while customers buy and players come
// and go.
func TestKilled(t *testing.T) {
	kills, purchases := 50, 1000
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

// ordeal is one run of it.
type ordeal struct {
	t        *testing.T
	mock     *mockserver.Server
	world    *world
	cfg      settings
	products []mockserver.Product
	accounts []string
	paid     []string        // payments
	wanted   map[string]bool // keys
	kills    int
}

func newOrdeal(t *testing.T, refuses bool) *ordeal {
	o := &ordeal{t: t, mock: mockserver.RunT(t, mockserver.Config{Logger: slog.New(slog.DiscardHandler)}), world: newWorld(t, refuses), wanted: map[string]bool{}}
	for i, p := range []struct {
		name  string
		lines []grant.Line
	}{
		{"Sword", []grant.Line{{Item: "sword", Slots: 1}}},
		{"Hero pack", []grant.Line{{Item: "rank:hero", OncePerOrder: true}, {Item: "potion", Count: 2, Slots: 1}}},
	} {
		made, err := o.mock.SaveProduct(mockserver.Product{Name: p.name, Price: int64(1000 * (i + 1))})
		require.NoError(t, err)
		o.products = append(o.products, made)
		o.cfg.Catalogue = append(o.cfg.Catalogue, grant.Product{ID: made.ID, Name: p.name, Price: payments.NewAmount(made.Price), Lines: p.lines})
	}
	for i := range 8 {
		u, err := o.mock.SaveStoreUser(mockserver.StoreUser{ID: fmt.Sprintf("acc-%d", i), Name: fmt.Sprintf("Player %d", i)})
		require.NoError(t, err)
		o.accounts = append(o.accounts, u.ID)
	}
	o.cfg.URL, o.cfg.Ledger = o.mock.URL(), filepath.Join(t.TempDir(), "payments.db")
	o.cfg.HTTP = &httpSettings{URL: o.world.URL, RefusesTwice: refuses}
	o.cfg.Listen = freePort(t)
	require.NoError(t, o.mock.SetWebhook(o.mock.Token(), "http://"+o.cfg.Listen+"/hook"))
	return o
}

// freePort is a port that every child takes again.
func freePort(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, ln.Close()) }()
	return ln.Addr().String()
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
		o.kills++
		buying.Wait()
	}
	cancel()
	churn.Wait()
	o.world.calmDown()
	o.t.Logf("%d kills during %d purchases in %v", kills, purchases, time.Since(began).Round(time.Second))
	o.finish()
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
		_ = cmd.Process.Kill() // kill -9
		_ = cmd.Wait()
		_ = in.Close()
	}
}

// buy is n customers of the store, and the bank.
func (o *ordeal) buy(n int) {
	for range n {
		which := rand.IntN(len(o.products))
		p, err := o.mock.Buy(o.products[which].ID, o.accounts[rand.IntN(len(o.accounts))])
		require.NoError(o.t, err)
		_, err = o.mock.Deposit(p.ID, mockserver.Deposit{Payer: "Kim"})
		require.NoError(o.t, err)
		o.paid = append(o.paid, p.ID)
		for line, l := range o.cfg.Catalogue[which].Lines {
			for unit := range max(1, l.Count) {
				o.wanted[fmt.Sprintf("%s:%d:%d", p.ID, line+1, unit+1)] = true
			}
		}
		<-time.After(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
	}
}
