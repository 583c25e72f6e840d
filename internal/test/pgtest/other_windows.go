package pgtest

import (
	"context"
	"errors"
	"os/exec"
)

type account struct{}

var errWindows = errors.New("on Windows there is no private cluster")

func binaries() (string, error) { return "", errWindows }

func pgbouncer() (string, error) { return "", errWindows }

func serverAccount() (*account, error) { return nil, errWindows }

func (*account) directory() (string, error) { return "", errWindows }

func (*account) command(_, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(context.Background(), name, args...)
}
