package house_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// proof is who runs a command of the documents: a test of a folder, or a script that CI
// runs. Without one there is a reason.
type proof struct{ folder, test, reason string }

// commands are the commands that documents tell people to run, besides those that CI runs.
var commands = map[string]proof{
	"git clone https://github.com/depositpay/depositpay-go && cd depositpay-go": {folder: "internal/ci", test: "newcomer.sh"},
	"go run ./examples/quickstart":                                              {folder: "internal/ci", test: "newcomer.sh"},
	"go run ./examples/webshop --demo":                                          {folder: "examples/webshop", test: "TestDemo"},
	"go run ./examples/gameserver --demo":                                       {folder: "examples/gameserver", test: "TestDemo"},
	"go run ./examples/gameserver --demo --stay":                                {folder: "examples/gameserver", test: "TestDemoStays"},
	"go run ./examples/gameserver --config gameserver.json":                     {folder: "examples/gameserver", test: "TestRCONServer"},
	"go run ./cmd/depositpay mock":                                              {folder: "cmd/depositpay", test: "TestBinary"},
	"go run ./cmd/depositpay mock --webhook-url http://127.0.0.1:9000/hook":     {folder: "cmd/depositpay", test: "TestFlags"},
	"go test ./examples/testing":                                                {folder: "examples/testing", test: "TestPaid"},
	"node --test examples/http/mock.test.mjs":                                   {folder: "examples/http", test: "TestNode"},
	`go -C examples/river run . demo -postgres "$DATABASE_URL"`:                 {folder: "examples/river", test: "TestDemo"},

	"make torture SEED=7 MINUTES=10 DB=postgres": {folder: "internal/torture", test: "TestTorture"}, // a short slice of it
	"make torture": {folder: "internal/torture", test: "TestTorture"},
	"make soak MINUTES=120 DB=both SEED=7 PUBLISH=docs/guarantees.md": {folder: "internal/torture", test: "TestSoak"}, // two seconds of it
	"make soak FROM=out/soak PUBLISH=docs/guarantees.md":              {folder: "internal/torture", test: "TestSoak"},
	"make fmt":   {reason: "it changes files; make lint fails if it would"},
	"make bench": {reason: "it takes minutes and compares speeds, which a busy machine cannot; its parts are built by make lint"},
	"make fuzz":  {reason: "it takes 20 s for each target; make test runs every target on its corpus"},
	"make vuln":  {reason: "it asks a database on the network, whose answer changes without us"},
	"go get github.com/depositpay/depositpay-go": {reason: "it asks for a published version, from another module"},
	"go mod tidy -diff":                          {reason: "a part of make lint, which CI runs"},
	"go run module@version":                      {reason: "a form and not a command"},
	"git clone":                                  {reason: "the word for it, in a sentence"},
}

var (
	command  = regexp.MustCompile(`^(?:go (?:run|test|build|get|install|mod|-C)|make|node|git|curl|cd|npm|docker|psql|DEPOSITPAY_\w+=\S+)\b`)
	inline   = regexp.MustCompile("`([^`\n]+)`")
	indented = regexp.MustCompile(`(?m)^ {4}(\S.*)$`)
)

// TestCommands: every command of a document, wherever it stands, is run by CI or has its
// proof, and no proof is there for nothing.
func TestCommands(t *testing.T) {
	t.Parallel()
	ci := read(t, filepath.Join(repository, ".ci/run"))
	used := map[string]bool{}
	for document, text := range documents(t) {
		for _, said := range commandsOf(text) {
			_, known := commands[said]
			known = known || strings.Contains(ci, "\n"+said+"\n")
			assert.True(t, known, "%s: who runs %q?", document, said)
			used[said] = true
		}
	}
	for said, p := range commands {
		assert.True(t, used[said], "no document says %q any more", said)
		requireProof(t, said, p)
	}
}

// commandsOf are the lines of the sh blocks, and what looks like a command elsewhere.
func commandsOf(text string) (all []string) {
	for _, b := range blocks(text) {
		if b.language == "sh" {
			for line := range strings.Lines(b.text) {
				line, _, _ = strings.Cut(line, " # ") // a remark
				all = append(all, strings.TrimSpace(line))
			}
		}
	}
	rest := fence.ReplaceAllString(text, "")
	for _, pattern := range []*regexp.Regexp{inline, indented} {
		for _, m := range pattern.FindAllStringSubmatch(rest, -1) {
			if command.MatchString(m[1]) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

func requireProof(t *testing.T, said string, p proof) {
	t.Helper()
	if target, ok := strings.CutPrefix(said, "make "); ok {
		target, _, _ = strings.Cut(target, " ")
		require.True(t, strings.Contains(read(t, filepath.Join(repository, "Makefile")), "\n"+target+":"), "no such target: %s", target)
	}
	switch {
	case p.reason != "":
		require.Empty(t, p.folder+p.test, said)
	case strings.HasSuffix(p.test, ".sh"):
		require.Contains(t, read(t, filepath.Join(repository, ".ci/run")), "sh "+p.folder+"/"+p.test+"\n")
		require.Contains(t, read(t, filepath.Join(repository, "README.md")), "<!-- run: "+p.folder+" -->\n```sh\n"+"git clone")
	default:
		files, err := filepath.Glob(filepath.Join(repository, p.folder, "*_test.go"))
		require.NoError(t, err)
		all := ""
		for _, file := range files {
			all += read(t, file)
		}
		assert.True(t, strings.Contains(all, "func "+p.test+"(t *testing.T)"), "%s: there is no %s, which runs %q", p.folder, p.test, said)
	}
}
