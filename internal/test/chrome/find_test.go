package chrome

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	_, err := find(names, []string{folder, filepath.Join(folder, "none")})
	require.ErrorIs(t, err, errNoBrowser, "a folder is no browser")
	app := filepath.Join(folder, "Some Browser")
	require.NoError(t, os.WriteFile(app, nil, 0o600))
	path, err := find(names, []string{app})
	require.NoError(t, err)
	assert.Equal(t, app, path)
	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range []string{"google-chrome", "chromium"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o700))
		path, err = find(names, []string{app})
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(folder, name), path)
	}
}

// missed is a test that is told that there is no browser.
type missed struct {
	testing.TB
	failed, skipped bool
}

func (m *missed) Helper()      {}
func (m *missed) Fatal(...any) { m.failed = true; runtime.Goexit() }
func (m *missed) Skip(...any)  { m.skipped = true; runtime.Goexit() }

func TestMissing(t *testing.T) {
	for ci, want := range map[string]missed{"": {skipped: true}, "1": {failed: true}} {
		t.Setenv("CI", ci)
		var loud bytes.Buffer
		m, over := &missed{}, make(chan struct{})
		go func() {
			defer close(over)
			missing(m, &loud, errNoBrowser)
		}()
		<-over
		assert.Equal(t, want, *m)
		assert.Equal(t, ci == "", loud.Len() > 0, "a skip is hard to overlook")
	}
}
