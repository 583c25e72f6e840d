//go:build unix && !linux

package inbox_test

import (
	"errors"
	"syscall"
)

// Only Linux lets a test mount a disk that nobody else sees.
var errNoDisk = errors.New("only on Linux")

func ownMounts() *syscall.SysProcAttr                    { return nil }
func mountDisk(string) error                             { return errNoDisk }
func fillDisk(string) (makeRoom func() error, err error) { return nil, errNoDisk }
func rescue(string, string) error                        { return errNoDisk }
