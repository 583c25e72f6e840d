package chrome_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
)

const tick = 20 * time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sufferer is a test that collects its failures.
type sufferer struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (s *sufferer) Helper()          {}
func (s *sufferer) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }
func (s *sufferer) Errorf(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *sufferer) end() string {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
	return strings.Join(s.said, "\n")
}

// serve answers every path with a page around the body.
func serve(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/teapot" {
			w.WriteHeader(http.StatusTeapot)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>t</title><link rel="icon" href="data:,"><main><h1>%s</h1>%s</main>`, r.Header.Get("Accept-Language"), body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestPageTells: a page that does what it should not do fails its test.
func TestPageTells(t *testing.T) {
	t.Parallel()
	browser := chrome.Start(t)
	for body, want := range map[string]string{
		`<p>fine</p>`: "",
		`<script>console.error("oh", 7)</script>`:                        `error on the console: "oh" 7`,
		`<script>throw new Error("broken")</script>`:                     "broken",
		`<img src="http://other.example/a.png" alt="">`:                  "asked another host: http://other.example/a.png",
		`<img src="http://127.0.0.1:1/a.png" alt="">`:                    "asked another host: http://127.0.0.1:1/a.png",
		`<script>Promise.reject(new Error("late"))</script>`:             "late",
		`<script>fetch("/teapot").then((r) => r.text())</script>`:        "status of 418",
		`<script>window.onload = () => setTimeout(fetch, 0)</script>`:    "1 argument required",
		`<script src="data:text/javascript,console.assert(0)"></script>`: "error on the console",
	} {
		suffering := &sufferer{TB: t}
		page := browser.Open(suffering, chrome.Options{})
		page.Go(serve(t, body))
		if want != "" {
			require.Eventually(t, func() bool { return page.Troubled() }, chrome.Patience, tick, body)
		}
		said := suffering.end()
		if want == "" {
			assert.Empty(t, said, body)
		}
		assert.Contains(t, said, want, body)
	}
	expecting := &sufferer{TB: t}
	page := browser.Open(expecting, chrome.Options{Statuses: []int{418}})
	page.Go(serve(t, "") + "/teapot")
	assert.Empty(t, expecting.end())
}

// TestAuditTells: each thing that shuts somebody out is told.
func TestAuditTells(t *testing.T) {
	t.Parallel()
	browser := chrome.Start(t)
	for body, want := range map[string]string{
		`<label for="a">A</label><input id="a"><button>b</button>`: "",
		`<input>`:                    "has no label",
		`<button></button>`:          "has no name",
		`<a href="/x"></a>`:          "has no name",
		`<img src="data:,">`:         "an image has no alt",
		`<h1>again</h1>`:             "2 <h1>",
		`<p id="x"></p><p id="x">`:   "the id x stands twice",
		`<label for="no">A</label>`:  "names no, which is not there",
		`<p style="width:2000px">w`:  "scrolls sideways",
		`<p style="color:#888">grey`: "contrast 3.54",
	} {
		suffering := &sufferer{TB: t}
		page := browser.Open(suffering, chrome.Options{Width: 360, Height: 700})
		page.Go(serve(t, body))
		page.Audit()
		said := suffering.end()
		if want == "" {
			assert.Empty(t, said, body)
		}
		assert.Contains(t, said, want, body)
	}
}

// TestPageActs: what a person does, and what the options make of a page.
func TestPageActs(t *testing.T) {
	t.Parallel()
	address := serve(t, `<form action="/next"><label>n <input id="n" name="n" value="old"></label>
		<label>s <select id="s" name="s"><option>a<option>b</select></label><button id="go">go</button></form>
		<noscript>no scripts</noscript><script>document.body.append("scripts")</script>`)
	browser := chrome.Start(t)
	page := browser.Open(t, chrome.Options{Lang: "ko", Width: 400, Height: 300, Dark: true})
	page.Go(address)
	assert.Equal(t, "ko", page.Text("h1"))
	page.WaitText("body", "scripts")
	var size []int
	page.Eval(`[innerWidth, innerHeight, +matchMedia("(prefers-color-scheme: dark)").matches]`, &size)
	assert.Equal(t, []int{400, 300, 1}, size)
	page.Fill("#n", "이름 & 👍")
	page.Choose("#s", "b")
	page.Submit("#go")
	assert.True(t, strings.HasSuffix(page.URL(), "/next?n=%EC%9D%B4%EB%A6%84+%26+%F0%9F%91%8D&s=b"), page.URL())
	assert.Len(t, page.Requests(), 2)
	page.Fill("#n", "")
	page.Press("x")
	var value string
	page.Eval(`document.querySelector("#n").value`, &value)
	assert.Equal(t, "x", value)
	assert.True(t, page.Has("form"))
	assert.False(t, page.Has("table"))

	page = browser.Open(t, chrome.Options{NoScript: true})
	page.Go(address)
	assert.Contains(t, page.Text("body"), "no scripts")
}
