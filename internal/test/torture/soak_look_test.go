//go:build unix

package torture

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// look samples every merchant.
func (s *soak) look(ctx context.Context, _ int) error {
	for i := range s.merchants {
		of := s.name
		if len(s.merchants) > 1 {
			of = fmt.Sprint(s.name, " ", i+1)
		}
		line := sample{At: time.Since(s.began).Seconds(), Of: of}
		seen, failed := s.lookAt(ctx, i)
		switch {
		case ctx.Err() != nil: // it is over
			return ctx.Err()
		case failed != nil:
			line.Failed = failed.Error()
		default:
			line.Values = seen
		}
		if err := s.to.add(line); err != nil {
			return err
		}
	}
	if s.first {
		return s.lookAtService()
	}
	return nil
}

// lookAt samples one merchant.
func (s *soak) lookAt(ctx context.Context, i int) (map[measure]float64, error) {
	m := s.merchants[i]
	values, err := ofProcess(m.now.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	told, err := ask(ctx, string(m.cfg.Mutant[len(soaking):]), i == 0)
	if err != nil {
		return nil, err
	}
	values[heap], values[goroutines] = float64(told.Heap), float64(told.Goroutines)
	if i > 0 {
		return values, nil
	}
	count := told.Ledger.Count
	values[oldest], values[hints] = told.Ledger.OldestReady.Seconds(), float64(count[inbox.StageHint])
	values[evicted], values[granted] = float64(told.Ledger.EvictedHints), float64(told.Granted)
	ofLedger, err := s.ofLedger(ctx)
	maps.Copy(values, ofLedger)
	return values, err
}

func (s *soak) lookAtService() error {
	values, err := ofProcess(os.Getpid())
	if err != nil {
		return err
	}
	values[heap], values[goroutines] = float64(liveHeap()), float64(runtime.NumGoroutine())
	return s.to.add(sample{At: time.Since(s.began).Seconds(), Of: "service", Values: values})
}

func (s *soak) ofLedger(ctx context.Context) (map[measure]float64, error) {
	values := map[measure]float64{}
	if s.cluster != nil {
		var log, tables, rows float64
		err := s.ledger.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()),
			(SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_stat_user_tables),
			(SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables)`).Scan(&log, &tables, &rows)
		values[wal], values[database], values[dead] = log, tables, rows
		return values, err
	}
	var err error
	for m, paths := range map[measure][]string{
		wal: {s.path + "-wal", s.path + "-intake-wal"}, intake: {s.path + "-intake"}, database: {s.path, s.path + "-intake"},
	} {
		if values[m], err = sizes(paths...); err != nil {
			return nil, err
		}
	}
	return values, nil
}
