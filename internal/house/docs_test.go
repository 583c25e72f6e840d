package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a fenced block of a document, with the comment above it.
type block struct{ kind, origin, language, text string }

var (
	fence      = regexp.MustCompile("(?ms)^(?:<!-- (code|run): (\\S+) -->\n)?```(\\w*)\n(.*?)^```$")
	repository = "../.."
)

func blocks(text string) (all []block) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		all = append(all, block{m[1], m[2], m[3], m[4]})
	}
	return all
}

// documents are those whose blocks stand under the rule of TestBlocks.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"docs/*.md", "docs/guide/*.md", "docs/ko/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.NotEmpty(t, all)
	return all
}

// readmes are the documents besides the guides.
func readmes(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.GreaterOrEqual(t, len(all), 4)
	return all
}

// TestBlocks: every Go block of the guides is a part of a file that the compiler sees and
// a test runs, letter for letter; every command is one that a test of the folder which the
// comment above it names really runs.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(text), "\n```")%2, 0, "%s: a block does not end", document)
		for _, b := range blocks(string(text)) {
			switch b.language {
			case "go":
				require.Equal(t, "code", b.kind, "%s: this block does not say where it is from:\n%s", document, b.text)
				source, err := os.ReadFile(filepath.Join(repository, b.origin))
				require.NoError(t, err, document)
				require.Contains(t, string(source), b.text, "%s: %s reads otherwise", document, b.origin)
			case "sh":
				require.Equal(t, "run", b.kind, "%s: this block does not say who runs it:\n%s", document, b.text)
				for line := range strings.Lines(b.text) {
					requireRun(t, document, b.origin, strings.TrimSpace(line))
				}
			case "text":
			default:
				require.Fail(t, "a block of an unknown language", "%s: %q:\n%s", document, b.language, b.text)
			}
		}
	}
}

// runners are the tests that start what a document tells people to start, by its folder.
var runners = map[string]struct{ commands, tests []string }{
	"examples/quickstart": {[]string{"go run ./examples/quickstart"}, []string{"TestCommand"}},
	"cmd/depositpay":      {[]string{"go run ./cmd/depositpay mock"}, []string{"TestBinary"}},
}

func requireRun(t *testing.T, document, folder, command string) {
	t.Helper()
	runner, known := runners[folder]
	require.True(t, known, "%s: nobody runs %q", document, command)
	require.True(t, slices.Contains(runner.commands, command), "%s: nobody in %s runs %q", document, folder, command)
	files, err := filepath.Glob(filepath.Join(repository, folder, "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, test := range runner.tests {
		require.Contains(t, all.String(), "func "+test, "%s: the test that runs %q", folder, command)
	}
}
