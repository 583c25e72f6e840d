package house_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocComments: the Go code in the comment of a package is code that the compiler sees.
// The comment leaves out what is not the point, such as looks at errors, but each of its
// lines stands in one example, in this order. Its commands are those of TestCommands.
func TestDocComments(t *testing.T) {
	t.Parallel()
	sources := exampleSources(t)
	for _, name := range append([]string{"examples/quickstart", "examples/starter", "examples/webshop", "examples/gameserver", "examples/gameserver/grant", "cmd/depositpay"}, shown...) {
		code := 0
		for _, block := range codeBlocks(t, name) {
			for line := range strings.Lines(block) {
				if line = strings.TrimSpace(line); command.MatchString(line) {
					_, known := commands[line]
					assert.True(t, known, "%s: who runs %q?", name, line)
				}
			}
			if isGo(block) {
				code++
				assert.True(t, inOne(sources, block), "the comment of %s: no example has all these lines in this order:\n%s", name, block)
			}
		}
		if strings.Contains(name, "examples/") && name != "examples/gameserver/grant" || name == "cmd/depositpay" {
			continue // programs
		}
		assert.Positive(t, code, "the comment of %s shows no code", name)
	}
}

func codeBlocks(t *testing.T, name string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(repository, name, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if file.Doc == nil || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, part := range new(comment.Parser).Parse(file.Doc.Text()).Content {
			if code, ok := part.(*comment.Code); ok {
				all = append(all, code.Text)
			}
		}
	}
	return all
}

// isGo tells code from tables and drawings.
func isGo(text string) bool {
	text = strings.ReplaceAll(text, "…\n", "\n")
	for _, source := range []string{"package p\n" + text, "package p\nfunc f() {\n" + text + "\n}"} {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err == nil && (len(file.Decls) > 0) && !empty(file) {
			return true
		}
	}
	return false
}

func empty(file *ast.File) bool {
	f, ok := file.Decls[0].(*ast.FuncDecl)
	return ok && f.Name.Name == "f" && len(f.Body.List) == 0
}

// exampleSources are the files that hold examples, and the programs under examples.
func exampleSources(t *testing.T) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		if !entry.IsDir() && strings.HasSuffix(name, ".go") && (strings.Contains(name, "/examples/") || strings.HasPrefix(entry.Name(), "example")) {
			all = append(all, read(t, path))
		}
		return nil
	}))
	require.NotEmpty(t, all)
	return all
}

func inOne(sources []string, block string) bool {
	for _, source := range sources {
		lines := strings.Split(source, "\n")
		found := true
		for wanted := range strings.Lines(block) {
			wanted = plain(wanted)
			if wanted == "" || wanted == "…" {
				continue
			}
			for found = false; len(lines) > 0 && !found; lines = lines[1:] {
				found = strings.Contains(plain(lines[0]), wanted)
			}
			if !found {
				break
			}
		}
		if found {
			return true
		}
	}
	return false
}

var declared = regexp.MustCompile(`^func (\w+)\(`)

// plain is a line without what gofmt decides. A function may be declared inside another one.
func plain(line string) string {
	return declared.ReplaceAllString(strings.Join(strings.Fields(line), " "), "$1 := func(")
}
