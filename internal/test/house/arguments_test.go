package house_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStatementArgumentsArePlain: what package inbox passes to a database is of a plain type. Older
// versions of pgx send a named number that has a String method as its text, which a smallint refuses, and
// reject named strings in the modes that a pooler needs.
func TestStatementArgumentsArePlain(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(repository, "inbox/*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	// Of what inbox imports only the signatures matter, and errors where these are missing do not.
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil), Error: func(error) {}}
	_, _ = config.Check(module+"/inbox", set, files, &info)
	checked := 0
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			for _, arg := range anyValues(n, &info) {
				checked++
				named, isNamed := info.TypeOf(arg).(*types.Named)
				if !isNamed {
					continue
				}
				_, basic := named.Underlying().(*types.Basic)
				assert.False(t, basic, "%s: convert this %s to its plain type", set.Position(arg.Pos()), named)
			}
			return true
		})
	}
	require.Greater(t, checked, 100)
}

// anyValues are the values that n puts into a list of any, but for those that are printed or logged.
func anyValues(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if list, ok := info.TypeOf(n).(*types.Slice); ok && isAny(list.Elem()) {
			return n.Elts
		}
	case *ast.CallExpr:
		if called, ok := n.Fun.(*ast.SelectorExpr); ok {
			if use := info.Uses[called.Sel]; use != nil && use.Pkg() != nil && (use.Pkg().Path() == "fmt" || use.Pkg().Path() == "log/slog") {
				return nil
			}
		}
		signature, ok := info.TypeOf(n.Fun).(*types.Signature)
		if !ok || !signature.Variadic() || n.Ellipsis.IsValid() {
			return nil
		}
		last := signature.Params().Len() - 1
		if list, ok := signature.Params().At(last).Type().(*types.Slice); ok && isAny(list.Elem()) && len(n.Args) > last {
			return n.Args[last:]
		}
	}
	return nil
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}
