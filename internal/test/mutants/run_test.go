package mutants_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestApplies: each mutant still finds what it breaks. It is quick and always runs.
func TestApplies(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, m := range all() {
		newBuild(t, m.pkg, []mutant{m})
		require.False(t, ids[m.id()], "%s: the name occurs twice", m.name)
		ids[m.id()] = true
	}
}

// TestMutants: the named test fails with each mutant and passes without. The mutants that a package
// catches share one test binary, except those that cannot be chosen at run time.
func TestMutants(t *testing.T) {
	t.Parallel()
	if os.Getenv("DEPOSITPAY_MUTANTS") == "" {
		t.Skip("SKIPPED: takes minutes; make mutants runs it, and so does CI")
	}
	postgres := pgtest.Environment + "=" + pgtest.NewCluster(t).DSN("postgres")
	packages := map[string][]mutant{}
	for _, m := range all() {
		packages[m.pkg] = append(packages[m.pkg], m)
	}
	for pkg, mutants := range packages {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			b := newBuild(t, pkg, mutants)
			together := b.compile(t)
			t.Run("unbroken", func(t *testing.T) {
				t.Parallel()
				var tests []string
				for _, m := range mutants {
					tests = append(tests, m.test)
				}
				out, err := run(t, together, pkg, strings.Join(tests, "$|^"), postgres)
				require.NoError(t, err, "%s", out)
				require.NotContains(t, out, "no tests to run")
			})
			for _, m := range mutants {
				t.Run(m.name, func(t *testing.T) {
					t.Parallel()
					program := together
					if !b.together[m.id()] {
						program = newBuild(t, pkg, []mutant{m}).compile(t)
					}
					out, err := run(t, program, pkg, m.test, postgres, chosen+"="+m.id())
					require.Error(t, err, "no test noticed:\n%s", out)
					require.NoError(t, m.caught(out), "%s", out)
				})
			}
		})
	}
}

// build is a test binary with mutants in it.
type build struct {
	pkg string
	// together are the ids of the mutants that can be chosen at run time.
	together map[string]bool
	// replace is go's overlay: files that the compiler reads in place of others.
	replace map[string]string
}

// newBuild writes the files that differ. A single mutant that cannot be chosen at run time is
// written as it is; of several, those that cannot be are left out.
func newBuild(t *testing.T, pkg string, mutants []mutant) *build {
	t.Helper()
	b := &build{pkg, map[string]bool{}, map[string]string{}}
	dir := t.TempDir()
	replace := func(original, code string) {
		if b.replace[original] != "" {
			return // the choice, which several files of a package share
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.go", len(b.replace)))
		require.NoError(t, os.WriteFile(path, []byte(code), 0o600))
		b.replace[original] = path
	}
	sources := map[string]*source{}
	for _, m := range mutants {
		original := filepath.Join(root(t), filepath.FromSlash(m.file))
		s := sources[original]
		if s == nil {
			code, err := os.ReadFile(original)
			require.NoError(t, err)
			s, err = parse(string(code))
			require.NoError(t, err)
			sources[original] = s
		}
		require.Equal(t, 1, strings.Count(s.code, m.from), "%q must occur once in %s", m.from, m.file)
		if s.add(&m) {
			b.together[m.id()] = true
		} else if len(mutants) == 1 {
			replace(original, strings.Replace(s.code, m.from, m.to, 1))
		}
	}
	for original, s := range sources {
		if len(s.mutants) > 0 {
			replace(original, s.String())
			replace(filepath.Join(filepath.Dir(original), "mutantchoice.go"), fmt.Sprintf(choice, s.file.Name.Name))
		}
	}
	return b
}

// compile returns the path of the test binary.
func (b *build) compile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	overlay := filepath.Join(dir, "overlay.json")
	description, err := json.Marshal(map[string]any{"Replace": b.replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, description, 0o600))
	program := filepath.Join(dir, "test.exe")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, "-vet=off", "-ldflags=-s -w", "-overlay", overlay, b.pkg)
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// run returns what the named tests printed. An event that must happen and does not is waited for 4 s.
func run(t *testing.T, program, pkg, tests string, env ...string) (string, error) {
	t.Helper()
	// The timeout is long, since nothing is proved by it: a slow machine has it too.
	cmd := exec.CommandContext(t.Context(), program, "-test.timeout=5m", "-test.run", "^"+tests+"$")
	cmd.Dir = filepath.Join(root(t), filepath.FromSlash(pkg))
	cmd.Env = append(append(os.Environ(), "DEPOSITPAY_TEST_PATIENCE=4s"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return root
}

// id names m in generated code.
func (m *mutant) id() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.name))
	return fmt.Sprintf("Mutant%08x", h.Sum32())
}

// caught looks at the output of a run that failed: the test itself must have noticed the
// break, or have crashed by it.
func (m *mutant) caught(out string) error {
	test, _, _ := strings.Cut(m.test, "$")
	switch {
	case strings.Contains(out, "no tests to run"):
		return fmt.Errorf("there is no %s", m.test)
	case strings.Contains(out, "panic: test timed out"):
		return errors.New("no test noticed: the run ended by its timeout")
	case strings.Contains(out, "--- FAIL: "+test+" ("), strings.Contains("\n"+out, "\npanic: "), strings.Contains("\n"+out, "\nfatal error: "):
		return nil
	}
	return fmt.Errorf("%s did not fail, but something else did", test)
}

// TestCaught: what counts as a catch and what does not.
func TestCaught(t *testing.T) {
	t.Parallel()
	m := &mutant{test: "TestA$/^B"}
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/B (0.01s)\nFAIL\n":             "",
		"panic: no such item [recovered, repanicked]\n\ngoroutine 1\nFAIL\n":         "",
		"slow\npanic: of a goroutine\nFAIL\n":                                        "",
		"fatal error: all goroutines are asleep - deadlock!\nFAIL\n":                 "",
		"panic: test timed out after 5m0s\n\trunning tests:\n\t\tTestA\nFAIL\n":      "timeout",
		"--- FAIL: TestA (9s)\npanic: test timed out after 5m0s\nFAIL\n":             "timeout",
		"--- FAIL: TestAnother (0.01s)\nFAIL\n":                                      "TestA did not fail",
		"goleak: Errors on successful test run: found unexpected goroutines\nFAIL\n": "TestA did not fail",
		"testing: warning: no tests to run\nFAIL\n":                                  "there is no TestA$/^B",
	} {
		err := m.caught(out)
		if want == "" {
			assert.NoError(t, err, out)
		} else {
			assert.ErrorContains(t, err, want, out)
		}
	}
}
