package chrome

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Page is one page of a browser. Its methods are for one goroutine; elements are named by
// CSS selectors, the first that matches counts.
type Page struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // chromedp keeps its state in one
	options Options
	watch   watch
}

func (p *Page) do(step chromedp.Action) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, Patience)
	defer stop()
	if err := chromedp.Run(ctx, step); err != nil {
		p.t.Fatalf("chrome: %v\n%s", err, p.state())
	}
}

// state is what a failure shows of the page.
func (p *Page) state() string {
	var text, where string
	_ = evaluate(p.ctx, `document.body ? document.body.innerText.slice(0, 3000) : ""`, &text)
	_ = evaluate(p.ctx, `location.href`, &where)
	return "at " + where + " the page says:\n" + text
}

// Go opens an address. From then on the page may ask its host for more.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.watch.allow(address)
	var marked bool
	p.Eval(`window.leaving = true`, &marked)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, failure, err := page.Navigate(address).Do(ctx)
		if err == nil && failure != "" {
			err = fmt.Errorf("%s: %s", address, failure)
		}
		return err
	}))
	p.Wait(loaded)
}

// loaded is true on a page that has followed a marked one.
const loaded = `!window.leaving && document.readyState === "complete"`

// Eval runs an expression in the page and decodes its value into out.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	if err := evaluate(p.ctx, expression, out); err != nil {
		p.t.Fatalf("chrome: %s: %v\n%s", expression, err, p.state())
	}
}

func evaluate(ctx context.Context, expression string, out any) error {
	limited, stop := context.WithTimeout(ctx, Patience)
	defer stop()
	return chromedp.Run(limited, chromedp.ActionFunc(func(ctx context.Context) error {
		result, thrown, err := runtime.Evaluate(expression).WithReturnByValue(true).WithAwaitPromise(true).Do(ctx)
		switch {
		case err != nil:
			return err
		case thrown != nil:
			return fmt.Errorf("it has thrown: %s", exception(thrown))
		case len(result.Value) == 0:
			return fmt.Errorf("it is %s, which has no value", result.Type)
		}
		return json.Unmarshal(result.Value, out)
	}))
}

// Wait waits until an expression is true, on this page or on one that follows.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	if err := p.wait(expression); err != nil {
		p.t.Fatalf("chrome: never true: %s (%v)\n%s", expression, err, p.state())
	}
}

func (p *Page) wait(expression string) error {
	limited, stop := context.WithTimeout(p.ctx, Patience)
	defer stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var true_ bool
		err := evaluate(limited, `!!(`+expression+`)`, &true_)
		if err == nil && true_ {
			return nil
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			return err // the last one: a page that is being left has none
		}
	}
}

// WaitText waits until an element shows a text.
func (p *Page) WaitText(selector, text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`[...document.querySelectorAll(%s)].some((e) => e.innerText.includes(%s))`, quote(selector), quote(text)))
}

// Text is the text of an element as people see it.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	var text string
	p.Eval(fmt.Sprintf(`document.querySelector(%s).innerText`, quote(selector)), &text)
	return text
}

// Has reports whether there is such an element.
func (p *Page) Has(selector string) bool {
	p.t.Helper()
	var has bool
	p.Eval(fmt.Sprintf(`document.querySelector(%s) !== null`, quote(selector)), &has)
	return has
}

// URL is where the page is.
func (p *Page) URL() string {
	p.t.Helper()
	var where string
	p.Eval(`location.href`, &where)
	return where
}

// Requests are the addresses that the page has asked for, in their order.
func (p *Page) Requests() []string { return p.watch.requests() }

// settle leaves the page for an empty one, so that all it has to say is said.
func (p *Page) settle() {
	if p.ctx.Err() == nil {
		var ignored bool
		_ = evaluate(p.ctx, "true", &ignored) // its answer comes after all events up to now
	}
	p.watch.end()
}

func quote(text string) string {
	out, _ := json.Marshal(text) // a text always can be
	return string(out)
}
