// Package debian installs Debian's packages, which can be done nowhere here.
package debian

import "os/exec"

// Program finds a program.
func Program(name string, _ ...string) (string, error) { return exec.LookPath(name) }
