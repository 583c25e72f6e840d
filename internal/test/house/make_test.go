package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// makeWith runs make with a fake go command, the shell script, and returns the arguments of
// each call.
func makeWith(t *testing.T, script string, args ...string) (calls []string, err error) {
	t.Helper()
	dir := t.TempDir()
	list := filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$*\" >>'" + list + "'\n" + script + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o700))
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"-C", repository}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "MAKEFLAGS=", "MAKELEVEL=")
	_, err = cmd.CombinedOutput()
	return strings.Split(strings.TrimSpace(read(t, list)), "\n"), err
}

// TestHelpListsTargets: make alone lists each target that the Makefile declares.
func TestHelpListsTargets(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "make", "-C", repository, "--no-print-directory").Output()
	require.NoError(t, err)
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^make (\S+) +\S`).FindAllStringSubmatch(string(out), -1) {
		listed = append(listed, m[1])
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(read(t, filepath.Join(repository, "Makefile")))
	require.ElementsMatch(t, strings.Fields(phony[1]), listed)
}

// TestMakeTargets: targets that CI does not run call tools at exact versions and folders that
// exist.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	path := regexp.MustCompile(`(?:^| )(?:-C |\./)(internal/\S+)`)
	for target, counted := range map[string]int{"fmt": 1, "vuln": 2, "bench": 3} {
		calls, err := makeWith(t, "[ $1 != list ] || echo ./...", target)
		require.NoError(t, err, target)
		require.Len(t, calls, counted, target)
		for _, call := range calls {
			if m := path.FindStringSubmatch(call); m != nil {
				require.DirExists(t, filepath.Join(repository, m[1]), call)
				continue
			}
			require.Regexp(t, `^list -m -f {{.Dir}}/\.\.\.$|^run \S+/cmd/\S+@v\d+\.\d+\.\d+ (fmt )?\./\.\.\.$`, call)
		}
	}
}
