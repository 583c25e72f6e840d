package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// shop is one process of the shop. What must outlive it is in the database.
type shop struct {
	settings
	db     *database
	client *payments.Client
	box    *inbox.Inbox
	hook   *webhook.Handler
	poll   *poller.Poller
	wrong  *rate.Limiter // wrong passwords
}

// openShop connects the parts: one client, one inbox, and both channels into it.
func openShop(ctx context.Context, cfg settings) (s *shop, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s = &shop{settings: cfg, wrong: rate.NewLimiter(1, 5)}
	s.client, err = payments.New(payments.Config{BaseURL: cfg.BaseURL, CheckoutURL: cfg.CheckoutURL, Token: cfg.Token})
	if err != nil {
		return nil, err
	}
	if s.db, err = openDatabase(ctx, cfg.File, cfg.Postgres); err != nil {
		return nil, err
	}
	s.box, err = inbox.Open(ctx, inbox.Config{
		DB: s.db.postgres, SQLite: s.db.sqlite, Client: s.client, Handler: s.grant,
		HandlerTimeout: 5 * time.Second, // a payment that a killed replica was handling waits for about this long
		ReconcileEvery: time.Minute,     // and one that it had confirmed and not stored, for this long
		OnlyCreated:    true,            // no other program creates payments with this token
	})
	if err != nil {
		return nil, errors.Join(err, s.db.close())
	}
	hook := webhook.Config{Client: s.client, Ledger: s.box.Webhook(), PathSecrets: []string{cfg.HookSecret}}
	s.hook, err = webhook.New(hook)
	if err == nil {
		s.poll, err = poller.New(poller.Config{Client: s.client, Ledger: s.box.Poller(), IntervalMin: cfg.pollPause})
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// run serves the pages, receives webhooks, polls, and hands payments to grant until ctx ends or the
// server or the inbox fails. It returns when nothing is in progress any more.
func (s *shop) run(ctx context.Context, ln net.Listener) error {
	server := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       8 * time.Second,
		WriteTimeout:      15 * time.Second, // more than the webhook's budget
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 3)
	start := func(part func() error) {
		defer stop() // the shop cannot run without this part: end, so that a supervisor restarts it
		ended <- part()
	}
	go start(func() error { return s.box.Run(ctx) })
	go start(func() error { return server.Serve(ln) })
	go start(func() error { return s.pollAlone(ctx) }) // goes on until ctx ends

	<-ctx.Done()
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer done()
	err := errors.Join(server.Shutdown(grace), s.hook.Wait(grace)) // a webhook may be in progress
	for range cap(ended) {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// close is for after run.
func (s *shop) close() error {
	err := errors.Join(s.box.Close(), s.db.close())
	s.client.CloseIdleConnections()
	return err
}
