//go:build linux

package powerloss_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/pragma"
)

// errBroken is a promise that a cut has broken.
var errBroken = errors.New("the cut broke a promise")

// audit opens the shop after a cut and looks at everything.
func (s *shop) audit(ctx context.Context) error {
	return s.with(func(db *inbox.SQLite, box *inbox.Inbox) error {
		if err := s.files(ctx, db); err != nil {
			return err
		}
		if _, err := box.Reconcile(ctx); err != nil { // folds
			return fmt.Errorf("fold: %w", err)
		}
		for id, least := range s.told {
			e, err := box.Get(ctx, id.String())
			switch {
			case errors.Is(err, inbox.ErrNotFound):
				return fmt.Errorf("payment %s was acknowledged as %s and is gone", id, least)
			case err != nil:
				return err
			case e.Stage < least:
				return fmt.Errorf("payment %s was acknowledged as %s and is %s", id, least, e.Stage)
			}
		}
		return s.effects(ctx, db)
	})
}

// files looks at the files themselves. The inbox has the one connection of the pool to the
// intake file, so there is a pool next to it.
func (s *shop) files(ctx context.Context, db *inbox.SQLite) error {
	intake := pool(s.path+"-intake", pragma.Reader, "FULL")
	defer func() { _ = intake.Close() }()
	for name, file := range map[string]*sql.DB{"the ledger": db.Writer, "the intake file": intake} {
		var verdict string
		if err := file.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
			return fmt.Errorf("integrity of %s: %q, %w", name, verdict, err)
		}
	}
	return positions(ctx, db.Writer, intake)
}

// positions: the ledger knows one intake file, and no position beyond what this file has
// given out: a line below the position would never be read.
func positions(ctx context.Context, ledger, intake *sql.DB) error {
	var files, known, folded, given int64
	if err := intake.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM file), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'intake'), 0)`).Scan(&files, &given); err != nil {
		return err
	}
	const meta = `SELECT count(*), coalesce(max(CAST(value AS INTEGER)), 0) FROM depositpay_meta WHERE name LIKE 'folded %'`
	if err := ledger.QueryRowContext(ctx, meta).Scan(&known, &folded); err != nil {
		return err
	}
	if files != 1 || known > 1 || folded > given {
		return fmt.Errorf("%d ids of the intake file, %d known to the ledger; folded up to %d of %d", files, known, folded, given)
	}
	return nil
}

// effects: what is done has one effect, and nothing else has any.
func (s *shop) effects(ctx context.Context, db *inbox.SQLite) error {
	if _, err := db.Writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS effects (payment_id text NOT NULL)`); err != nil {
		return err
	}
	var wrong int
	const query = `SELECT count(*) FROM (
		SELECT payment_id, count(*) AS n FROM (
			SELECT payment_id FROM effects UNION ALL SELECT 'done ' || payment_id FROM depositpay_payments WHERE stage = 3) GROUP BY payment_id HAVING n <> 1
		UNION ALL SELECT payment_id, 0 FROM depositpay_payments WHERE stage = 3 AND payment_id NOT IN (SELECT payment_id FROM effects)
		UNION ALL SELECT payment_id, 0 FROM effects WHERE payment_id NOT IN (SELECT payment_id FROM depositpay_payments WHERE stage = 3))`
	if err := db.Writer.QueryRowContext(ctx, query).Scan(&wrong); err != nil {
		return err
	}
	if wrong != 0 {
		return fmt.Errorf("%d payments are done without their one effect, or have one without being done", wrong)
	}
	return nil
}

// settle lets the shop run with power until everything that it was told is done, and
// looks at everything again.
func (s *shop) settle(ctx context.Context) error {
	err := s.with(func(db *inbox.SQLite, box *inbox.Inbox) (err error) {
		// Claims of the machine that lost its power are over when their leases are.
		if _, err := db.Writer.ExecContext(ctx, `UPDATE depositpay_payments SET leased = 0`); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		ended := make(chan error, 1)
		running, stop := context.WithCancel(ctx)
		go func() { ended <- box.Run(running) }()
		defer func() {
			stop()
			err = errors.Join(err, <-ended)
			cancel()
		}()
		for {
			left := 0
			for id, least := range s.told {
				if e, err := box.Get(ctx, id.String()); least >= inbox.StageReady && (err != nil || e.Stage != inbox.StageDone) {
					left++
				}
			}
			switch {
			case left == 0:
				return nil
			case ctx.Err() != nil:
				return fmt.Errorf("%d payments were not handed over within a minute", left)
			}
			timer := time.NewTimer(5 * time.Millisecond)
			<-timer.C
		}
	})
	return errors.Join(err, s.audit(ctx))
}
