package house_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown are the packages whose every entry point has an example.
var shown = []string{
	"payments", "banks", "poller", "webhook", "inbox", "inbox/sqlite", "inbox/inboxtest", "mockserver",
}

// unasked are methods of the interfaces of fmt, errors, log/slog and encoding, which call
// them: nobody starts from there.
var unasked = []string{
	"Error", "String", "Unwrap", "Is", "Format", "LogValue", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
}

// withoutExample are the other exceptions, with the reason.
var withoutExample = map[string]string{
	"payments.Error.SafeToRetry": "the function SafeToRetry asks it",
	"banks.Error.SafeToRetry":    "the function SafeToRetry asks it",
	"poller.SinkFunc.Accept":     "package poller calls it (poller.Sink)",
	"webhook.Handler.ServeHTTP":  "net/http calls it (http.Handler)",
}

// named are the calls that people look up by their name: each has an example at its own
// entry of the documentation, whatever else uses it.
var named = []string{
	"inbox.Open", "inbox.Cancel", "inbox.Snooze", "inbox.Migrate", "inbox.MigrationSQL",
	"inbox.Inbox.Approve", "inbox.Inbox.Audit", "inbox.Inbox.Close", "inbox.Inbox.Create",
	"inbox.Inbox.Expect", "inbox.Inbox.Get", "inbox.Inbox.LastReport", "inbox.Inbox.List", "inbox.Inbox.Receipts",
	"inbox.Inbox.Reconcile", "inbox.Inbox.Reject", "inbox.Inbox.Retry", "inbox.Inbox.Run", "inbox.Inbox.SettleLoss",
	"inbox.Inbox.Status", "inbox.Inbox.Webhook",
}

// TestNamedExamples: their examples are run, and use them.
func TestNamedExamples(t *testing.T) {
	t.Parallel()
	for _, entry := range named {
		name, call, _ := strings.Cut(entry, ".")
		wanted := "Example" + strings.ReplaceAll(call, ".", "_")
		text, found := testText(t, name, wanted)
		assert.True(t, found, "%s: there is no %s", name, wanted)
		assert.Contains(t, text, call[strings.LastIndex(call, ".")+1:]+"(", wanted)
		assert.Regexp(t, `// (Unordered o|O)utput:`, text, "%s is not run", wanted)
	}
}

// TestExamples: an example uses each exported function and each exported method, but for
// the exceptions, and no exception is there for nothing.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := loadExamples(t)
	excepted := 0
	for _, name := range shown {
		for _, entry := range w.entries(t, name) {
			reason, exception := withoutExample[entry]
			if exception {
				excepted++
				require.False(t, w.used[entry], "%s has an example now; withoutExample says %q", entry, reason)
				continue
			}
			assert.True(t, w.used[entry], "%s: no example uses it", entry)
		}
	}
	require.Len(t, withoutExample, excepted, "an exception for something that does not exist")
}

// workshop reads packages, and the examples about them.
type workshop struct {
	files    *token.FileSet
	importer types.Importer
	used     map[string]bool // by the examples of any package
}

func loadExamples(t *testing.T) *workshop {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, name := range shown {
		args = append(args, "./"+name)
	}
	out, err := goCommand(t, args...).Output()
	require.NoError(t, err)
	compiled := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		compiled[path] = file
	}
	w := &workshop{files: token.NewFileSet(), used: map[string]bool{}}
	w.importer = importer.ForCompiler(w.files, "gc", func(path string) (io.ReadCloser, error) {
		if compiled[path] == "" {
			return nil, fmt.Errorf("%s is not one of ours", path)
		}
		return os.Open(compiled[path])
	})
	for _, name := range shown {
		w.read(t, name)
	}
	return w
}

// read notes what the examples of a package use. Files named example*_test.go hold
// examples and their helpers, and nothing else.
func (w *workshop) read(t *testing.T, name string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(repository, name, "example*_test.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(w.files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		requireExamples(t, path, file)
		files = append(files, file)
	}
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: w.importer, Error: func(error) {}} // what is in other files is missing
	_, _ = config.Check(name+"_test", w.files, files, &types.Info{Uses: uses})
	for _, object := range uses {
		if f, ok := object.(*types.Func); ok && f.Pkg() != nil {
			w.used[entryName(f)] = true
		}
	}
}

func requireExamples(t *testing.T, path string, file *ast.File) {
	t.Helper()
	examples := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			require.False(t, strings.HasPrefix(f.Name.Name, "Test"), "%s: tests stand elsewhere", path)
			if strings.HasPrefix(f.Name.Name, "Example") {
				examples++
			}
		}
	}
	require.Positive(t, examples, "%s: no example", path)
}

// entries are the exported functions of a package, and the methods of its exported types.
func (w *workshop) entries(t *testing.T, name string) (all []string) {
	t.Helper()
	pkg, err := w.importer.Import(module + "/" + name)
	require.NoError(t, err)
	for _, known := range pkg.Scope().Names() {
		switch object := pkg.Scope().Lookup(known).(type) {
		case *types.Func:
			if object.Exported() {
				all = append(all, entryName(object))
			}
		case *types.TypeName:
			named, ok := object.Type().(*types.Named)
			if !ok || !object.Exported() {
				continue
			}
			for method := range named.Methods() {
				if method.Exported() && !slices.Contains(unasked, method.Name()) {
					all = append(all, entryName(method))
				}
			}
		}
	}
	require.NotEmpty(t, all, name)
	return all
}

// entryName is "payments.Client.Next", or "payments.New".
func entryName(f *types.Func) string {
	name := strings.TrimPrefix(f.Pkg().Path(), module+"/") + "."
	if receiver := f.Signature().Recv(); receiver != nil {
		of := receiver.Type()
		if pointer, ok := of.(*types.Pointer); ok {
			of = pointer.Elem()
		}
		if named, ok := of.(*types.Named); ok {
			name += named.Obj().Name() + "."
		}
	}
	return name + f.Name()
}
