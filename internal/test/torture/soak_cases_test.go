//go:build unix

package torture

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded returns an invented recording of an hour with noise, in which one process leaks.
func recorded(leaks string, leak func(minute float64, values map[measure]float64)) (all []sample) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(from, by float64) float64 { return from + r.Float64()*by }
	for at := 0.0; at < 3600; at += 10 {
		warm := min(1, at/600)
		for _, of := range []string{"PostgreSQL 1", theService, "SQLite"} {
			v := map[measure]float64{
				resident: noise(20*mebibyte+warm*10*mebibyte, 3*mebibyte), heap: noise(warm*2*mebibyte, mebibyte),
				goroutines: noise(17, 8), files: noise(20, 4), processor: at / 10,
			}
			if of == theService {
				v[resident] += at * mebibyte // it keeps every payment
			} else {
				v[wal], v[oldest], v[granted] = noise(8*mebibyte, 4096), noise(0, 2), at*8
				v[database] = v[granted] * 1000
			}
			if of == "SQLite" {
				v[intake] = noise(16384, 8192)
			}
			if of == leaks {
				leak(at/60, v)
			}
			all = append(all, sample{At: at, Of: of, Values: v})
		}
	}
	return all
}

// TestSoakVerdict: noise passes; a slow leak fails and is named.
func TestSoakVerdict(t *testing.T) {
	t.Parallel()
	found, ok := trends(3600, recorded("", nil))
	assert.True(t, ok)
	assert.Len(t, found, 6+7+2, "the measures of PostgreSQL, SQLite and the service: %v", found)
	for of, leak := range map[measure]func(float64, map[measure]float64){
		resident:   func(minute float64, v map[measure]float64) { v[resident] += minute * 0.4 * mebibyte },
		heap:       func(minute float64, v map[measure]float64) { v[heap] += minute * 0.3 * mebibyte },
		goroutines: func(minute float64, v map[measure]float64) { v[goroutines] += minute / 4 },
		files:      func(minute float64, v map[measure]float64) { v[files] += minute / 4 },
		wal:        func(minute float64, v map[measure]float64) { v[wal] += minute * 2 * mebibyte },
		oldest: func(minute float64, v map[measure]float64) {
			if minute == 7 {
				v[oldest] = 61 // once is enough
			}
		},
	} {
		for _, leaks := range []string{"PostgreSQL 1", "SQLite"} {
			found, ok := trends(3600, recorded(leaks, leak))
			assert.False(t, ok, of)
			for _, f := range found {
				assert.Equal(t, f.Of != leaks || f.Measure != of, f.Bounded, "%+v", f)
			}
		}
	}
}

// TestSoakVerdictOfLogs: the log that PostgreSQL always keeps is no leak; the same growth on
// SQLite is.
func TestSoakVerdictOfLogs(t *testing.T) {
	t.Parallel()
	burst := func(minute float64, v map[measure]float64) {
		if minute > 40 {
			v[wal] = 64 * mebibyte
		}
	}
	_, ok := trends(3600, recorded("PostgreSQL 1", burst))
	assert.True(t, ok)
	_, ok = trends(3600, recorded("SQLite", burst))
	assert.False(t, ok)
}

// TestSoakVerdictNeedsLooks: a missing or failed sample fails the verdict.
func TestSoakVerdictNeedsLooks(t *testing.T) {
	t.Parallel()
	_, ok := trends(3600, nil)
	assert.False(t, ok)
	_, ok = trends(7200, recorded("", nil)) // nothing of the last quarter
	assert.False(t, ok)
	all := recorded("", nil)
	all[100].Failed = "no such process"
	_, ok = trends(3600, all)
	assert.False(t, ok)
}

// TestSoakPublish: a recording becomes a table between the marks. With -soak and -publish,
// the recording in that folder is published.
func TestSoakPublish(t *testing.T) {
	t.Parallel()
	if *soakFolder != "" && *publish != "" {
		o, err := readSoak(*soakFolder)
		require.NoError(t, err)
		t.Log("\n" + o.table())
		require.NoError(t, o.publish(*publish))
		return
	}
	folder := t.TempDir()
	writeRecording(t, folder)
	document := filepath.Join(folder, "guarantees.md")
	require.NoError(t, os.WriteFile(document, []byte("before\n"+soakBegin+"old\n"+soakEnd+"\nafter\n"), 0o600))
	o, err := readSoak(folder)
	require.NoError(t, err)
	require.NoError(t, o.publish(document))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "before\n"+soakBegin+"| 60 minutes | PASSED |\n"), "%s", text)
	assert.True(t, strings.HasSuffix(string(text), soakEnd+"\nafter\n"), "%s", text)
	assert.NotContains(t, string(text), "old\n")
	assert.ErrorContains(t, o.publish(filepath.Join(folder, samplesFile)), "no marks")
}

// TestSoakFailed: the soak fails if the ledgers differ or are missing.
func TestSoakFailed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeRecording(t, folder)
	require.NoError(t, (&result{Database: "SQLite 3", Verdict: "failed", Lost: 1}).save(filepath.Join(folder, "sqlite.json")))
	o, err := readSoak(folder)
	require.NoError(t, err)
	assert.Equal(t, "FAILED", o.verdict())
	require.NoError(t, os.Remove(filepath.Join(folder, "sqlite.json")))
	o, err = readSoak(folder)
	require.NoError(t, err)
	assert.Equal(t, "FAILED", o.verdict())
}

func writeRecording(t *testing.T, folder string) {
	t.Helper()
	out, err := os.Create(filepath.Join(folder, samplesFile))
	require.NoError(t, err)
	to := &recorder{out: out}
	require.NoError(t, to.add(soakMeta{Date: "2026-11-22", Length: 3600, Go: "go1.26", System: "<none>"}))
	for _, s := range recorded("", nil) {
		require.NoError(t, to.add(s))
	}
	require.NoError(t, out.Close())
	require.NoError(t, (&result{Database: "SQLite 3", Verdict: "passed", Payments: 12}).save(filepath.Join(folder, "sqlite.json")))
}
