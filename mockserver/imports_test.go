package mockserver_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The mock must not share the client's mistakes, and must not bring a test
// library into a program that embeds it.
func TestImportsAreFew(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			if strings.HasPrefix(path, "github.com/depositpay/depositpay-go/mockserver/internal/") {
				continue
			}
			domain, _, _ := strings.Cut(path, "/")
			assert.True(t, !strings.Contains(domain, ".") || path == "github.com/google/uuid", "%s imports %s", name, path)
			assert.NotEqual(t, "testing", path, name)
			seen++
		}
	}
	assert.Greater(t, seen, 20)
}
