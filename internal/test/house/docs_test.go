package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const repository = "../../.."

// block is a fenced block of a document, with the comment above it.
type block struct{ kind, origin, language, text string }

var fence = regexp.MustCompile("(?ms)^(?:<!-- (code|run): (\\S+) -->\n)?```(\\w*)\n(.*?)^```$")

func blocks(text string) (all []block) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		all = append(all, block{m[1], m[2], m[3], m[4]})
	}
	return all
}

// documents are all that people read, by their path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/guide/*.md", "docs/ko/*.md", "docs/ko/guide/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		require.NoError(t, err)
		for _, path := range found {
			all[slashed(t, path)] = read(t, path)
		}
	}
	require.Greater(t, len(all), 15)
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func slashed(t *testing.T, path string) string {
	t.Helper()
	short, err := filepath.Rel(repository, path)
	require.NoError(t, err)
	return filepath.ToSlash(short)
}

// TestBlocks: every Go or JSON block of a document is a part of a file that a test runs,
// letter for letter. (What commands the others hold, TestCommands looks at.)
func TestBlocks(t *testing.T) {
	t.Parallel()
	for document, text := range documents(t) {
		require.Equal(t, 0, strings.Count("\n"+text, "\n```")%2, "%s: a block does not end", document)
		all := blocks(text)
		require.Len(t, all, strings.Count("\n"+text, "\n```")/2, "%s: a block that is not at the margin", document)
		if document == "README.md" {
			require.Equal(t, "go", all[0].language)
			all = all[1:] // TestReadmeProgram builds and runs it
		}
		for _, b := range all {
			switch b.language {
			case "go", "json":
				require.Equal(t, "code", b.kind, "%s: this block does not say where it is from:\n%s", document, b.text)
				source := read(t, filepath.Join(repository, b.origin))
				assert.True(t, strings.Contains(source, b.text), "%s: %s reads otherwise than\n%s", document, b.origin, b.text)
			case "sh", "text":
			default:
				assert.Fail(t, "a block of an unknown language", "%s: %q:\n%s", document, b.language, b.text)
			}
		}
	}
}

// TestGuideToTesting: it begins where a reader begins, with the mock and the address of the
// webhook, and it shows the bubble.
func TestGuideToTesting(t *testing.T) {
	t.Parallel()
	var code []string
	for _, b := range blocks(documents(t)["docs/guide/test.md"]) {
		if b.language == "go" {
			code = append(code, b.text)
		}
	}
	require.Greater(t, len(code), 2)
	assert.Contains(t, code[0], "mockserver.RunT(t")
	assert.Contains(t, code[1], ".SetWebhook(")
	all := strings.Join(code, "")
	assert.Contains(t, all, "synctest.Test(t")
	assert.Contains(t, all, "Transport: mock.Transport()")
}

// TestTranslations: a page in Korean has the code and the commands of the English one.
func TestTranslations(t *testing.T) {
	t.Parallel()
	all := documents(t)
	translated := 0
	for document, text := range all {
		original, korean := strings.CutPrefix(document, "docs/ko/")
		if !korean {
			continue
		}
		translated++
		assert.Equal(t, blocks(all["docs/"+original]), blocks(text), document)
	}
	require.Positive(t, translated)
}
