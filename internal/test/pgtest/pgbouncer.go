package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Pooler starts a PgBouncer of t's own before the database and returns the DSN of the
// database through it. The mode is PgBouncer's pool_mode: "session", "transaction" or
// "statement". Like the server, PgBouncer is installed where that may be done; elsewhere the
// test is skipped loudly, and in CI it fails.
func (d *Database) Pooler(t testing.TB, mode string) string {
	t.Helper()
	program, err := pgbouncer()
	if err != nil {
		skip(t, os.Stderr, fmt.Sprintf("no PgBouncer: %v; install it (Debian: apt-get install pgbouncer; macOS: brew install pgbouncer)", err))
	}
	dsn, err := d.startPooler(t, program, mode)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return dsn
}

const poolerConfiguration = `[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 10
ignore_startup_parameters = extra_float_digits
`

func (d *Database) startPooler(t testing.TB, program, mode string) (string, error) {
	server, err := url.Parse(d.DSN)
	if err != nil || server.Port() == "" {
		return "", errors.New("PgBouncer needs the server's DSN as a URL with a port")
	}
	account, err := serverAccount() // PgBouncer does not run as root either
	if err != nil {
		return "", err
	}
	directory, err := account.directory()
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) }) // after PgBouncer's end
	port, err := freePort()
	if err != nil {
		return "", err
	}
	file := filepath.Join(directory, "pgbouncer.ini")
	text := fmt.Sprintf(poolerConfiguration, server.Hostname(), server.Port(), server.User.Username(), port, mode)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the account reads it; there is no secret
		return "", err
	}
	cmd := account.command(directory, "/bin/sh", "-c", strings.Replace(script, "QUIT", "KILL", 1), "pgtest", directory, program, file)
	if err := awaitPooler(t, cmd, directory); err != nil {
		return "", err
	}
	through := *server
	through.Host = fmt.Sprintf("127.0.0.1:%d", port)
	return through.String(), nil
}

// awaitPooler starts PgBouncer under the shell of script and returns once it says that it is
// up. It ends with the pipe, hence with the tests, like the server; PgBouncer ignores QUIT.
func awaitPooler(t testing.TB, cmd *exec.Cmd, directory string) error {
	reading, writing, err := os.Pipe()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(directory, "log")) //nolint:gosec // in a directory of its own
	if err != nil {
		return errors.Join(err, reading.Close(), writing.Close())
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{reading}
	if err := errors.Join(cmd.Start(), reading.Close(), log.Close()); err != nil {
		return errors.Join(err, writing.Close())
	}
	t.Cleanup(func() {
		_ = writing.Close()
		_ = cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		said, err := os.ReadFile(log.Name())
		if err != nil {
			return err
		}
		if bytes.Contains(said, []byte("process up")) {
			return nil
		}
		if _, err := os.Stat(filepath.Join(directory, "ended")); err == nil {
			return fmt.Errorf("PgBouncer did not start: %s", tail(said))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("PgBouncer did not start within %v: %s", startLimit, tail(said))
		}
	}
}
