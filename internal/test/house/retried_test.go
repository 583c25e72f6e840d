package house_test

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

// retrying are the functions of package inbox that may call a closure more than once.
var retrying = map[string]bool{"do": true, "retry": true}

// TestRetriedClosures: a closure that may run twice writes to no variable outside itself,
// since the second run would add to what the first one has left there. It returns what it
// has found; queryRows, which replaces its result at each try, is the one exception.
func TestRetriedClosures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, "inbox/*.go"))
	require.NoError(t, err)
	closures := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, closure := range retried(file) {
			closures++
			for _, at := range writesOutside(closure) {
				assert.Fail(t, "a closure that may run twice writes to a variable outside it; return the value, see queryRows", "%s", set.Position(at))
			}
		}
	}
	assert.GreaterOrEqual(t, closures, 2)
}

func TestRetriedClosuresSees(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"all = append(all, 1)":   1,
		"n++":                    1,
		"found[1] = 2":           1,
		"s.n += 1":               1,
		"*p = 1":                 1,
		"func() { all = nil }()": 1,
		"all := 1; all = 2; for i := range n { i++ }": 0,
		"var all int; all, x := f(); q = x":           0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { p.do(ctx, func(q int) { "+body+" }) }", parser.SkipObjectResolution)
		require.NoError(t, err)
		closures := retried(file)
		require.Len(t, closures, 1)
		assert.Len(t, writesOutside(closures[0]), want, body)
	}
}

// retried are the closures that a file gives to the retrying functions, but for queryRows'.
func retried(file *ast.File) (closures []*ast.FuncLit) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "queryRows" {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !retrying[f.Sel.Name] {
				return true
			}
			for _, a := range call.Args {
				if closure, ok := a.(*ast.FuncLit); ok {
					closures = append(closures, closure)
				}
			}
			return true
		})
	}
	return closures
}

// writesOutside are the places where a closure assigns to what it has not declared.
func writesOutside(closure *ast.FuncLit) (at []token.Pos) {
	own := map[string]bool{"_": true}
	declare := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			own[id.Name] = true
		}
	}
	ast.Inspect(closure, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				declare(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				declare(name)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				declare(n.Key)
				declare(n.Value)
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if n.Tok == token.DEFINE {
					declare(to)
				} else if !own[root(to)] {
					at = append(at, to.Pos())
				}
			}
		case *ast.IncDecStmt:
			if !own[root(n.X)] {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}

// root is the name of the variable that an expression is a part of.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}
