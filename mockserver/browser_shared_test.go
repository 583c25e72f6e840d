package mockserver_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

// shared is the one browser of the package: to start one takes longer than most tests do
// with it. The pages of the tests share nothing, see [chrome.Browser.Open].
var shared struct {
	mu      sync.Mutex
	browser *chrome.Browser
	end     []func()
	wrong   bool // at the end
}

// browser is the shared one, which the first test that asks starts.
func browser(t *testing.T) *chrome.Browser {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.browser == nil {
		shared.browser = chrome.Start(&beginner{TB: t})
	}
	return shared.browser
}

// beginner is the test that starts the browser, which outlives it.
type beginner struct {
	testing.TB
	over bool
}

func (b *beginner) Cleanup(f func()) {
	shared.end = append(shared.end, func() { b.over = true; f() })
}

// Errorf is also called at the very end, when there is no test left that could fail.
func (b *beginner) Errorf(format string, args ...any) {
	if !b.over {
		b.TB.Errorf(format, args...)
		return
	}
	shared.wrong = true
	_, _ = fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// closing is the run of all tests, after which the browser ends as well.
type closing struct{ *testing.M }

func (c closing) Run() int {
	// Who waits for a browser needs no processor. -parallel on the command line counts.
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	code := c.M.Run()
	for _, end := range shared.end {
		end()
	}
	if shared.wrong {
		return 1
	}
	return code
}
