package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// server is a private cluster: a directory and, while it runs, a shell and a postgres.
type server struct {
	folder    string // of the binaries
	account   *account
	directory string
	port      int

	mu    sync.Mutex
	shell *exec.Cmd // nil while stopped
	pipe  *os.File  // its end is the server's end, see script
}

// newServer makes a cluster and starts it.
func newServer() (*server, error) {
	folder, err := binaries()
	if err != nil {
		return nil, err
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	directory, err := account.directory()
	if err != nil {
		return nil, err
	}
	s := &server{folder: folder, account: account, directory: directory}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	if err := s.startSomewhere(); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// initialize makes the cluster. Its files are not synced, because they hold nothing yet.
func (s *server) initialize() error {
	cmd := s.account.command(s.directory, filepath.Join(s.folder, "initdb"), "--pgdata="+s.data(),
		"--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, tail(out))
	}
	file, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(configuration)
	return errors.Join(err, file.Close())
}

// configuration is a file and not the command line, so that a test may ALTER SYSTEM.
const configuration = `
fsync = on
synchronous_commit = on
full_page_writes = on
listen_addresses = '127.0.0.1'
unix_socket_directories = ''   # none: its path could be too long, and nobody needs it
max_connections = 300          # several processes, each with its pools
max_wal_size = 512MB
lc_messages = 'C'
timezone = 'UTC'
log_timezone = 'UTC'
`

// startSomewhere starts the server on a port that is free.
func (s *server) startSomewhere() error {
	var err error
	for range 10 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.start(); err == nil || !strings.Contains(err.Error(), "could not bind") {
			return err
		}
	}
	return err
}

// freePort finds a port outside the range from which systems hand out ports by
// themselves: it must still be free when the server comes back after a stop.
func freePort() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(12000) //nolint:gosec // no secret
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("no port between 20000 and 32000 is free on 127.0.0.1")
}

func (s *server) data() string { return filepath.Join(s.directory, "data") }

func (s *server) log() string { return filepath.Join(s.directory, "log") }

func (s *server) dsn(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// close stops the server at once and removes all of it.
func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shell != nil {
		// The end of the pipe is all it takes, as at the end of the process.
		if err := errors.Join(s.pipe.Close(), s.shell.Wait()); err != nil {
			return fmt.Errorf("stop the server in %s: %w", s.directory, err)
		}
		s.shell, s.pipe = nil, nil
	}
	return s.remove()
}

func (s *server) remove() error { return os.RemoveAll(s.directory) }

// tail is what an error message has room for.
func tail(out []byte) string {
	const room = 1500
	return "…" + string(out[max(0, len(out)-room):])
}

// startLimit is for a machine under heavy load; a start takes less than a second.
const startLimit = 2 * time.Minute
