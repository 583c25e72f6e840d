//go:build unix

package pgtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// pretended is an apt-get that "installs" into the directory %[1]s, and fails as long as
// there is a file "broken" in it.
const pretended = `#!/bin/sh
PATH=/usr/bin:/bin
echo "$@ as $DEBIAN_FRONTEND" >>%[1]s/calls
[ ! -e %[1]s/broken ] || { echo "no network" >&2; exit 100; }
case "$*" in *" install "*)
	[ -e %[1]s/etc/createcluster.conf ] || exit 1
	mkdir -p %[1]s/lib/15/bin
	cp "$0" %[1]s/lib/15/bin/postgres
	cp "$0" %[1]s/lib/15/bin/initdb;;
esac
`

// TestInstall: one of several that start at once installs, without a cluster that runs,
// and the others find what it installed.
func TestInstall(t *testing.T) {
	root := t.TempDir()
	etc, folders := filepath.Join(root, "etc"), []string{root + "/lib/*/bin"}
	require.NoError(t, os.Mkdir(root+"/path", 0o755))
	require.NoError(t, os.WriteFile(root+"/path/apt-get", fmt.Appendf(nil, pretended, root), 0o755))
	t.Setenv("PATH", root+"/path")
	t.Setenv("TMPDIR", root)

	require.NoError(t, os.WriteFile(root+"/broken", nil, 0o600))
	_, err := pgtest.Install(etc, folders)
	require.ErrorContains(t, err, "apt-get update")
	require.ErrorContains(t, err, "no network")
	require.NoError(t, os.Remove(root+"/broken"))
	require.NoError(t, os.Remove(root+"/calls"))

	results := make(chan error)
	for range 5 {
		go func() {
			folder, err := pgtest.Install(etc, folders)
			if err == nil && folder != root+"/lib/15/bin" {
				err = fmt.Errorf("found %s", folder)
			}
			results <- err
		}()
	}
	for range 5 {
		require.NoError(t, <-results)
	}
	calls, err := os.ReadFile(root + "/calls")
	require.NoError(t, err)
	require.Equal(t, "-o DPkg::Lock::Timeout=300 update -qq as noninteractive\n"+
		"-o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends postgresql as noninteractive\n", string(calls))

	written, err := os.ReadFile(etc + "/createcluster.conf")
	require.NoError(t, err)
	require.Equal(t, "create_main_cluster = false\n", string(written))
}
