//go:build unix

package torture

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

var (
	soakFolder = flag.String("soak", "", "the folder to write the samples and results of a soak into")
	soakOn     = flag.String("on", "both", "the databases of a soak: sqlite, postgres or both")
	soakEvery  = flag.Duration("every", 10*time.Second, "how often a soak looks")
	soakRate   = flag.Int("rate", 8, "customers a second, of each database")
)

// soakMeta is the first line of the samples.
type soakMeta struct {
	Date   string  `json:"date"`
	Seed   uint64  `json:"seed"`
	Length float64 `json:"length_s"`
	Every  float64 `json:"every_s"`
	Rate   int     `json:"rate"`
	Go     string  `json:"go"`
	System string  `json:"system"`
}

const samplesFile = "samples.jsonl"

// TestSoak: merchants run for a long time against a service with occasional faults and no
// kills, and leak nothing. Without -soak it runs for 2 s.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: a soak takes some seconds")
	}
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: what a process holds is read from /proc, which only Linux has")
	}
	folder, length, every, rate := *soakFolder, *length, *soakEvery, *soakRate
	databases := []string{*soakOn}
	if *soakOn == "both" {
		databases = []string{"sqlite", "postgres"}
	}
	if folder == "" {
		folder, length, every, rate, databases = t.TempDir(), 2*time.Second, 100*time.Millisecond, 40, []string{"sqlite"}
	}
	require.NoError(t, os.MkdirAll(folder, 0o755))
	out, err := os.Create(filepath.Join(folder, samplesFile))
	require.NoError(t, err)
	to := &recorder{out: out}
	began := time.Now()
	require.NoError(t, to.add(soakMeta{
		Date: began.UTC().Format(time.DateOnly), Seed: *seed, Length: length.Seconds(), Every: every.Seconds(), Rate: rate,
		Go: runtime.Version(), System: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}))
	t.Run("on", func(t *testing.T) {
		for i, database := range databases {
			t.Run(database, func(t *testing.T) {
				t.Parallel()
				s := newSoak(t, database, length, rate)
				s.began, s.every, s.to, s.first = began, every, to, i == 0
				r := s.run()
				t.Log("\n" + r.String())
				require.NoError(t, r.save(filepath.Join(folder, database+".json")))
				assert.Equal(t, "passed", r.Verdict)
				assert.NotZero(t, r.Granted)
			})
		}
	})
	require.NoError(t, out.Close())
	o, err := readSoak(folder)
	require.NoError(t, err)
	t.Log("\n" + o.table())
	if *soakFolder == "" {
		assert.NotEmpty(t, o.samples) // too short for a trend
		return
	}
	if *publish != "" {
		require.NoError(t, o.publish(*publish))
	}
	assert.True(t, o.passed, "the soak failed")
}

// soak is a campaign without kills.
type soak struct {
	*campaign
	name  string
	began time.Time
	every time.Duration
	to    *recorder
	first bool // it looks at the service as well, whose process is that of all
}

func newSoak(t *testing.T, database string, length time.Duration, rate int) *soak {
	t.Helper()
	p := profile{Database: database, Merchants: 3, Rate: rate, Forged: 3, Half: 2, Faults: time.Minute}
	name := "PostgreSQL"
	if database == "sqlite" {
		p.Merchants, name = 1, "SQLite"
	}
	c := newCampaign(t, *seed, length, p)
	c.soaks = true
	c.prepare()
	return &soak{campaign: c, name: name}
}

func (s *soak) run() *result {
	s.open()
	began := time.Now()
	s.live()
	lived := time.Since(began)
	for _, m := range s.merchants {
		m.cfg.Mutant = "" // a merchant that comes to rest is no mutant any more
	}
	s.unaided()
	s.calm()
	s.sound()
	r := s.judge()
	s.sound()
	r.Length, r.Troubled, r.Took = s.length.Seconds(), lived.Seconds(), time.Since(began).Seconds()
	s.close()
	return r
}

// open starts merchants that report about themselves.
func (s *soak) open() {
	s.begin(func() mutant { return soaking + mutant(filepath.Join(s.t.TempDir(), "self")) })
}

// live runs the soak.
func (s *soak) live() {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.length)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { s.come(ctx) })
	all.Go(func() { s.each(ctx, time.Minute, s.fail) })
	all.Go(func() { s.each(ctx, s.every, s.look) })
	for over := false; !over; {
		select {
		case err := <-s.failed:
			s.campaign.fail(err.Error())
		case <-ctx.Done():
			over = true
		}
	}
	all.Wait()
}

// each calls what at once and then at every interval.
func (s *soak) each(ctx context.Context, every time.Duration, what func(context.Context, int) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		if err := what(ctx, i); ctx.Err() == nil {
			s.check(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// come starts customers at the profile's rate.
func (s *soak) come(ctx context.Context) {
	pace := time.NewTicker(time.Second / time.Duration(s.profile.Rate))
	defer pace.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	atOnce := make(chan struct{}, 48)
	for i := 0; ; i++ {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
		select {
		case atOnce <- struct{}{}:
			all.Go(func() {
				s.customers.one(i)
				<-atOnce
			})
		case <-ctx.Done():
			return
		}
	}
}

// fail sets the faults of a minute: one response in 200 is dropped, cut, late or refused,
// and one webhook in four does not arrive, so that there is something to poll. Some
// customers pay although they got no link.
func (s *soak) fail(_ context.Context, minute int) error {
	if minute%5 == 4 {
		s.customers.payWithout(false)
	}
	return s.service.trouble(mockserver.Faults{
		Rules: []mockserver.Fault{{Operation: "webhook", Kind: "dead-uri", Probability: 0.25, Seed: s.seed + uint64(minute)}},
		Rate:  0.005, Seed: s.seed + uint64(minute), Operations: []string{"create", "next", "confirm", "webhook"}, MaxDelay: 300 * time.Millisecond,
	})
}
