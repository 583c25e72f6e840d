//go:build unix

package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/inbox"
)

// measure is a quantity that a soak samples.
type measure string

const (
	resident   measure = "rss"  // bytes
	heap       measure = "heap" // bytes
	goroutines measure = "goroutines"
	files      measure = "fds"
	processor  measure = "cpu"      // seconds since the process began
	wal        measure = "wal"      // bytes, of SQLite the ledger's and the intake's
	intake     measure = "intake"   // bytes, of SQLite
	database   measure = "database" // bytes
	dead       measure = "dead"     // dead rows, of PostgreSQL
	oldest     measure = "oldest"   // seconds that a payment has waited for its handler
	hints      measure = "hints"    // ids that await their confirm
	evicted    measure = "evicted"  // of these, given up since the beginning
	granted    measure = "granted"  // payments since the beginning
)

// sample is one sample of one process. Figures of a whole ledger are in the samples of its
// first merchant.
type sample struct {
	At     float64             `json:"at"` // seconds since the beginning
	Of     string              `json:"of"`
	Values map[measure]float64 `json:"values,omitempty"`
	Failed string              `json:"failed,omitempty"` // why there are no values
}

// recorder writes samples as they come, one a line.
type recorder struct {
	mu  sync.Mutex
	out io.Writer
}

func (r *recorder) add(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.out.Write(append(text, '\n'))
	return err
}

// procTicks is the unit of times in /proc, the same on every Linux.
const procTicks = 100

// ofProcess reads a process's figures from /proc, which only Linux has.
func ofProcess(pid int) (map[measure]float64, error) {
	at := fmt.Sprintf("/proc/%d/", pid)
	status, err := os.ReadFile(at + "status")
	if err != nil {
		return nil, fmt.Errorf("the soak needs Linux: %w", err)
	}
	stat, err := os.ReadFile(at + "stat")
	if err != nil {
		return nil, err
	}
	open, err := os.ReadDir(at + "fd")
	if err != nil {
		return nil, err
	}
	_, rss, _ := strings.Cut(string(status), "VmRSS:")
	rss, _, found := strings.Cut(rss, " kB")
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(rss), 64)
	if err != nil || !found {
		return nil, fmt.Errorf("no VmRSS in %sstatus: %w", at, err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	fields := strings.Fields(after)
	const user, system = 11, 12
	if len(fields) <= system {
		return nil, fmt.Errorf("%sstat is too short: %q", at, stat)
	}
	u, userErr := strconv.ParseFloat(fields[user], 64)
	s, systemErr := strconv.ParseFloat(fields[system], 64)
	values := map[measure]float64{resident: kilobytes * 1024, files: float64(len(open)), processor: (u + s) / procTicks}
	return values, errors.Join(userErr, systemErr)
}

// ask requests a merchant's report about itself.
func ask(ctx context.Context, socket string, ledger bool) (self, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	address := "http://merchant/"
	if ledger {
		address += "?ledger"
	}
	var told self
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return told, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return told, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return told, fmt.Errorf("the merchant said %s: %s", response.Status, text)
	}
	return told, json.NewDecoder(response.Body).Decode(&told)
}

// sizes adds up file sizes; a missing file counts as 0.
func sizes(paths ...string) (sum float64, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += float64(info.Size())
	}
	return sum, nil
}

// readSamples reads a recording.
func readSamples(folder string) (meta soakMeta, all []sample, err error) {
	in, err := os.Open(filepath.Join(folder, samplesFile))
	if err != nil {
		return meta, nil, err
	}
	defer func() { _ = in.Close() }()
	lines := json.NewDecoder(in)
	if err := lines.Decode(&meta); err != nil {
		return meta, nil, err
	}
	for lines.More() {
		var s sample
		if err := lines.Decode(&s); err != nil {
			return meta, nil, err
		}
		all = append(all, s)
	}
	return meta, all, nil
}

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
