//go:build unix

package torture

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSoakPublish: a recording becomes a drawing and figures between the marks. With
// -soak and -publish it is the recording in that folder, of a soak that was before.
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
	image, err := os.ReadFile(filepath.Join(folder, soakImage))
	require.NoError(t, err)
	assert.Less(t, len(image), 60_000)
	assertDrawing(t, image)
	assert.ErrorContains(t, o.publish(filepath.Join(folder, samplesFile)), "no marks")
}

// TestSoakFailed: books that do not agree fail the soak, and so do none.
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

// assertDrawing: it is well-formed, and each row has its lines.
func assertDrawing(t *testing.T, image []byte) {
	t.Helper()
	lines := 0
	for tokens := xml.NewDecoder(strings.NewReader(string(image))); ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			for _, a := range e.Attr {
				if a.Name.Local == "class" && strings.HasPrefix(a.Value, "l ") {
					lines++
				}
			}
		}
	}
	assert.Equal(t, 3+2+2+3+3+2+2+2, lines, "the legend, and a line for each process that has the measure")
	assert.NotContains(t, string(image), "NaN")
	assert.NotContains(t, string(image), "<none>")
}
