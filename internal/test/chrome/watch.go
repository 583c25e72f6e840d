package chrome

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// watch notes what a page does that it should not do.
type watch struct {
	statuses []int

	mu    sync.Mutex
	hosts []string
	asked []string
	wrong []string
	over  bool
}

// see is called with every event of the page, on the goroutine that reads them.
func (w *watch) see(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			w.note("error on the console: %s", values(e.Args))
		}
	case *runtime.EventExceptionThrown:
		w.note("a script has thrown: %s", exception(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" && !w.expected(e.Entry) {
			w.note("error on the console: %s (%s)", e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		w.note("a dialog has opened: %s", e.Message)
	case *network.EventRequestWillBeSent:
		w.request(e.Request.URL)
	}
}

func exception(e *runtime.ExceptionDetails) string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Exception.Description
	}
	return e.Text
}

func values(args []*runtime.RemoteObject) string {
	var list []string
	for _, a := range args {
		list = append(list, string(a.Value)+a.Description)
	}
	return strings.Join(list, " ")
}

// expected reports whether the test has said that the status would come.
func (w *watch) expected(e *log.Entry) bool {
	return e.Source == "network" && slices.ContainsFunc(w.statuses, func(status int) bool {
		return strings.Contains(e.Text, fmt.Sprintf("status of %d ", status))
	})
}

// request notes what the page asks for. Only what goes out to a host counts.
func (w *watch) request(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, address)
	if !slices.Contains(w.hosts, u.Host) {
		w.wrong = append(w.wrong, "the page has asked another host: "+address)
	}
}

// allow lets the page ask the host of an address.
func (w *watch) allow(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts = append(w.hosts, u.Host)
}

func (w *watch) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

func (w *watch) troubles() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

func (w *watch) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// end stops the noting: a page that is being closed may complain.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}
