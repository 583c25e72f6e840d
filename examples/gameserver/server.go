package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// server is everything that runs: both channels from the service, the ledger, the game.
type server struct {
	cfg    settings
	client *payments.Client
	ledger *inbox.SQLite
	box    *inbox.Inbox
	book   *grant.Book
	poller *poller.Poller
	hook   *webhook.Handler
	desk   *grant.Desk
	game   grant.Game
	ln     net.Listener
}

// open makes everything and starts nothing.
func open(ctx context.Context, cfg settings) (*server, error) {
	client, err := payments.New(payments.Config{BaseURL: cfg.URL, Token: cfg.token, GameProductField: cfg.ProductField})
	if err != nil {
		return nil, err
	}
	game := &grant.HTTP{URL: cfg.Game, Secret: cfg.secret, RefusesTwice: cfg.RefusesTwice}
	s := &server{cfg: cfg, client: client, game: game}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) open(ctx context.Context) error {
	catalogue, err := grant.NewCatalogue(s.cfg.Catalogue...)
	if err != nil {
		return err
	}
	// A second process fails here, before it polls: one process has the ledger open.
	if s.ledger, err = sqlite.Open(s.cfg.Ledger, nil); err != nil {
		return err
	}
	if s.book, err = grant.Open(ctx, s.ledger, catalogue); err != nil {
		return err
	}
	s.box, err = inbox.Open(ctx, inbox.Config{
		SQLite: s.ledger, Client: s.client, Handler: s.book.Handle, HandlerTimeout: 5 * time.Second,
		Catalogue: catalogue.Inbox(), NotBefore: s.cfg.NotBefore,
	})
	if err != nil {
		return err
	}
	s.desk = &grant.Desk{Book: s.book, Box: s.box}
	if s.hook, err = webhook.New(webhook.Config{Client: s.client, Ledger: s.box.Webhook()}); err != nil {
		return err
	}
	s.poller, err = poller.New(poller.Config{
		Client: s.client, Ledger: s.box.Poller(), IntervalMin: s.cfg.pollEvery, IntervalMax: 2 * s.cfg.pollEvery,
	})
	if err != nil {
		return err
	}
	s.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Listen)
	return err
}

func (s *server) hookURL() string { return "http://" + s.ln.Addr().String() + "/hook" }

// serve runs everything until ctx ends, or a part other than the poller fails, and closes it.
func (s *server) serve(ctx context.Context, ready func()) error {
	mux := http.NewServeMux()
	mux.Handle("/hook", s.hook)
	mux.HandleFunc("POST /joined/{account}", s.joined)
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts := []func() error{
		func() error { return s.box.Run(ctx) },
		func() error { return s.book.Run(ctx, s.game) },
		func() error { return s.poll(ctx) },
		func() error { return web.Serve(s.ln) },
	}
	ended := make(chan error, len(parts))
	for _, run := range parts {
		go func() {
			defer stop()
			ended <- run()
		}()
	}
	ready()
	<-ctx.Done() // from now on no poll and no call of the game begins
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := errors.Join(web.Shutdown(grace), s.hook.Wait(grace)) // a webhook may still be in flight
	for range parts {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, s.close()) // nothing writes to the ledger any more
}

// poll runs the poller until ctx ends. Webhooks and the game go on without it.
func (s *server) poll(ctx context.Context) error {
	err := s.poller.Run(ctx)
	if ctx.Err() == nil {
		slog.ErrorContext(ctx, "gameserver: polling has stopped", slog.Any("error", err))
		<-ctx.Done()
	}
	return err
}

func (s *server) close() error {
	var errs []error
	s.client.CloseIdleConnections()
	if s.box != nil {
		errs = append(errs, s.box.Close())
	}
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	return errors.Join(errs...)
}

// joined is a call of the game: a player has joined, or typed /claim. The answer is the
// number of units that waited for it.
func (s *server) joined(w http.ResponseWriter, r *http.Request) {
	want, got := []byte("Bearer "+s.cfg.secret), []byte(r.Header.Get("Authorization"))
	if s.cfg.secret == "" || subtle.ConstantTimeCompare(got, want) != 1 {
		http.Error(w, "the secret is wrong", http.StatusUnauthorized)
		return
	}
	n, err := s.book.Joined(r.Context(), r.PathValue("account"))
	if err != nil {
		slog.ErrorContext(r.Context(), "gameserver: a call of the game failed", slog.Any("error", err))
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]int64{"units": n})
}
