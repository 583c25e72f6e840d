//go:build unix

package torture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// TestSoak is merchants that run on for a long time, with a service that fails now and
// then, and nobody who kills. Without -soak it is a very short one.
func TestSoak(t *testing.T) {
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
