package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// serving is a server with a town against the mock, for the length of a test.
func serving(t *testing.T) *server {
	t.Helper()
	mock := mockserver.RunT(t)
	return servingWith(t, settings{
		URL: mock.URL(), Ledger: filepath.Join(t.TempDir(), "payments.db"), Town: "127.0.0.1:0", Listen: "127.0.0.1:0",
		Catalogue: []grant.Product{{ID: "p", Name: "Sword", Price: payments.NewAmount(1000), Lines: []grant.Line{{Item: "sword"}}}},
	})
}

func servingWith(t *testing.T, cfg settings) *server {
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

// login connects a player and returns once the town knows.
func login(t *testing.T, s *server, account string) (say func(words, want string)) {
	t.Helper()
	say = connect(t, s.town.ln.Addr().String())
	say("login "+account, "Hello "+account)
	return say
}

// connect returns once the town has said welcome. Who says nothing just listens.
func connect(t *testing.T, address string) (say func(words, want string)) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	lines := bufio.NewScanner(conn)
	require.True(t, lines.Scan(), "no welcome")
	say = func(words, want string) {
		t.Helper()
		if words != "" {
			_, err := conn.Write([]byte(words + "\n"))
			require.NoError(t, err)
		}
		require.True(t, lines.Scan(), "no answer to %q", words)
		require.Contains(t, lines.Text(), want)
	}
	return say
}

// TestTownRefusesTwice: the key counts, also after the thing was dropped.
func TestTownRefusesTwice(t *testing.T) {
	t.Parallel()
	s := serving(t)
	d := grant.Delivery{Key: "k:1:1", Account: "acc-1", Item: "sword", Slots: pockets}
	give := func(d grant.Delivery, want grant.Answer) {
		t.Helper()
		answer, err := s.town.Give(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, want, answer)
	}
	give(d, grant.Offline)
	say := login(t, s, "acc-1")
	give(d, grant.Given)
	give(d, grant.AlreadyGranted)
	give(grant.Delivery{Key: "k:1:2", Account: "acc-1", Item: "sword", Slots: 1}, grant.Full)
	say("drop k:9:9", "You got: sword (k:1:1)") // it was said before
	say("drop k:1:1", "That did not work: you do not carry that")
	say("inventory", "You carry 0 things")
	give(d, grant.AlreadyGranted)
	give(grant.Delivery{Key: "k:1:2", Account: "acc-1", Item: "sword", Slots: 1}, grant.Given)
}

// TestGameCalls: only who knows the secret may say who has joined.
func TestGameCalls(t *testing.T) {
	t.Parallel()
	s := serving(t)
	for secret, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer wrong": 401, "Bearer " + gameSecret: 200} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.ln.Addr().String()+"/joined/acc-1", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", secret)
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode, secret)
	}
}

// TestOneLedger: a second server on the ledger ends before it polls.
func TestOneLedger(t *testing.T) {
	t.Parallel()
	s := serving(t)
	cfg := s.cfg
	_, err := open(t.Context(), cfg)
	require.ErrorIs(t, err, sqlite.ErrLocked)
}

// crowded is a port that fails at first, as one does without free file handles.
type crowded struct {
	net.Listener
	failures int
}

func (c *crowded) Accept() (net.Conn, error) {
	if c.failures > 0 {
		c.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return c.Listener.Accept()
}

// TestTownSurvivesACrowd: players come in again once there are file handles.
func TestTownSurvivesACrowd(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	crowd := &town{ln: &crowded{ln, 3}, online: map[string]*visitor{}}
	go func() { served <- crowd.serve(ctx) }()
	connect(t, ln.Addr().String())
	cancel()
	require.NoError(t, <-served)
}

// TestDoesNotListen: a player who never reads is put out, and not waited for again.
func TestDoesNotListen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		v := &visitor{Conn: here}
		v.say("You got: sword")
		_, err := here.Write([]byte("You got: shield"))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NoError(t, there.Close())
	})
}
