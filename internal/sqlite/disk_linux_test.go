package sqlite_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/sqlite"
)

// helperFull makes this test binary a process with a small disk of its own, mounted on
// the directory that it names.
const helperFull = "DEPOSITPAY_TEST_HELPER_FULL"

func init() {
	if directory := os.Getenv(helperFull); directory != "" {
		if err := fullDisk(directory); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// TestDiskFull: Open finds a full disk, at whatever file it fills up, and works again as
// soon as there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	cmd := command(t, "")
	cmd.Env = append(os.Environ(), helperFull+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.Output()
	if errors.Is(err, fs.ErrPermission) || string(out) == "no mount\n" {
		require.Empty(t, os.Getenv("CI"), "this test must run in CI: allow user namespaces")
		t.Skip("SKIPPED: this container may not mount a disk; TestKinds has to do")
	}
	require.NoError(t, err, string(out))
}

func fullDisk(directory string) error {
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=128k"); err != nil {
		return errors.New("no mount")
	}
	path := filepath.Join(directory, "ledger.db")
	found := 0
	for free := int64(0); free <= 128<<10; free += 4 << 10 {
		filler, err := os.Create(filepath.Join(directory, "filler"))
		if err != nil {
			return err
		}
		if _, err := io.Copy(filler, zeroes{}); !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("the disk is not full: %w", err)
		}
		info, err := filler.Stat()
		if err != nil {
			return err
		}
		if err := errors.Join(filler.Truncate(max(0, info.Size()-free)), filler.Close()); err != nil {
			return err
		}
		err = openAndClose(path)
		if errors.Is(err, sqlite.ErrDiskFull) {
			found++
		} else if err != nil {
			return fmt.Errorf("with %d bytes free: %w", free, err)
		}
		for _, suffix := range []string{"", "-wal", "-shm", "-intake", "-intake-wal", "-intake-shm", "-lock"} {
			_ = os.Remove(path + suffix)
		}
	}
	if found == 0 {
		return errors.New("a full disk was never found")
	}
	return openAndClose(path)
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }
