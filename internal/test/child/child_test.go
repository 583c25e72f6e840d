package child_test

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/child"
)

type config struct{ Say, Fail string }

const variable = "DEPOSITPAY_TEST_CHILD"

func init() {
	child.Main(variable, func(cfg config) error {
		child.PrintLine(cfg.Say, 7)
		if cfg.Fail != "" {
			return errors.New(cfg.Fail)
		}
		return nil
	})
}

func TestChild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg              config
		status           int
		said, complained string
	}{
		{config{Say: "hello"}, 0, "hello 7\n", ""},
		{config{Say: "a\nb", Fail: "no database"}, 1, "a\nb 7\n", variable + ": no database\n"},
	} {
		cmd, err := child.Command(variable, c.cfg)
		require.NoError(t, err)
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		err = cmd.Run()
		if c.status == 0 {
			require.NoError(t, err)
		} else {
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, c.status, exit.ExitCode())
		}
		assert.Equal(t, c.said, out.String(), "what it says, and no tests")
		assert.Equal(t, c.complained, complaints.String())
	}
	_, err := child.Command(variable, func() {})
	assert.ErrorContains(t, err, "unsupported type", "a configuration without JSON")
	child.Main("DEPOSITPAY_TEST_CHILD_OF_NOBODY", func(config) error { panic("not started for this") })
}
