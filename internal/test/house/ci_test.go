package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestWorkflows: the hosted workflows are YAML, run what this repository has, and use actions of
// a fixed major version.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yml"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	makefile := read(t, filepath.Join(repository, "Makefile"))
	var runs []string
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				Strategy struct{ Matrix map[string][]string }
				Steps    []struct{ Uses, Run string }
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(read(t, file)), &workflow), file)
		for _, step := range workflow.Jobs["run"].Steps {
			if step.Uses != "" {
				assert.Regexp(t, `^actions/\w+@v\d+$`, step.Uses, file)
				continue
			}
			runs = append(runs, step.Run)
		}
		for _, target := range workflow.Jobs["run"].Strategy.Matrix["target"] {
			name, _, _ := strings.Cut(target, " ")
			assert.True(t, strings.Contains(makefile, "\n"+name+": ## "), "%s: no target for make %s", file, target)
		}
	}
	const trust = `git config --global --add safe.directory "$PWD"` // the checkout belongs to another user
	assert.Equal(t, []string{trust, ".ci/run", trust, "make ${{ matrix.target }}"}, runs)
}

// fakeMake records its target and caches, leaves a read-only module as Go does, and fails for
// the target $FAIL.
const fakeMake = `#!/bin/sh
echo "$1|$GOMODCACHE|$GOCACHE|$GOPROXY|$(ls -A "$GOMODCACHE" "$GOCACHE" | tr '\n' ' ')" >>"$CALLS"
mkdir -p "$GOMODCACHE/m@v1.0.0" && touch "$GOMODCACHE/m@v1.0.0/m.go" && chmod -R a-w "$GOMODCACHE/m@v1.0.0"
[ "$1" != "$FAIL" ]
`

// TestCIBeginsWithEmptyCaches: the targets of .ci/run share new caches, which are removed whether
// the run passes or fails; the proxy is the machine's.
func TestCIBeginsWithEmptyCaches(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"", "test"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			".ci/run": read(t, filepath.Join(repository, ".ci/run")), "path/make": fakeMake, "internal/test/ci/newcomer.sh": "make newcomer\n",
		} {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
		}
		require.NoError(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, ".ci/run"))
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "path")+string(os.PathListSeparator)+os.Getenv("PATH"), "CALLS="+filepath.Join(dir, "calls"),
			"TMPDIR="+filepath.Join(dir, "tmp"), "FAIL="+failing, "GOMODCACHE=/elsewhere", "GOCACHE=/elsewhere", "GOPROXY=https://proxy.example")
		out, err := cmd.CombinedOutput()
		want := []string{"lint", "test", "test-386", "mutants", "newcomer"}
		if failing == "" {
			require.NoError(t, err, "%s", out)
		} else {
			require.EqualError(t, err, "exit status 1", "%s", out)
			want = want[:2]
		}
		var targets []string
		for i, call := range strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "calls"))), "\n") {
			said := strings.Split(call, "|")
			require.Len(t, said, 5, call)
			targets = append(targets, said[0])
			caches := said[1:3]
			for _, cache := range caches {
				assert.True(t, strings.HasPrefix(cache, filepath.Join(dir, "tmp")+"/"), call)
			}
			assert.Equal(t, "https://proxy.example", said[3])
			assert.Equal(t, i > 0, strings.Contains(said[4], "m@v1.0.0"), "the caches are empty at first, then shared: %s", call)
		}
		assert.Equal(t, want, targets)
		left, err := os.ReadDir(filepath.Join(dir, "tmp"))
		require.NoError(t, err)
		assert.Empty(t, left, "the caches are removed")
	}
}
