package pragma_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/pragma"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.51.3", "3.51.10", "3.52.0", "3.54.1", "4.0.0", "3.51.3.1", "10.0.0"} {
		require.NoError(t, pragma.CheckVersion("f", version), version)
	}
	for _, version := range []string{"3.51.2", "3.9.9", "3.50.9", "2.99.99", "3.51", "3", "", "new", "3.51.x"} {
		err := pragma.CheckVersion("f", version)
		require.ErrorIs(t, err, pragma.ErrSettings, version)
		require.ErrorContains(t, err, "WAL-reset bug")
	}
}
