// Package child lets a test binary be a second program, which tests may kill: it starts
// itself with a variable in the environment that says what to be.
package child

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Become runs main if Command has started this process for the variable, and ends it
// then: with status 1 and the error on standard error if there is one. Otherwise it does
// nothing. It is for init functions, so that no test runs in a child.
func Become[T any](variable string, main func(T) error) {
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

// Command is this test binary again, which becomes what cfg says. Its errors come through
// to the tests' own standard error.
func Command[T any](variable string, cfg T) (*exec.Cmd, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0]) //nolint:gosec,noctx // itself; anyone who starts it ends it
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd, nil
}

var voice sync.Mutex

// Say writes a line to standard output, whole.
func Say(words ...any) {
	voice.Lock()
	defer voice.Unlock()
	_, _ = fmt.Fprintln(os.Stdout, words...)
}
