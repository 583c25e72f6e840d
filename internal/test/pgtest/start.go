package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// start starts the server and returns once it takes connections.
func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shell != nil {
		return errors.New("pgtest: the server runs already: stop it first")
	}
	reading, writing, err := os.Pipe() // closed on exec: only the shell inherits an end
	if err != nil {
		return err
	}
	log, err := os.Create(s.log()) // empty again: what this start says is awaited
	if err != nil {
		return errors.Join(err, reading.Close(), writing.Close())
	}
	if err := os.Remove(s.ended()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.shell = s.account.command(s.directory, "/bin/sh", "-c", script, "pgtest", s.directory,
		filepath.Join(s.folder, "postgres"), "-D", s.data(), "-c", fmt.Sprintf("port=%d", s.port))
	s.shell.Stdout, s.shell.Stderr = log, log // a file, so that no goroutine has to copy
	s.shell.ExtraFiles = []*os.File{reading}
	s.pipe = writing
	err = s.shell.Start()
	err = errors.Join(err, reading.Close(), log.Close())
	if err != nil {
		s.shell = nil
		return errors.Join(err, writing.Close())
	}
	if err := s.awaitReady(); err != nil {
		return errors.Join(err, s.abandon())
	}
	return nil
}

// abandon ends what did not start. If postgres has ended by itself there is nothing to
// stop, and the loop in the shell must not take the end of the pipe for that of the tests.
func (s *server) abandon() error {
	if _, err := os.Stat(s.ended()); err == nil {
		_, _ = s.pipe.WriteString("over\n")
	}
	err := s.pipe.Close()
	_ = s.shell.Wait()
	s.shell, s.pipe = nil, nil
	return err
}

func (s *server) ended() string { return filepath.Join(s.directory, "ended") }

// awaitReady looks into the log: a connection that is tried too early is an error in it,
// and there is nothing else to wait for.
func (s *server) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		log, err := os.ReadFile(s.log())
		if err != nil {
			return err
		}
		if bytes.Contains(log, []byte("database system is ready to accept connections")) {
			return nil
		}
		if _, err := os.Stat(s.ended()); err == nil {
			return fmt.Errorf("pgtest: postgres did not start: %s", tail(log))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("pgtest: postgres did not start within %v: %s", startLimit, tail(log))
		}
	}
}

// stop sends postgres a signal and returns once it has ended.
func (s *server) stop(signal string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shell == nil {
		return errors.New("pgtest: the server is stopped already: start it first")
	}
	_, err := s.pipe.WriteString(signal + "\n")
	if err != nil {
		return fmt.Errorf("pgtest: reach the shell of postgres: %w", err)
	}
	err = s.shell.Wait()
	// postgres and the shell are gone; the loop is left, and must end without a signal.
	_, _ = s.pipe.WriteString("over\n")
	err = errors.Join(err, s.pipe.Close())
	s.shell, s.pipe = nil, nil
	return err
}
