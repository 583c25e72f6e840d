package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// arrow is a dependency of one file on another one of the same package.
type arrow struct{ from, to string }

// source is a package that was parsed and type-checked, without its tests.
type source struct {
	set   *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

// load reads the package in a directory. The go command says which files belong to it,
// and compiles what it imports.
func load(dir string) (*source, error) {
	const format = `{{if .DepOnly}}{{.ImportPath}}={{.Export}}{{else}}{{range .GoFiles}}{{$.Dir}}/{{.}}` + "\n{{end}}{{end}}"
	list := exec.CommandContext(context.Background(), "go", "list", "-export", "-deps", "-f", format, ".")
	list.Dir = dir
	list.Stderr = os.Stderr
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("layers: go list in %s: %w", dir, err)
	}
	p := &source{set: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if path, export, ok := strings.Cut(line, "="); ok {
			exports[path] = export
		} else if line != "" {
			file, err := parser.ParseFile(p.set, line, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, file)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	check := types.Config{Importer: importer.ForCompiler(p.set, "gc", open)}
	p.pkg, err = check.Check(dir, p.set, p.files, p.info)
	return p, err
}

// figures are what is measured of a package. An arrow's text is one name that makes it.
type figures struct {
	files                          []string
	lines, methods, exported       int
	arrows                         map[arrow]string
	longestFile, longestFunc       string
	longestFileLen, longestFuncLen int
}

func (p *source) measure(mainType string) *figures {
	m := &figures{arrows: map[arrow]string{}}
	for _, file := range p.files {
		name := p.fileOf(file.Pos())
		m.files = append(m.files, name)
		n := p.set.File(file.Pos()).LineCount()
		m.lines += n
		if n > m.longestFileLen {
			m.longestFileLen, m.longestFile = n, fmt.Sprintf("%s.go %d", name, n)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				p.measureFunc(m, f, mainType)
			}
		}
	}
	for _, name := range p.pkg.Scope().Names() {
		if token.IsExported(name) {
			m.exported++
		}
	}
	for id, object := range p.info.Uses {
		if from, to := p.fileOf(id.Pos()), p.declared(object); to != "" && to != from {
			a := arrow{from, to}
			if first, ok := m.arrows[a]; !ok || id.Name < first {
				m.arrows[a] = id.Name
			}
		}
	}
	return m
}

// measureFunc counts a function: exported methods of exported types are exported names.
func (p *source) measureFunc(m *figures, f *ast.FuncDecl, mainType string) {
	if n := p.set.Position(f.End()).Line - p.set.Position(f.Pos()).Line + 1; n > m.longestFuncLen {
		m.longestFuncLen, m.longestFunc = n, fmt.Sprintf("%s %d", f.Name.Name, n)
	}
	if f.Recv == nil {
		return
	}
	receiver := strings.TrimLeft(types.ExprString(f.Recv.List[0].Type), "*")
	if receiver == mainType {
		m.methods++
	}
	if token.IsExported(receiver) && f.Name.IsExported() {
		m.exported++
	}
}

// declared is the file of a name that files share: one at package level, a method or a
// field. It is "" for a local name and for one of another package.
func (p *source) declared(object types.Object) string {
	shared := object.Parent() == p.pkg.Scope()
	switch o := object.(type) {
	case *types.Var:
		shared = shared || o.IsField()
	case *types.Func:
		shared = shared || o.Signature().Recv() != nil
	}
	if !shared || object.Pkg() != p.pkg {
		return ""
	}
	return p.fileOf(object.Pos())
}

func (p *source) fileOf(at token.Pos) string {
	return strings.TrimSuffix(filepath.Base(p.set.Position(at).Filename), ".go")
}
