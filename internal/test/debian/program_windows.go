// Package debian installs Debian's packages, which Windows cannot.
package debian

import "os/exec"

// Program finds a program.
func Program(name string, _ ...string) (string, error) { return exec.LookPath(name) }
