// Command typecheck checks the types of packages and their tests for other platforms:
//
//	typecheck windows/amd64,linux/386 ./payments ./inbox/...
//
// It finds what a compiler finds there and takes seconds for each platform, where go vet
// takes most of a minute: go vet compiles and examines every dependency first, and this reads
// only the declarations of dependencies.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "typecheck: want GOOS/GOARCH,… and packages")
		os.Exit(2)
	}
	failed := false
	for platform := range strings.SplitSeq(os.Args[1], ",") {
		if err := check(".", platform, os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s:\n%v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list describes it. A package with its own tests is listed once
// more, with an ImportPath like "p [p.test]".
type listed struct {
	ImportPath, Dir string
	Standard        bool
	DepOnly         bool
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

// check returns all type errors of the packages and their tests on one platform.
func check(dir, platform string, patterns []string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return fmt.Errorf("unknown platform %s: want GOOS/GOARCH", platform)
	}
	packages, named, err := list(dir, goos, goarch, patterns)
	if err != nil {
		return err
	}
	c := checker{files: token.NewFileSet(), sizes: sizes, listed: packages, done: map[string]*types.Package{}}
	for _, p := range named {
		c.load(p)
	}
	return errors.Join(c.errs...)
}

// list returns the packages with all dependencies by import path, and those that were named.
func list(dir, goos, goarch string, patterns []string) (all map[string]*listed, named []*listed, err error) {
	fields := "-json=ImportPath,Dir,Standard,DepOnly,GoFiles,ImportMap,Module,Error"
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"list", "-e", "-deps", "-test", fields}, patterns...)...) //nolint:gosec // patterns are the Makefile's
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	all = map[string]*listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return all, named, nil
		} else if err != nil {
			return nil, nil, err
		}
		if p.Error != nil {
			return nil, nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		all[p.ImportPath] = p
		if !p.DepOnly && !strings.HasSuffix(p.ImportPath, ".test") { // which is generated
			named = append(named, p)
		}
	}
}

// checker checks one platform.
type checker struct {
	files  *token.FileSet
	sizes  types.Sizes
	listed map[string]*listed
	done   map[string]*types.Package
	errs   []error
}

// load checks a package after its imports. Function bodies are left out of those that were
// not named.
func (c *checker) load(p *listed) *types.Package {
	if known := c.done[p.ImportPath]; known != nil {
		return known
	}
	config := types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.imported(p, path) }),
		Sizes:            c.sizes,
		IgnoreFuncBodies: p.DepOnly,
		Error:            func(err error) { c.errs = append(c.errs, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		files = append(files, file)
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	checked, _ := config.Check(path, c.files, files, nil) // Error has the errors
	c.done[p.ImportPath] = checked
	return checked
}

func (c *checker) imported(by *listed, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if mapped := by.ImportMap[path]; mapped != "" {
		path = mapped
	}
	if p := c.listed[path]; p != nil {
		return c.load(p), nil
	}
	return nil, fmt.Errorf("%s imports %s, which go list does not name", by.ImportPath, path)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
