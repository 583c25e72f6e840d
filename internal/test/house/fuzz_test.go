package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testFiles are the test files of the repository, by their path, with their text.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata") {
			return errOrSkip(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] = string(text)
		}
		return nil
	}))
	return files
}

func errOrSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// TestEveryFuzzTarget: make fuzz asks the packages of all modules for their targets, so each
// is in one of them; each has a corpus, and each corpus a target.
func TestEveryFuzzTarget(t *testing.T) {
	t.Parallel()
	out, err := goCommand(t, "list", "-f", `{{$dir := .Dir}}{{range .TestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}`, "work").Output()
	require.NoError(t, err)
	listed := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		listed[strings.TrimSpace(line)] = true
	}
	corpora := map[string]bool{}
	for path, text := range testFiles(t) {
		for _, m := range regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`).FindAllStringSubmatch(text, -1) {
			absolute, err := filepath.Abs(path)
			require.NoError(t, err)
			assert.True(t, listed[absolute], "make fuzz does not find %s: %s is not built here, or in a module of its own", m[1], path)
			corpus := filepath.Join(filepath.Dir(path), "testdata", "fuzz", m[1])
			inputs, err := os.ReadDir(corpus)
			assert.NoError(t, err, "%s has no corpus", m[1])
			assert.Greater(t, len(inputs), 4, "%s has a corpus of fewer than five", m[1])
			corpora[corpus] = true
		}
	}
	require.Greater(t, len(corpora), 8)
	found, err := filepath.Glob("../../../*/testdata/fuzz/*")
	require.NoError(t, err)
	for _, corpus := range found {
		assert.True(t, corpora[corpus], "%s belongs to no target", corpus)
	}
}

// TestFuzzCommand: make fuzz runs every target of every package for FUZZTIME, and stops at a
// package that does not build.
func TestFuzzCommand(t *testing.T) {
	t.Parallel()
	calls, err := makeWith(t, `case "$*" in
"list work") echo m/a; echo m/b; echo m/none ;;
"test -list ^Fuzz m/a") echo FuzzOne; echo FuzzTwo; echo "ok m/a" ;;
"test -list ^Fuzz m/b") echo FuzzThree ;;
esac`, "fuzz", "FUZZTIME=7s")
	require.NoError(t, err)
	require.Equal(t, []string{
		"list work",
		"test -list ^Fuzz m/a",
		"test -run ^$ -fuzz ^FuzzOne$ -fuzztime 7s m/a",
		"test -run ^$ -fuzz ^FuzzTwo$ -fuzztime 7s m/a",
		"test -list ^Fuzz m/b",
		"test -run ^$ -fuzz ^FuzzThree$ -fuzztime 7s m/b",
		"test -list ^Fuzz m/none",
	}, calls)

	for _, broken := range []string{"list work", "test -list ^Fuzz m/a", "test -run ^$ -fuzz ^FuzzOne$ -fuzztime 20s m/a"} {
		calls, err := makeWith(t, `case "$*" in
'`+broken+`') exit 1 ;;
"list work") echo m/a; echo m/b ;;
*-list*) echo FuzzOne ;;
esac`, "fuzz")
		require.Error(t, err, broken)
		require.Equal(t, broken, calls[len(calls)-1], "nothing runs after a failure")
	}
}
