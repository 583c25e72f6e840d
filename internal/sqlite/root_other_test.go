//go:build !linux

package sqlite_test

import (
	"os"
	"testing"
)

// withoutRoot runs do. Outside of Linux, root cannot lay down its rights for one test.
func withoutRoot(t *testing.T, _ string, do func() error) error {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may do anything: run the tests as an ordinary user")
	}
	return do()
}
