package main

import (
	"context"
	"errors"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// shop is one process of the shop. What has to outlive it is in the database.
type shop struct {
	settings
	db     *database
	client *payments.Client
	box    *inbox.Inbox
	hook   *webhook.Handler
	poll   *poller.Poller
	guard  *guard
	live   listeners     // the pages that listen
	ending chan struct{} // closed when pages must stop listening
}

// openShop connects the parts: one client, one ledger, and both channels into it.
func openShop(ctx context.Context, cfg settings) (*shop, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &shop{settings: cfg, ending: make(chan struct{})}
	var err error
	if s.client, err = payments.New(payments.Config{BaseURL: cfg.BaseURL, CheckoutURL: cfg.CheckoutURL, Token: cfg.Token}); err != nil {
		return nil, err
	}
	if s.guard, err = newGuard(cfg); err != nil {
		return nil, err
	}
	if s.db, err = openDatabase(ctx, cfg.File, cfg.Postgres); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.db.close())
	}
	return s, nil
}

// handlerTimeout is far more than grant takes. What a killed replica had in its hands waits
// for about this long until another one takes it over.
const handlerTimeout = 5 * time.Second

// reconcileEvery is how long at most a payment stays unseen that a replica had confirmed
// when it was killed, and not written down: nobody but us would speak of it again.
const reconcileEvery = time.Minute

func (s *shop) connect(ctx context.Context) (err error) {
	ledger := inbox.Config{Client: s.client, Handler: s.grant, HandlerTimeout: handlerTimeout, ReconcileEvery: reconcileEvery, SQLite: s.db.ledger}
	if s.db.ledger == nil {
		ledger.DB = s.db.write
	}
	if s.box, err = inbox.Open(ctx, ledger); err != nil {
		return err
	}
	hook := webhook.Config{Client: s.client, Ledger: s.box.Webhook()}
	if s.HookSecret != "" {
		hook.PathSecrets = []string{s.HookSecret}
	}
	if s.hook, err = webhook.New(hook); err != nil {
		return errors.Join(err, s.box.Close())
	}
	s.poll, err = poller.New(poller.Config{Client: s.client, Ledger: s.box.Poller(), IntervalMin: s.pollPause})
	if err != nil {
		return errors.Join(err, s.box.Close())
	}
	return nil
}

// close is for after run.
func (s *shop) close() error {
	err := errors.Join(s.box.Close(), s.db.close())
	s.client.CloseIdleConnections()
	return err
}
