package mutants_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// run is go test of the named tests, and what it printed. What is built is thrown away, so
// it is built quickly; and what must happen in the end, and does not, is waited for 4 s.
func run(t *testing.T, tests, pkg string, args ...string) (string, error) {
	t.Helper()
	// The timeout is long, since nothing is proved by it: a slow machine has it too.
	args = append([]string{"test", "-count=1", "-vet=off", "-ldflags=-s -w", "-timeout=5m", "-run", "^" + tests + "$"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, pkg)...)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "DEPOSITPAY_TEST_PATIENCE=4s")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// caught looks at the output of a run that failed: the test itself must have noticed the
// break, or have crashed by it.
func (m *mutant) caught(out string) error {
	test, _, _ := strings.Cut(m.test, "$")
	switch {
	case strings.Contains(out, "[build failed]"):
		return errors.New("it does not compile")
	case strings.Contains(out, "no tests to run"):
		return fmt.Errorf("there is no %s", m.test)
	case strings.Contains(out, "panic: test timed out"):
		return errors.New("no test noticed: the run ended by its timeout")
	case strings.Contains(out, "--- FAIL: "+test+" ("), strings.Contains("\n"+out, "\npanic: "), strings.Contains("\n"+out, "\nfatal error: "):
		return nil
	}
	return fmt.Errorf("%s did not fail, but something else did", test)
}

// TestCaught: what counts as a catch, and what does not.
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
		"FAIL\tm/p [build failed]\nFAIL\n":                                           "compile",
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
