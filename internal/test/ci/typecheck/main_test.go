package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheck finds what compiles here and not there: in the package, in its tests and in
// those of the package outside, and nothing where all is well.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module m\n\ngo 1.26\n",
		"m.go":         "package m\n\nimport \"syscall\"\n\nfunc set(l *syscall.Rlimit) { l.Cur = uint64(1) }\n",
		"m_test.go":    "package m\n\nimport \"testing\"\n\nvar Big = int64(1)\n\nfunc TestM(*testing.T) { set(nil) }\n",
		"x_test.go":    "package m_test\n\nimport m \"m\"\n\nvar big int = 1 << 40 * int(m.Big-m.Big+1)\n\nvar huge int = 1 << 40\n",
		"w_windows.go": "package m\n\nvar _ = missing\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, check(dir, "linux/arm64", []string{"./..."}))
	require.ErrorContains(t, check(dir, "freebsd/amd64", []string{"./..."}), "m.go:5:39: cannot use uint64(1)")
	require.ErrorContains(t, check(dir, "linux/386", []string{"./..."}), "x_test.go:7:16: cannot use 1 << 40")
	require.ErrorContains(t, check(dir, "windows/amd64", []string{"./..."}), "w_windows.go:3:9: undefined: missing")
	require.EqualError(t, check(dir, "linux/abacus", []string{"./..."}), "unknown platform linux/abacus: want GOOS/GOARCH")
	require.ErrorContains(t, check(dir, "linux/386", []string{"./none"}), "directory not found")
}
