package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// libraries are the folders of what a merchant links, with all that is under them.
var libraries = []string{
	"payments", "banks", "webhook", "poller", "inbox",
	"internal/api", "internal/backoff", "internal/pragma", "internal/safecall", "internal/secret", "internal/sqlite", "internal/transport", "internal/wire",
}

// network are the names by which Go code reaches a network or another program, by package.
// What is missing here takes an address or a connection from one of these.
var network = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Listen", "ListenTCP", "ListenUDP", "ListenIP", "ListenUnix",
		"ListenUnixgram", "ListenPacket", "ListenMulticastUDP", "ListenConfig", "Resolver", "DefaultResolver", "LookupHost", "LookupIP", "LookupAddr",
		"LookupCNAME", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT", "ResolveIPAddr", "ResolveTCPAddr", "ResolveUDPAddr",
	},
	"net/http": {
		"Get", "Head", "Post", "PostForm", "Client", "DefaultClient", "Transport", "DefaultTransport", "ListenAndServe", "ListenAndServeTLS", "Serve",
		"ServeTLS", "Server", "ProxyFromEnvironment",
	},
	"crypto/tls": {"Client", "Dial", "DialWithDialer", "Dialer", "Listen", "NewListener", "Server"},
}

// reaches is what each file uses of them: the one pool that calls the configured address.
var reaches = map[string]string{
	"internal/transport/pool.go":      "net.Dialer http.Transport",
	"internal/transport/transport.go": "http.Client",
}

// silent are packages that libraries do without: other ways to a network, to another program,
// or to code that is not here yet.
var silent = []string{"C", "os/exec", "plugin", "net/rpc", "net/smtp", "net/http/pprof", "expvar", "log/syslog", "golang.org/x/net"}

// TestLibrariesReachNothingElse: no library opens a connection or a port, but for the pool of
// the client; none runs another program or cgo; and none does anything at its import or its
// installation, since it has no init and asks for no go generate.
func TestLibrariesReachNothingElse(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	for path, file := range librarySources(t) {
		names := map[string]string{} // of the imports in this file
		for _, imported := range file.Imports {
			name := strings.Trim(imported.Path.Value, `"`)
			assert.NotContains(t, silent, name, path)
			names[filepath.Base(name)] = name
			if imported.Name != nil {
				names[imported.Name.Name] = name
				assert.NotEqual(t, ".", imported.Name.Name, "%s: whose names are these?", path)
			}
		}
		uses := map[string]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				assert.False(t, f.Recv == nil && f.Name.Name == "init", "%s runs code at its import", path)
			}
			if used := networkName(n, names); used != "" && !uses[used] {
				uses[used] = true
				found[path] = strings.TrimSpace(found[path] + " " + used)
			}
			return true
		})
	}
	for path, uses := range found {
		assert.ElementsMatch(t, strings.Fields(reaches[path]), strings.Fields(uses), "%s", path)
	}
	assert.Len(t, found, len(reaches), "an exception for a file that does without")
}

// networkName is "net.Dial" if n says so.
func networkName(n ast.Node, names map[string]string) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, name := range network[names[pkg.Name]] {
		if name == selector.Sel.Name {
			return pkg.Name + "." + name
		}
	}
	return ""
}

// librarySources are the files of the libraries without tests, by their path.
func librarySources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, folder := range libraries {
		require.NoError(t, filepath.WalkDir(filepath.Join(repository, folder), func(path string, entry fs.DirEntry, err error) error {
			// inboxtest is for tests, as its importers are.
			if err != nil || entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "inboxtest") {
				return errOrSkip(err)
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			assert.NotContains(t, string(text), "\n//go:"+"generate", path)
			assert.NotContains(t, string(text), "\n//go:"+"linkname", path)
			files[slashed(t, path)], err = parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
			return err
		}))
	}
	require.Greater(t, len(files), 80)
	return files
}
