//go:build unix

package debian_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/debian"
)

// pretended is an apt-get that "installs" into its own directory, %[1]s, and fails as long
// as there is a file "broken" in it, or another one of it runs. sudo runs what it is given.
const pretended = `#!/bin/sh
PATH=/usr/bin:/bin
mkdir %[1]s/busy || exit 1
trap 'rmdir %[1]s/busy' EXIT
[ ! -e %[1]s/broken ] || { echo "no network" >&2; exit 100; }
case "$*" in *" install "*)
	echo "$@" >>%[1]s/calls
	cp "$0" %[1]s/cockle;;
esac
`

// TestProgramIsInstalledOnce: of several tests that need a program at once one installs it,
// and all find it; without a network the error has what apt-get said.
func TestProgramIsInstalledOnce(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", root)
	t.Setenv("TMPDIR", root)
	_, err := debian.Program("cockle", "cockle-bin")
	require.ErrorContains(t, err, `"cockle": executable file not found`, "without apt-get nothing is tried")

	require.NoError(t, os.WriteFile(root+"/apt-get", fmt.Appendf(nil, pretended, root), 0o755))
	require.NoError(t, os.WriteFile(root+"/sudo", []byte("#!/bin/sh\nshift\n[ $1 = true ] || exec \"$@\"\n"), 0o755))
	require.NoError(t, os.WriteFile(root+"/broken", nil, 0o600))
	_, err = debian.Program("cockle", "cockle-bin")
	require.ErrorContains(t, err, `"cockle": executable file not found`)
	require.ErrorContains(t, err, "no network")
	require.NoError(t, os.Remove(root+"/broken"))

	found := make(chan string)
	for range 5 {
		go func() {
			path, err := debian.Program("cockle", "cockle-bin", "cockle-data")
			if err != nil {
				path = err.Error()
			}
			found <- path
		}()
	}
	for range 5 {
		require.Equal(t, filepath.Join(root, "cockle"), <-found)
	}
	both := make(chan error)
	for _, name := range []string{"curl", "nodejs"} {
		go func() { both <- debian.Install(name) }()
	}
	for range 2 {
		require.NoError(t, <-both, "one after the other")
	}
	calls, err := os.ReadFile(root + "/calls")
	require.NoError(t, err)
	require.Equal(t, "-o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends cockle-bin cockle-data\n", strings.SplitAfter(string(calls), "\n")[0])
}
