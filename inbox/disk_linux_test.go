package inbox_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDiskReallyFull is TestDiskFull on a disk that is full: there the kernel says
// something else, and it says so for every file.
func TestDiskReallyFull(t *testing.T) {
	t.Parallel()
	probe := exec.Command("true")
	probe.SysProcAttr = ownMounts()
	if err := probe.Run(); errors.Is(err, fs.ErrPermission) {
		require.Empty(t, os.Getenv("CI"), "this test must run in CI: allow user namespaces")
		t.Skip("SKIPPED: this container may not mount a disk; TestDiskFull has to do")
	}
	disk := t.TempDir()
	p := begin(t, childConfig{SQLite: filepath.Join(disk, "shop.db"), Disk: disk, Hold: holdFullDisk, Run: true})
	p.hear("recovered")
	p.kill()
	requireRecovered(t, p, rescued(disk))
	require.Contains(t, p.refused[0], "full")
}

// ownMounts lets a process mount what nobody else sees.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
}

func mountDisk(directory string) error {
	return syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=16m")
}

// fillDisk leaves a little room.
func fillDisk(path string) (makeRoom func() error, err error) {
	filler := filepath.Join(filepath.Dir(path), "filler")
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &disk); err != nil {
		return nil, err
	}
	free := int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // an int32 on 32 bit
	return func() error { return os.Remove(filler) }, os.WriteFile(filler, make([]byte, free-room), 0o600)
}

// rescue copies the ledger to where it can be seen when the process, and the disk with
// it, are gone. Its files are as a power cut would leave them.
func rescue(path, disk string) error {
	if err := os.MkdirAll(filepath.Dir(rescued(disk)), 0o700); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-intake", "-intake-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(rescued(disk)+suffix, text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func rescued(disk string) string { return filepath.Join(disk+"-rescued", "shop.db") }
