package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServerTimeouts: the servers of the examples have the limits that the example of package
// webhook recommends.
func TestServerTimeouts(t *testing.T) {
	t.Parallel()
	advice := serverLimits(t, filepath.Join(repository, "webhook/example_server_test.go"))
	require.Len(t, advice, 1)
	require.Len(t, advice[0], 5)
	servers := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(repository, "examples"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			for _, limits := range serverLimits(t, path) {
				servers++
				require.Equal(t, advice[0], limits, path)
			}
		}
		return err
	}))
	require.GreaterOrEqual(t, servers, 4)
}

// serverLimits are the fields of the http.Server literals of a file, but for what they serve.
func serverLimits(t *testing.T, path string) (all []map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok || literal.Type == nil || types.ExprString(literal.Type) != "http.Server" {
			return true
		}
		limits := map[string]string{}
		for _, element := range literal.Elts {
			if field, ok := element.(*ast.KeyValueExpr); ok {
				limits[types.ExprString(field.Key)] = types.ExprString(field.Value)
			}
		}
		delete(limits, "Addr")
		delete(limits, "Handler")
		all = append(all, limits)
		return true
	})
	return all
}
