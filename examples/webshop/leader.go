package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"time"

	"github.com/depositpay/depositpay-go/poller"
)

// lockEvery is how often a replica asks for the lock, and checks that it still has it.
const lockEvery = 2 * time.Second

// pollAlone runs one poller per API token until ctx ends. With SQLite there is one process anyway; with
// PostgreSQL the replica that holds an advisory lock polls.
func (s *shop) pollAlone(ctx context.Context) error {
	poll := s.poll.Run
	if s.db.sqlite == nil {
		poll = s.pollWithLock
	}
	for {
		err := s.storeUnhanded(ctx, poll(ctx))
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // while it asked for the lock
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			slog.Error("webshop: polling has ended; trying again", "error", err)
		}
		pause(ctx)
	}
}

// pollWithLock returns nil when another replica has the lock, or when this one has lost it.
func (s *shop) pollWithLock(ctx context.Context) error {
	conn, err := s.db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // ends the session, and the lock with it
		_ = conn.Close()
	}()
	// The server ends a session that is silent for 10 s, so a replica that hangs loses the lock.
	if _, err := conn.ExecContext(ctx, `SET idle_session_timeout = '10s'`); err != nil {
		return err
	}
	var mine bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(pollLock)).Scan(&mine)
	if err != nil || !mine {
		return err
	}
	holding, release := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer release() // the lock is lost: stop polling
		for holding.Err() == nil && conn.PingContext(holding) == nil {
			pause(holding)
		}
	}()
	err = s.poll.Run(holding)
	release()
	<-watched
	return err
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(lockEvery):
	}
}

// storeUnhanded gives payments that the poller received and could not store to the inbox, which keeps
// them in memory until the database is back. Nobody else has them.
func (s *shop) storeUnhanded(ctx context.Context, err error) error {
	unhanded, ok := errors.AsType[*poller.UnhandedError](err)
	if !ok {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	var unstored []error
	for _, p := range unhanded.Payments {
		unstored = append(unstored, s.box.Webhook().Accept(ctx, p))
	}
	return errors.Join(unstored...)
}
