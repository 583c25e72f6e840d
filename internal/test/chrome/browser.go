package chrome

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Patience is after how long a wait gives up. It is there to end a test that hangs, not
// to judge how fast anything is.
const Patience = time.Minute

// Browser is one process with a profile of its own.
type Browser struct{ ctx context.Context } //nolint:containedctx // chromedp keeps its state in one

// Start starts a browser for the test, which ends with the test. Without a browser on
// the machine the test is skipped, or fails in CI.
func Start(t testing.TB) *Browser {
	t.Helper()
	if os.Getenv("DEPOSITPAY_TEST_QUICK") != "" {
		t.Skip("SKIPPED: make quick runs without a browser")
	}
	path, err := program()
	if err != nil {
		missing(t, os.Stderr, err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.Flag("no-proxy-server", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("hide-scrollbars", false),
	)
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {})) // events that it does not know yet are no failure
	t.Cleanup(func() {
		limited, stop := context.WithTimeout(ctx, Patience)
		defer stop()
		if err := chromedp.Cancel(limited); err != nil {
			t.Errorf("chrome: the browser did not end well: %v", err)
		}
		free()
	})
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("chrome: %s does not start: %v", path, err)
	}
	return &Browser{ctx: ctx}
}

// Options are what a page is opened with.
type Options struct {
	// Lang is the Accept-Language. Default: "en".
	Lang string
	// Width and Height are those of the window in CSS pixels. Default: 1000 by 800.
	Width, Height int64
	// NoScript turns the scripts of the page off.
	NoScript bool
	// Dark prefers a dark page.
	Dark bool
	// Statuses are HTTP statuses from 400 on that the test expects; the browser reports
	// them as errors.
	Statuses []int
}

// Open opens an empty page, which shares cookies with no other one. It ends with the
// test, and then says what went wrong in it.
func (b *Browser) Open(t testing.TB, o Options) *Page {
	t.Helper()
	p := &Page{t: t, options: o, watch: watch{statuses: o.Statuses}}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	chromedp.ListenTarget(ctx, p.watch.see)
	p.ctx = ctx
	t.Cleanup(func() {
		p.settle()
		cancel()
		for _, trouble := range p.watch.troubles() {
			t.Errorf("chrome: %s", trouble)
		}
	})
	if err := chromedp.Run(ctx); err != nil { // without a deadline, which would be that of the page
		t.Fatalf("chrome: the page does not open: %v", err)
	}
	p.do(o.apply())
	return p
}

func (o Options) apply() chromedp.Action {
	if o.Lang == "" {
		o.Lang = "en"
	}
	if o.Width == 0 {
		o.Width, o.Height = 1000, 800
	}
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	return chromedp.Tasks{
		network.Enable(),
		network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": o.Lang}),
		emulation.SetDeviceMetricsOverride(o.Width, o.Height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		emulation.SetScriptExecutionDisabled(o.NoScript),
	}
}
