package inbox

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProbeHasEveryStatement: each constant with a statement of the ledger is among those
// that Open asks the server about.
func TestProbeHasEveryStatement(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	constants, probed := map[string]bool{}, map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			switch name := spec.Names[0].Name; {
			case name == "ledgerStatements", name == "opStatements":
				ast.Inspect(spec, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						probed[id.Name] = true
					}
					return true
				})
			case strings.HasPrefix(name, "sql") && len(spec.Values) == 1:
				if text, ok := spec.Values[0].(*ast.BasicLit); ok && strings.Contains(text.Value, "{p}") {
					constants[name] = true
				}
			}
			return true
		})
	}
	require.Greater(t, len(constants), 40)
	for name := range constants {
		assert.True(t, probed[name], "add %s to ledgerStatements", name)
	}
}

// TestSlotGivenBackTwice: it panics in tests, and otherwise it does not wait for somebody to
// take a slot.
func TestSlotGivenBackTwice(t *testing.T) {
	free := make(handlerSlots, 2)
	assert.Equal(t, 2, free.take(t.Context()))
	free.giveBack(2)
	assert.Panics(t, func() { free.giveBack(1) })
	assert.Panics(t, func() { free.giveBack(-1) })
	panics := slotMisused
	defer func() { slotMisused = panics }()
	slotMisused = func() {}
	free.giveBack(1)
	assert.Equal(t, 2, free.take(t.Context()))
}
