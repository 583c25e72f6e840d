package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log"
	"time"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
)

// Advisory locks of PostgreSQL: any two numbers that nothing else in this database uses.
const (
	schemaLock = int64(5_120_440_001)
	pollLock   = int64(5_120_440_002)
)

// lockEvery is how often a replica asks for the lock, and checks that it still has it.
var lockEvery = 2 * time.Second

// pollAlone polls while this replica holds the lock, until ctx ends.
func (s *shop) pollAlone(ctx context.Context, poll *poller.Poller) error {
	for ctx.Err() == nil {
		err := s.pollWithLock(ctx, poll)
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // webhooks and orders go on
			log.Printf("polling has ended, trying again: %v", err)
		}
		pause(ctx)
	}
	return nil
}

// pollWithLock returns nil when another replica has the lock, or when this one has lost it.
func (s *shop) pollWithLock(ctx context.Context, poll *poller.Poller) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		log.Printf("cannot ask which replica polls, trying again: %v", err)
		return nil
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // ends the session, and the lock with it
		_ = conn.Close()
	}()
	if !lock(ctx, conn) {
		return nil
	}
	log.Print("this replica polls")
	holding, release := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer release() // the lock is lost: stop polling
		for holding.Err() == nil && alive(holding, conn) {
			pause(holding)
		}
	}()
	err = poll.Run(holding)
	release()
	<-watched
	return s.store(ctx, err)
}

// lock tries to take the lock. The server ends the session, and frees the lock, when it hears nothing
// for 10 s: a replica that hangs does not keep it. (PostgreSQL 14 or later.)
func lock(ctx context.Context, conn *sql.Conn) (mine bool) {
	_, err := conn.ExecContext(ctx, `SET idle_session_timeout = '10s'`)
	if err == nil {
		err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, pollLock).Scan(&mine)
	}
	if err != nil && ctx.Err() == nil {
		log.Printf("cannot ask which replica polls, trying again: %v", err)
	}
	return err == nil && mine
}

// alive reports whether the session that holds the lock still answers.
func alive(ctx context.Context, conn *sql.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, lockEvery)
	defer cancel()
	return conn.PingContext(ctx) == nil
}

// store stores payments that the poller received and could not hand over because the database was away.
// No other process has them.
func (s *shop) store(ctx context.Context, err error) error {
	left, ok := errors.AsType[*poller.UnhandedError](err)
	if !ok {
		return err
	}
	var lost []error
	for _, p := range left.Payments {
		lost = append(lost, s.storeOne(ctx, p))
	}
	return errors.Join(lost...)
}

func (s *shop) storeOne(ctx context.Context, p payments.Payment) error {
	for {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		err := s.box.Poller().Accept(try, p)
		cancel()
		if err == nil || ctx.Err() != nil { // at the end of the program there is one last try
			return err
		}
		log.Printf("payment %s is not stored yet: %v", p.ID, err)
		pause(ctx)
	}
}

func pause(ctx context.Context) {
	timer := time.NewTimer(lockEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
