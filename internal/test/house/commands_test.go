package house_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// proof names what runs a command of the documents: a test in a folder, or a script that CI
// runs. says is the part of the command that the test or one of its helpers contains. Without
// a test there is a reason.
type proof struct{ folder, test, says, reason string }

// started is the proof of commands that TestGettingStarted takes from the page.
func started(says string) proof {
	return proof{folder: "examples/starter", test: "TestGettingStarted", says: says}
}

// commands are those that documents tell people to run, except those that CI runs.
var commands = map[string]proof{
	"git clone https://github.com/depositpay/depositpay-go && cd depositpay-go": {folder: "internal/test/ci", test: "newcomer.sh"},
	"go run ./examples/quickstart":                                              {folder: "internal/test/ci", test: "newcomer.sh"},
	"go run ./examples/webshop --demo":                                          {folder: "examples/webshop", test: "TestDemo", says: `startDemo(t, "--demo"`},
	"go run ./examples/gameserver --demo":                                       {folder: "examples/gameserver", test: "TestDemo", says: `{"--demo"}`},
	"go run ./examples/gameserver --config gameserver.json":                     {folder: "examples/gameserver", test: "TestServer", says: `"--config", file`},
	"go run ./cmd/depositpay mock":                                              {folder: "cmd/depositpay", test: "TestBinary", says: `"mock", `},
	"go run ./cmd/depositpay mock --webhook-url http://127.0.0.1:9000/hook":     {folder: "cmd/depositpay", test: "TestFlags", says: `"--webhook-url", "http://`},
	"go test ./examples/testing":                                                {folder: "examples/testing", test: "TestPaid", says: "CheckCompletedOnce"},
	"node --test examples/http/mock.test.mjs":                                   {folder: "examples/http", test: "TestNode", says: `node, "--test", "--test-reporter=tap", "mock.test.mjs"`},
	`go -C examples/river run . demo -postgres "$DATABASE_URL"`:                 {folder: "examples/river", test: "TestDemo", says: `"go", "run", ".", "demo", "-postgres"`},

	"DATABASE_URL=postgres://postgres:x@127.0.0.1:5432/postgres DEPOSITPAY_URL=http://127.0.0.1:8080 DEPOSITPAY_CHECKOUT_URL=http://127.0.0.1:8080/pay DEPOSITPAY_TOKEN=test_demo go run ./examples/replicas": {
		folder: "examples/replicas", test: "TestReplicas", says: "run(ctx, listen)", // with these variables
	},

	"cd ..":                 started(`filepath.Dir(clone), "shop"`),
	"mkdir shop && cd shop": started(`"shop")`),
	"go mod init shop":      started(`"go mod init shop\n"`),
	"go get github.com/depositpay/depositpay-go": started(`-replace 'github.com/depositpay/depositpay-go=`), // of this very tree
	"go mod tidy": started("tidy, "),
	"DEPOSITPAY_URL=http://127.0.0.1:8080 DEPOSITPAY_CHECKOUT_URL=http://127.0.0.1:8080/pay DEPOSITPAY_TOKEN=test_demo go run .": started(`"go run .\n"`),
	"go run ./cmd/depositpay mock --webhook-url http://127.0.0.1:9000/hooks/deposit":                                             started("--webhook-url"), // the address; TestFlags has the flag
	"link=$(curl -s -X POST http://127.0.0.1:9000/orders)":                                                                       started(`"link=$("`),
	`echo "the customer pays at $link"`:                                                                                          started(`"link=$("`),
	`curl -X POST "http://127.0.0.1:8080/_mock/payments/${link##*/}/deposit" -d '{"payer":"Kim"}'`:                               started(`"link=$("`),
	"curl http://127.0.0.1:9000/orders":                                                                                          started(`"curl http://127.0.0.1:9000/orders\n"`),

	"make torture SEED=7 MINUTES=10 DB=postgres": {folder: "internal/test/torture", test: "TestTorture", says: "*seed, *length, usual(database)"}, // a short slice of it
	"make torture": {folder: "internal/test/torture", test: "TestTorture", says: "*seed, *length, usual(database)"},
	"make soak MINUTES=120 DB=both SEED=7 PUBLISH=docs/guarantees.md": {folder: "internal/test/torture", test: "TestSoak", says: "2*time.Second"}, // two seconds of it
	"make soak FROM=out/soak PUBLISH=docs/guarantees.md":              {folder: "internal/test/torture", test: "TestSoakPublish", says: ".publish("},
	"make fuzz": {folder: "internal/test/house", test: "TestFuzzCommand", says: `"fuzz"`},

	"make quick": {reason: "what it calls is not run: CI runs the same tests, and more, by make test"},
	"make fmt":   {folder: "internal/test/house", test: "TestMakeTargets", says: `"fmt"`, reason: "what it calls is not run: it changes files; make lint fails if it would"},
	"make bench": {folder: "internal/test/house", test: "TestMakeTargets", says: `"bench"`, reason: "what it calls is not run: it takes minutes and compares speeds, which a busy machine cannot; make lint builds it"},
	"make fresh": {reason: "what it calls is not run: it builds a whole system and runs make test in it"},
	"make vuln":  {folder: "internal/test/house", test: "TestMakeTargets", says: `"vuln"`, reason: "what it calls is not run: it asks a database on the network, whose answer changes without us"},

	"docker run -e POSTGRES_PASSWORD=x -p 127.0.0.1:5432:5432 postgres": {reason: "it downloads an image; TestRiverHint holds it against what the program says"},

	"go run module@version": {reason: "a form and not a command"},
}

var (
	command  = regexp.MustCompile(`^(?:go (?:run|test|build|get|install|mod|-C)|make|node|git|curl|cd|npm|docker|psql|(?:DEPOSITPAY_\w+|DATABASE_URL)=\S+)\b`)
	inline   = regexp.MustCompile("`([^`\n]+)`")
	indented = regexp.MustCompile(`(?m)^ {4}(\S.*)$`)
)

// TestCommands: CI or a test runs every command of a document, and no proof is left over.
func TestCommands(t *testing.T) {
	t.Parallel()
	ci := ciCommands(t)
	used := map[string]bool{}
	for document, text := range documents(t) {
		for _, said := range commandsOf(text) {
			_, known := commands[said]
			assert.True(t, known || ci[said], "%s: nothing runs %q", document, said)
			used[said] = true
		}
	}
	for said, p := range commands {
		assert.True(t, used[said], "no document has %q any more", said)
		assert.False(t, ci[said], "CI runs %q, which needs no other proof", said)
		requireProof(t, said, p)
	}
}

// TestRiverHint: the page and the program name the same database to try.
func TestRiverHint(t *testing.T) {
	t.Parallel()
	page, program := read(t, filepath.Join(repository, "examples/river/README.md")), read(t, filepath.Join(repository, "examples/river/main.go"))
	for _, hint := range []string{"docker run -e POSTGRES_PASSWORD=x -p 127.0.0.1:5432:5432 postgres", "postgres://postgres:x@127.0.0.1:5432/postgres"} {
		require.Contains(t, page, hint)
		require.Contains(t, program, hint)
	}
}

// commandsOf returns the lines of the sh blocks and whatever looks like a command elsewhere.
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
	case p.test == "":
		require.NotEmpty(t, p.reason, said)
	case strings.HasSuffix(p.test, ".sh"):
		require.Contains(t, read(t, filepath.Join(repository, ".ci/run")), "sh "+p.folder+"/"+p.test+"\n")
		require.Contains(t, read(t, filepath.Join(repository, "README.md")), "<!-- run: "+p.folder+" -->\n```sh\n"+"git clone")
	default:
		text, found := testText(t, p.folder, p.test)
		assert.True(t, found, "%s: there is no %s, which runs %q", p.folder, p.test, said)
		assert.NotEmpty(t, p.says, said)
		assert.True(t, strings.Contains(text, p.says), "%s: %s runs %q, but has no %s", p.folder, p.test, said, p.says)
	}
}

// ciCommands are the lines of .ci/run, and those of the make targets that it names.
func ciCommands(t *testing.T) map[string]bool {
	t.Helper()
	makefile := read(t, filepath.Join(repository, "Makefile"))
	all := map[string]bool{}
	for line := range strings.Lines(read(t, filepath.Join(repository, ".ci/run"))) {
		line = strings.TrimSpace(line)
		all[line] = true
		target, isTarget := strings.CutPrefix(line, "make ")
		if !isTarget {
			continue
		}
		_, recipe, found := strings.Cut(makefile, "\n"+target+":")
		require.True(t, found, line)
		_, recipe, _ = strings.Cut(recipe, "\n")
		for line := range strings.Lines(recipe) {
			if !strings.HasPrefix(line, "\t") {
				break
			}
			all[strings.TrimSpace(line)] = true
		}
	}
	return all
}

var (
	function = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)\((?:.*}$|(?s:.*?)^}$)`)
	called   = regexp.MustCompile(`(\w+)\(`)
)

// testText is the text of a test of the folder, with that of the helpers that it calls.
func testText(t *testing.T, folder, test string) (text string, found bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, folder, "*_test.go"))
	require.NoError(t, err)
	bodies := map[string]string{}
	for _, file := range files {
		for _, m := range function.FindAllStringSubmatch(read(t, file), -1) {
			bodies[m[1]] += m[0] // methods of several types may have one name
		}
	}
	_, found = bodies[test]
	for next := []string{test}; len(next) > 0; next = next[1:] {
		body := bodies[next[0]]
		delete(bodies, next[0])
		text += body
		for _, m := range called.FindAllStringSubmatch(body, -1) {
			next = append(next, m[1])
		}
	}
	return text, found
}
