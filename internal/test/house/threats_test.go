package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testName is the way documents name a test, with a test of the inbox's suite after a slash.
var testName = regexp.MustCompile("`([\\w/]+\\.(?:Test|Fuzz)\\w+(?:/\\w+)?)`")

// declaredTests are the tests of the repository, by the names that documents use.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	for path, text := range testFiles(t) {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(text, -1) {
			declared[filepath.ToSlash(filepath.Dir(slashed(t, path)))+"."+m[1]] = true
		}
	}
	suite := read(t, filepath.Join(repository, "inbox/inboxtest/exercise.go"))
	for _, m := range regexp.MustCompile(`\{"(\w+)", test\w+\}`).FindAllStringSubmatch(suite, -1) {
		for _, database := range []string{"SQLite", "PostgreSQL"} {
			declared["inbox/inboxtest.Test"+database+"/"+m[1]] = true
		}
	}
	return declared
}

// TestThreatsAreProved: each threat names its tests, and each of them is there.
func TestThreatsAreProved(t *testing.T) {
	t.Parallel()
	model, declared := read(t, filepath.Join(repository, "docs/threat-model.md")), declaredTests(t)
	threats, inTable := 0, false
	for line := range strings.Lines(model) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			inTable = false
			continue
		}
		if threat, proof := cells[1], cells[3]; inTable && !strings.HasPrefix(threat, " ---") {
			threats++
			tests := testName.FindAllStringSubmatch(proof, -1)
			assert.NotEmpty(t, tests, "%s: has no test", threat)
			assert.Len(t, tests, strings.Count(proof, "`")/2, "%s: not all of these are tests", threat)
			for _, m := range tests {
				assert.True(t, declared[m[1]], "%s: there is no %s", threat, m[0])
			}
		}
		inTable = inTable || cells[3] == " proved by "
	}
	require.Greater(t, threats, 35)
}

// TestSecretsAreComparedInConstantTime: no test can see this by the clock, and a hurried
// change must not undo it. The comparison goes through crypto/subtle over hashes, for
// every secret, and nothing else decides.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../webhook/secret.go", nil, 0)
	require.NoError(t, err)
	var match *ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "match" {
			match = f
		}
	}
	require.NotNil(t, match)
	compares, hashes, loops := 0, 0, 0
	ast.Inspect(match, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "ConstantTimeCompare":
				compares++
			case "Sum256":
				hashes++
			case "Equal", "Compare", "EqualFold", "HasSuffix", "HasPrefix":
				assert.Fail(t, "the time that this takes depends on the secret", n.Sel.Name)
			}
		case *ast.RangeStmt:
			loops++
			ast.Inspect(n.Body, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.ReturnStmt, *ast.BranchStmt, *ast.IfStmt:
					assert.Fail(t, "the loop ends, or branches, at a match: the time tells which secret it is")
				}
				return true
			})
		}
		return true
	})
	require.Equal(t, [3]int{1, 1, 1}, [3]int{compares, hashes, loops}, "comparisons, hashes, loops")
}

// TestToolsArePinned: what the Makefile runs from the network has an exact version, and what
// the module links has a hash.
func TestToolsArePinned(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	tools := regexp.MustCompile(`(?m)^\w+ +:= (\S+/\S+)@(\S+)$`).FindAllStringSubmatch(string(makefile), -1)
	require.GreaterOrEqual(t, len(tools), 2)
	for _, tool := range tools {
		assert.Regexp(t, `^v\d+\.\d+\.\d+$`, tool[2], "%s", tool[1])
	}
	assert.NotContains(t, string(makefile), "@latest")
	assert.NotContains(t, string(makefile), "curl")
	mod, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	assert.NotRegexp(t, `(?m)^replace|=>`, string(mod), "a replaced module is not what those who import this one get")
	sum, err := os.ReadFile("../../../go.sum")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(mod), -1) {
		assert.Contains(t, string(sum), m[1]+" "+m[2]+" h1:", "no hash")
	}
}
