package house_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// cited is a citation of a section. The text before it says whose section it is.
	cited   = regexp.MustCompile(`(RFC \d+ )?§(\d+(?:\.\d+)*)`)
	section = regexp.MustCompile(`(?m)^(?:##+ (\d(?:\.\d)?)|\| (\d\.\d) \|)`)
)

// TestCitedSectionsExist: every section of the interface that code, a document or the OpenAPI
// file cites is a heading, or a numbered row, of docs/interface.md. The comment of each package
// that cites sections says where they are.
func TestCitedSectionsExist(t *testing.T) {
	t.Parallel()
	sections := map[string]bool{}
	for _, m := range section.FindAllStringSubmatch(read(t, filepath.Join(repository, "docs/interface.md")), -1) {
		number := m[1] + m[2]
		assert.False(t, sections[number], "docs/interface.md has section %s twice", number)
		sections[number] = true
	}
	require.Len(t, sections, 38)

	citations := 0
	citing := map[string]bool{}
	for path, text := range citers(t) {
		for _, m := range cited.FindAllStringSubmatch(text, -1) {
			if m[1] != "" {
				continue // an RFC's
			}
			citations++
			assert.True(t, sections[m[2]], "%s cites §%s, which docs/interface.md does not have", path, m[2])
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				citing[filepath.Dir(path)] = true
			}
		}
	}
	require.Greater(t, citations, 250)
	for folder := range citing {
		if strings.Contains(slashed(t, folder), "internal") {
			continue // nobody outside reads their comments
		}
		assert.Contains(t, read(t, filepath.Join(folder, "doc.go")), "/docs/interface.md\n", "%s cites sections and does not say of what", folder)
	}
}

// citers are the files that may cite sections, by path.
func citers(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "out"):
			return filepath.SkipDir
		case !entry.IsDir() && (strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".yaml")):
			all[path] = read(t, path)
		}
		return nil
	}))
	return all
}
