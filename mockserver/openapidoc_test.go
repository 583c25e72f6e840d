package mockserver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestOpenAPIRoutes: the document has every endpoint of the server, and no other.
func TestOpenAPIRoutes(t *testing.T) {
	t.Parallel()
	doc, err := openapiDocument()
	require.NoError(t, err)
	assert.ElementsMatch(t, mockserver.APIRoutes(), doc.Operations())
}

// openapiTree is the document without any interpretation.
func openapiTree(t *testing.T) (text string, tree map[string]any) {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &tree))
	return string(raw), tree
}

// TestOpenAPICodes: the document has every error code of the package, and no other.
func TestOpenAPICodes(t *testing.T) {
	t.Parallel()
	_, tree := openapiTree(t)
	schemas := tree["components"].(map[string]any)["schemas"].(map[string]any)
	var described []string
	for _, code := range schemas["Code"].(map[string]any)["enum"].([]any) {
		described = append(described, code.(string))
	}
	assert.ElementsMatch(t, declaredCodes(t), described)
}

// declaredCodes are the constants of the type Code in the sources.
func declaredCodes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var list []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" && len(spec.Values) == 1 {
				code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err, spec.Names[0].Name)
				list = append(list, code)
			}
			return true
		})
	}
	require.Greater(t, len(list), 15)
	return list
}

// TestOpenAPIChoices: each choice names what the interface leaves open.
func TestOpenAPIChoices(t *testing.T) {
	t.Parallel()
	_, tree := openapiTree(t)
	var choices []string
	var collect func(any)
	collect = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if choice, has := node["x-choice"]; has {
				choices = append(choices, choice.(string))
			}
			for _, child := range node {
				collect(child)
			}
		case []any:
			for _, child := range node {
				collect(child)
			}
		}
	}
	collect(tree)
	require.Greater(t, len(choices), 20)
	for _, choice := range choices {
		assert.Regexp(t, `(?i)the interface .+`, choice)
	}
}

// TestOpenAPIDialects: the document lists every dialect.
func TestOpenAPIDialects(t *testing.T) {
	t.Parallel()
	_, tree := openapiTree(t)
	prose := tree["info"].(map[string]any)["description"].(string)
	for _, option := range mockserver.DialectOptions() {
		_, said, found := strings.Cut(prose, "- `"+option.Name+"`:")
		require.True(t, found, option.Name)
		said, _, _ = strings.Cut(said, "\n- ")
		for _, value := range option.Values {
			assert.Contains(t, said, "`"+value+"`", option.Name)
		}
	}
}

// TestOpenAPIServed: the file is served unchanged, and the page shows all of it.
func TestOpenAPIServed(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	text, tree := openapiTree(t)
	resp, body := browse(t, s, "GET", "/openapi.yaml", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, "application/yaml", resp.Header.Get("Content-Type"))
	assert.Equal(t, text, body)
	resp, body = browse(t, s, "HEAD", "/openapi.yaml", nil)
	assert.Equal(t, strconv.Itoa(len(text)), resp.Header.Get("Content-Length"))
	assert.Empty(t, body)

	for _, lang := range []string{"en", "ko"} {
		resp, body = browse(t, s, "GET", "/openapi?lang="+lang, nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		var shown strings.Builder
		for _, m := range regexp.MustCompile(`(?s)<pre[^>]*>(.*?)</pre>`).FindAllStringSubmatch(body, -1) {
			shown.WriteString(html.UnescapeString(m[1]))
		}
		assert.Equal(t, regexp.MustCompile(`(?m)^(paths|webhooks|components|  parameters|  schemas):\n`).ReplaceAllString(text, ""), shown.String())
		var names, ids []string
		for _, m := range regexp.MustCompile(`<h3 id="([A-Za-z0-9-]+)"><code>(?:[A-Z]+ )?(.*?)</code>`).FindAllStringSubmatch(body, -1) {
			ids, names = append(ids, m[1]), append(names, m[2])
			assert.Contains(t, body, `href="#`+m[1]+`"`)
		}
		slices.Sort(ids)
		assert.Equal(t, slices.Compact(slices.Clone(ids)), ids, "two parts have one id")
		assert.ElementsMatch(t, openapiNames(tree), names)
	}
	for _, path := range []string{"/openapi", "/openapi.yaml"} {
		resp, _ = browse(t, s, "POST", path, nil)
		assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, path)
		resp, _ = browse(t, s, "GET", path, nil, "Host", "evil.example")
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, path)
	}
	_, body = browse(t, s, "GET", "/openapi/", nil)
	wantError(t, mockserver.CodeNotFound, body)
}

// openapiNames are the paths, webhooks and components.
func openapiNames(tree map[string]any) []string {
	list := slices.Concat(keysOf(tree["paths"]), keysOf(tree["webhooks"]))
	for _, kind := range keysOf(tree["components"]) {
		list = append(list, keysOf(tree["components"].(map[string]any)[kind])...)
	}
	return list
}

func keysOf(node any) []string { return slices.Collect(maps.Keys(node.(map[string]any))) }

// named is the body of a confirmation and of a resend.
func named(token, id string) string { return `{"token":"` + token + `","payToken":"` + id + `"}` }

// kbDeposit is the upload of a deposit.
func kbDeposit(amount, payer string) string {
	return `{"package":"` + kb + `","title":"입금 ` + amount + `원","text":"` + payer + `"}`
}
