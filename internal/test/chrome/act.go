package chrome

import (
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click clicks on the middle of an element once it can be seen. Something that lies above
// it gets the click, as with a mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(%s)?.checkVisibility()`, quote(selector)))
	var at struct{ X, Y float64 }
	p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		e.scrollIntoView({ block: "center" });
		const box = e.getBoundingClientRect();
		return { X: box.x + box.width / 2, Y: box.y + box.height / 2 };
	})()`, quote(selector)), &at)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
}

// Submit clicks on something that leads to another page, and waits until that has loaded.
func (p *Page) Submit(selector string) {
	p.t.Helper()
	var marked bool
	p.Eval(`window.leaving = true`, &marked)
	p.Click(selector)
	p.Wait(loaded)
}

// Fill replaces what is in a field, as if typed.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(%s)?.checkVisibility()`, quote(selector)))
	var ready bool
	p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		e.focus();
		e.select();
		return document.activeElement === e;
	})()`, quote(selector)), &ready)
	if !ready {
		p.t.Fatalf("chrome: %s takes no focus", selector)
	}
	if text == "" {
		p.Press(kb.Delete)
		return
	}
	p.do(input.InsertText(text))
}

// Choose chooses the value of a list. A value that is not there fails the test.
func (p *Page) Choose(selector, value string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`document.querySelector(%s)?.checkVisibility()`, quote(selector)))
	var chosen string
	p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		e.value = %s;
		e.dispatchEvent(new Event("input", { bubbles: true }));
		e.dispatchEvent(new Event("change", { bubbles: true }));
		return e.value;
	})()`, quote(selector), quote(value)), &chosen)
	if chosen != value {
		p.t.Fatalf("chrome: %s has no %q to choose", selector, value)
	}
}

// Press presses keys wherever the focus is; package kb of chromedp names the special ones.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}
