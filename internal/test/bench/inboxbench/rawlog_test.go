package inboxbench_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawLog is the physical limit: an append-only file, one sync for all that waits.
type rawLog struct {
	file *os.File
	in   chan rawLine
	done chan struct{}
}

type rawLine struct {
	line []byte
	err  chan error
}

func newRawLog(t *testing.T) *rawLog {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	l := &rawLog{file: file, in: make(chan rawLine, 256), done: make(chan struct{})}
	go l.run()
	t.Cleanup(func() {
		close(l.in)
		<-l.done
		require.NoError(t, file.Close())
	})
	return l
}

func (l *rawLog) run() {
	defer close(l.done)
	for first := range l.in {
		batch := []rawLine{first}
		for more := true; more && len(batch) < 256; {
			select {
			case next, ok := <-l.in:
				if more = ok; ok {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		var buf []byte
		for _, b := range batch {
			buf = append(append(buf, b.line...), '\n')
		}
		_, err := l.file.Write(buf)
		if err == nil {
			err = l.file.Sync()
		}
		for _, b := range batch {
			b.err <- err
		}
	}
}

func (l *rawLog) append(line []byte) error {
	err := make(chan error, 1)
	l.in <- rawLine{line, err}
	return <-err
}
