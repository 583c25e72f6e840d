package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the tests provoke failures
	goleak.VerifyTestMain(m)
}

// quick adds what is not in the file.
func quick(cfg settings) settings {
	cfg.token, cfg.secret, cfg.pollEvery = mockserver.DefaultToken, gameSecret, 20*time.Millisecond
	return cfg
}

// serving runs a server until the test ends.
func serving(t *testing.T, cfg settings) *server {
	t.Helper()
	s, err := open(t.Context(), quick(cfg))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served, ready := make(chan error, 1), make(chan struct{})
	go func() { served <- s.serve(ctx, func() { close(ready) }) }()
	<-ready
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return s
}

// shopFloor is the service with a product and a player, and settings that fit.
func shopFloor(t *testing.T, mock *mockserver.Server) settings {
	t.Helper()
	pack, err := mock.SaveProduct(mockserver.Product{Name: "Hero pack", Price: 9000})
	require.NoError(t, err)
	_, err = mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1001", Name: "Steve"})
	require.NoError(t, err)
	return settings{
		URL: mock.URL(), Ledger: filepath.Join(t.TempDir(), "payments.db"), NotBefore: time.Now().Add(-time.Minute),
		Listen: "127.0.0.1:0", Game: "http://127.0.0.1:1",
		Catalogue: []grant.Product{{ID: pack.ID, Price: payments.NewAmount(9000), Items: []string{"shield", "potion", "potion"}}},
	}
}

// purchase is a player in the store, and the bank.
func purchase(t *testing.T, mock *mockserver.Server, product string) (payment string) {
	t.Helper()
	bought, err := mock.Buy(product, "acc-1001")
	require.NoError(t, err)
	_, err = mock.Deposit(bought.ID, mockserver.Deposit{Payer: "Steve"})
	require.NoError(t, err)
	return bought.ID
}

// hook is a webhook, which anybody could send.
func hook(t *testing.T, s *server, id string) {
	t.Helper()
	require.Less(t, call(t, s.hookURL(), "", `{"payment_id":"`+id+`"}`), 500)
}

func call(t *testing.T, address, authorization, body string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", authorization)
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestDemo: from the purchase in the store to the item, with an offline player, a full
// inventory and the operator.
func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"--demo"}, strings.NewReader(""), &out))
	require.True(t, strings.HasSuffix(out.String(), "\ngave 6 of 6 units, each once\n"), out.String())
	require.Contains(t, out.String(), "already granted")
	require.NotContains(t, out.String(), "test_demo", "the token is not part of the story")
}

// TestServer: the program with the README's file gives what was bought to a game behind HTTP,
// once the player joins, and answers the operator.
func TestServer(t *testing.T) {
	mock, game := mockserver.RunT(t), newWorld(t, true)
	t.Setenv("DEPOSITPAY_TOKEN", mock.Token())
	t.Setenv("GAME_SECRET", gameSecret)
	cfg, err := readSettings("gameserver.example.json")
	require.NoError(t, err)
	floor := shopFloor(t, mock)
	cfg.URL, cfg.Ledger, cfg.Listen, cfg.Game, cfg.NotBefore = floor.URL, floor.Ledger, floor.Listen, game.URL, floor.NotBefore
	cfg.Catalogue[0].ID = floor.Catalogue[0].ID
	text, err := json.Marshal(cfg)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "gameserver.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	ctx, stop := context.WithCancel(context.Background())
	lines, out := io.Pipe()
	in, typed := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"--config", file}, in, out) }()
	said := bufio.NewScanner(lines)
	hear := func(prefix string) (rest string) {
		t.Helper()
		for said.Scan() {
			if rest, found := strings.CutPrefix(said.Text(), prefix); found {
				return rest
			}
		}
		require.Fail(t, "the program ended and did not say "+prefix)
		return ""
	}
	address := hear("send webhooks to ")
	require.NoError(t, mock.SetWebhook(mock.Token(), address))
	payment := purchase(t, mock, cfg.Catalogue[0].ID)
	mock.Advance(0) // the webhook is delivered
	game.calmDown(t.Context(), []string{"acc-1001"}, strings.TrimSuffix(address, "/hook"))
	wanted := map[string]bool{payment + ":1": true, payment + ":2": true, payment + ":3": true}
	require.Eventually(t, func() bool {
		game.mu.Lock()
		defer game.mu.Unlock()
		return len(game.given) == len(wanted)
	}, 20*time.Second, 5*time.Millisecond)
	require.Zero(t, game.requireOnce(t, wanted, nil))
	mock.CheckCompletedOnce(t, payment)
	go func() { _, _ = io.WriteString(typed, "show "+payment+"\n") }()
	require.Contains(t, hear(payment+":1  "), `"acc-1001"  minecraft:shield  `)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	stop()
	_ = typed.Close()
	require.NoError(t, <-ended)
	_ = out.Close()
}

// TestSettings: an error names what is missing.
func TestSettings(t *testing.T) {
	t.Parallel()
	good := settings{token: "test_x", secret: "x", Ledger: "x", Listen: ":0", Game: "x", NotBefore: time.Now()}
	require.NoError(t, good.check())
	for want, change := range map[string]func(*settings){
		"DEPOSITPAY_TOKEN is not set": func(s *settings) { s.token = "" },
		"GAME_SECRET is not set":      func(s *settings) { s.secret = "" },
		"ledger, listen and game":     func(s *settings) { s.Game = "" },
		"not_before: set it":          func(s *settings) { s.NotBefore = time.Time{} },
		"in UTC as in":                func(s *settings) { s.NotBefore = time.Now().Add(9 * time.Hour) },
	} {
		s := good
		change(&s)
		require.ErrorContains(t, s.check(), want)
	}
	_, err := readSettings(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "try --demo")
}

// TestNewLedger: a payment from before this ledger, whose webhook anybody can send again, is
// not given; one from after it is.
func TestNewLedger(t *testing.T) {
	t.Parallel()
	mock := mockserver.RunT(t, mockserver.Config{Clock: mockserver.NewStoppedClock(time.Now().Add(-time.Hour))})
	cfg := shopFloor(t, mock)
	old := purchase(t, mock, cfg.Catalogue[0].ID)
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	_, err = client.Next(t.Context()) // the integration of before
	require.NoError(t, err)
	s := serving(t, cfg)
	hook(t, s, old)
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), old)
		return err == nil && e.Stage == inbox.StageReview && e.Reason == string(inbox.ReasonTooOld)
	}, 20*time.Second, 5*time.Millisecond)
	mock.Advance(time.Hour)
	bought := purchase(t, mock, cfg.Catalogue[0].ID)
	require.Eventually(t, func() bool {
		units, err := s.book.OfPayment(t.Context(), bought)
		return err == nil && len(units) == 3
	}, 20*time.Second, 5*time.Millisecond)
	units, err := s.book.OfPayment(t.Context(), old)
	require.NoError(t, err)
	require.Empty(t, units)
}

// TestJoinedSecret: only the game may tell who has joined.
func TestJoinedSecret(t *testing.T) {
	t.Parallel()
	s := serving(t, shopFloor(t, mockserver.RunT(t)))
	address := strings.TrimSuffix(s.hookURL(), "/hook") + "/joined/acc-1"
	for secret, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer wrong": 401, "Bearer " + gameSecret: 200} {
		require.Equal(t, want, call(t, address, secret, ""), secret)
	}
	_, err := open(t.Context(), s.cfg)
	require.ErrorIs(t, err, sqlite.ErrLocked, "a second server on the ledger ends before it polls")
}

// TestTownRefusesTwice: the key counts, also after the thing was dropped.
func TestTownRefusesTwice(t *testing.T) {
	t.Parallel()
	s := serving(t, shopFloor(t, mockserver.RunT(t)))
	town, err := openTown(t.Context(), s.ledger, s.book, t.Logf)
	require.NoError(t, err)
	give := func(key string, want grant.Answer) {
		t.Helper()
		answer, err := town.Give(t.Context(), grant.Delivery{Key: key, Account: "acc-1", Item: "sword"})
		require.NoError(t, err)
		require.Equal(t, want, answer)
	}
	give("k:1", grant.Offline)
	require.NoError(t, town.join(t.Context(), "acc-1"))
	for _, key := range []string{"k:1", "k:2", "k:3", "k:4"} {
		give(key, grant.Given)
	}
	give("k:5", grant.Full)
	give("k:1", grant.AlreadyGranted)
	require.NoError(t, town.drop(t.Context(), "acc-1", "sword"))
	give("k:1", grant.AlreadyGranted)
	give("k:5", grant.Given)
}
