package chrome

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

// Spoken is something that a screen reader announces.
type Spoken struct{ Role, Name string }

// announced are the roles of landmarks, headings and of what can be acted on.
var announced = []string{
	"main", "navigation", "banner", "contentinfo", "region", "heading", "link", "button", "textbox", "combobox", "radio",
	"checkbox", "DisclosureTriangle", "status", "alert",
}

// Spoken is what a screen reader finds on the page, in its order: the landmarks, the
// headings and all that can be acted on, from the browser's own accessibility tree.
func (p *Page) Spoken() []Spoken {
	p.t.Helper()
	var list []Spoken
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		nodes, err := accessibility.GetFullAXTree().Do(ctx)
		if err != nil {
			return err
		}
		for _, node := range nodes {
			if said := (Spoken{Role: spokenText(node.Role), Name: spokenText(node.Name)}); !node.Ignored && slices.Contains(announced, said.Role) {
				list = append(list, said)
			}
		}
		return nil
	}))
	return list
}

func spokenText(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // what is no text has no name
	}
	return text
}
