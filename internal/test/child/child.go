// Package child lets a test binary run itself as a second process, which tests may kill. An
// environment variable selects what the process does.
package child

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Main runs main and exits if [Command] started this process for the variable: with status 1
// and the error on standard error if main fails. Otherwise it does nothing. Call it in an init
// function, so that no test runs in the child.
func Main[T any](variable string, main func(T) error) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var cfg T
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = main(cfg)
	}
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "%s: %v\n", variable, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command runs this test binary as a child whose main gets cfg. The child shares the tests'
// standard error.
func Command[T any](variable string, cfg T) (*exec.Cmd, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0]) //nolint:gosec,noctx // itself; the caller ends it
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd, nil
}

var stdoutMu sync.Mutex

// PrintLine writes a line to standard output in one piece, from any goroutine.
func PrintLine(words ...any) {
	stdoutMu.Lock()
	defer stdoutMu.Unlock()
	_, _ = fmt.Fprintln(os.Stdout, words...)
}
