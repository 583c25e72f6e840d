package house_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDecisionsAreProved: each decision of DESIGN.md has a number, which counts up in its section, and
// names tests that exist, a package with tests, or a ratio of make bench.
func TestDecisionsAreProved(t *testing.T) {
	t.Parallel()
	declared := declaredTests(t)
	next, decisions := map[string]int{}, 0
	for _, text := range strings.Split(read(t, filepath.Join(repository, "DESIGN.md")), "\n### ")[1:] {
		text, _, _ = strings.Cut(text, "\n## ")
		title, body, _ := strings.Cut(text, "\n")
		section, _, _ := strings.Cut(title, "-")
		next[section]++
		decisions++
		require.True(t, strings.HasPrefix(title, fmt.Sprintf("%s-%02d ", section, next[section])), title)
		_, proof, found := strings.Cut(body, "**Test:**")
		require.True(t, found, "%s: has no test", title)
		tests := testName.FindAllStringSubmatch(proof, -1)
		for _, m := range tests {
			assert.True(t, declared[m[1]], "%s: there is no %s", title, m[0])
		}
		if len(tests) == 0 {
			assert.Regexp(t, "make bench|`internal/test/", proof, title)
		}
	}
	require.Greater(t, decisions, 70)
	cited := 0
	require.NoError(t, fs.WalkDir(os.DirFS(repository), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		for _, m := range regexp.MustCompile(`DESIGN ([A-Z])-(\d\d)`).FindAllStringSubmatch(read(t, filepath.Join(repository, path)), -1) {
			cited++
			assert.LessOrEqual(t, m[2], fmt.Sprintf("%02d", next[m[1]]), "%s cites a decision that does not exist", path)
		}
		return nil
	}))
	require.Greater(t, cited, 10)
}
