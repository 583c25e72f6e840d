package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// stopTimeout is how long requests under way may take when the shop stops.
const stopTimeout = 15 * time.Second

// run serves the pages, receives webhooks, polls and hands payments over, until ctx ends.
// Then it stops in that order, so that nothing that has arrived is left behind.
func (s *shop) run(ctx context.Context, ln net.Listener) error {
	server := s.server()
	serving, polling, handing := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	box, stopBox := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBox()
	go func() { defer stop(); serving <- server.Serve(ln) }()
	go func() { polling <- s.pollAlone(ctx) }() // pages and webhooks go on without it
	go func() { defer stop(); handing <- s.box.Run(box) }()

	<-ctx.Done()
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer done()
	errs := []error{server.Shutdown(grace), server.Close()}
	if err := <-serving; !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, err)
	}
	errs = append(errs, <-polling, s.hook.Wait(grace))
	stopBox()
	return errors.Join(append(errs, <-handing)...)
}

func (s *shop) server() *http.Server {
	server := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       8 * time.Second,
		WriteTimeout:      15 * time.Second, // above the webhook's budget; live pages extend it
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	server.RegisterOnShutdown(func() { close(s.ending) })
	return server
}

// pollAlone runs the poller while this replica is the one that may: there is exactly one
// poller for a token. On SQLite there is one process anyway; on PostgreSQL the one that
// holds an advisory lock polls, and the lock is free as soon as its session ends.
func (s *shop) pollAlone(ctx context.Context) error {
	poll := s.poll.Run
	if s.db.ledger == nil {
		poll = s.pollWithLock
	}
	for {
		err := s.takeLeft(ctx, poll(ctx))
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			slog.Error("webshop: polling has ended; it begins again", "error", err)
		}
		wait(ctx, lockPause)
	}
}

// takeLeft takes in what the poller was left with: with the database it loses its lock, and
// stops. That is no reason for the shop to end, and the payments are in no other hands.
func (s *shop) takeLeft(ctx context.Context, err error) error {
	left, ok := errors.AsType[*poller.UnhandedError](err)
	if !ok {
		return err
	}
	var lost []error
	for _, p := range left.Payments {
		if err := s.store(ctx, p); err != nil {
			lost = append(lost, fmt.Errorf("webshop: the payment %s has come and is not stored: %w", p.ID, err))
		}
	}
	return errors.Join(lost...)
}

// takeFor is how long one try to store a payment may take.
const takeFor = 3 * time.Second

// store tries until the payment is stored. When the shop stops, it tries once more.
func (s *shop) store(ctx context.Context, p payments.Payment) error {
	for {
		try, done := context.WithTimeout(context.WithoutCancel(ctx), takeFor)
		err := s.box.Poller().Accept(try, p)
		done()
		if err == nil || ctx.Err() != nil {
			return err
		}
		slog.Warn("webshop: a payment is not stored; trying again", "payment", p.ID, "error", err)
		wait(ctx, lockPause)
	}
}

// lockPause is how often a replica asks for the lock, and asks whether it still has it.
const lockPause = 2 * time.Second

func (s *shop) pollWithLock(ctx context.Context) error {
	conn, err := s.db.write.Conn(ctx)
	if err != nil {
		return s.tryLater(ctx, err)
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // ends the session, and the lock with it
		_ = conn.Close()
	}()
	mine, err := lock(ctx, conn)
	if err != nil || !mine {
		return s.tryLater(ctx, err)
	}
	ctx, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	defer func() { stop(); <-watched }()
	go func() {
		defer close(watched)
		defer stop()
		for ctx.Err() == nil && held(ctx, conn) {
			wait(ctx, lockPause)
		}
	}()
	return s.poll.Run(ctx)
}

// lock asks for the lock, in a session that the server ends when it hears nothing of it for
// a while: so a replica that hangs does not keep the lock.
func lock(ctx context.Context, conn *sql.Conn) (mine bool, err error) {
	if _, err := conn.ExecContext(ctx, `SET idle_session_timeout = '10s'`); err != nil {
		return false, err
	}
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(pollLock)).Scan(&mine)
	return mine, err
}

// held reports whether the session that holds the lock is alive.
func held(ctx context.Context, conn *sql.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, lockPause)
	defer cancel()
	return conn.PingContext(ctx) == nil
}

func (s *shop) tryLater(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		slog.Warn("webshop: cannot ask who polls; trying again", "error", err)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
