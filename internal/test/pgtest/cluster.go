package pgtest

import (
	"fmt"
	"os"
	"testing"
)

// Cluster is a server that one test has for itself, to stop and to start. Its methods may
// be called from any goroutine.
type Cluster struct{ server *server }

// NewCluster starts a server of t's own and removes it when t ends. It needs installed
// binaries, whatever DEPOSITPAY_TEST_POSTGRES says.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	notQuick(t)
	s, err := newServer()
	if err != nil {
		missing(t, os.Stderr, err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return &Cluster{server: s}
}

// DSN is for a database of the cluster, as the superuser; "postgres" is always there. It
// stays the same after a restart.
func (c *Cluster) DSN(database string) string { return c.server.dsn(database) }

// Stop stops the server and returns once it is down. The mode is that of pg_ctl:
// "immediate" is a crash, after which the next start recovers from the log; "fast" ends
// the sessions and writes all down.
func (c *Cluster) Stop(mode string) error {
	switch mode {
	case "immediate":
		return c.server.stop("QUIT")
	case "fast":
		return c.server.stop("INT")
	}
	return fmt.Errorf(`pgtest: there is no mode %q: give "immediate" or "fast"`, mode)
}

// Start starts the server after a Stop, on the same port, and returns once it takes
// connections.
func (c *Cluster) Start() error { return c.server.start() }

// Log is what the server has written to its log since its last start.
func (c *Cluster) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(c.server.log())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return string(log)
}
