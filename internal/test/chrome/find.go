package chrome

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Environment is the variable with the path of a browser.
const Environment = "DEPOSITPAY_TEST_CHROME"

// errNoBrowser is what find says when there is none.
var errNoBrowser = errors.New("neither on PATH nor in the usual folders is there a Chromium or Chrome")

var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// usual are programs that packages do not put on PATH.
var usual = []string{
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	filepath.Join(os.Getenv("ProgramFiles"), `Google\Chrome\Application\chrome.exe`),
}

// program finds the browser, once for all tests of the process, and installs it where
// that may be done.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(Environment); path != "" {
		return path, nil
	}
	path, err := find(names, usual)
	if errors.Is(err, errNoBrowser) {
		return install(err)
	}
	return path, err
})

// find looks for the first of the names on PATH, then for one of the programs.
func find(names, programs []string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	for _, path := range programs {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// missing ends the test: with a failure in CI, and elsewhere
// with a skip that is hard to overlook.
func missing(t testing.TB, loud io.Writer, err error) {
	t.Helper()
	message := fmt.Sprintf("no browser: %v; install Chromium (Debian: apt-get install chromium; macOS: brew install --cask chromium), or set %s to the program", err, Environment)
	if os.Getenv("CI") != "" {
		t.Fatal("chrome: this must run in CI: " + message)
	}
	_, _ = fmt.Fprintln(loud, "chrome: SKIPPED: "+message)
	t.Skip("SKIPPED: " + message)
}
