package chrome

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/mailru/easyjson"
)

// Spoken is something that a screen reader announces.
type Spoken struct{ Role, Name string }

// announced are the roles of landmarks, headings and of what can be acted on.
var announced = []string{
	"main", "navigation", "banner", "contentinfo", "region", "heading", "link", "button", "textbox", "combobox", "radio",
	"checkbox", "DisclosureTriangle", "status", "alert",
}

// tree is the part of the browser's accessibility tree that is read here. cdproto's own types reject what
// a newer browser than theirs says.
type tree struct {
	Nodes []struct {
		Ignored    bool
		Role, Name struct{ Value any }
	}
}

// Spoken is what a screen reader finds on the page, in its order: the landmarks, the
// headings and all that can be acted on, from the browser's own accessibility tree.
func (p *Page) Spoken() []Spoken {
	p.t.Helper()
	var list []Spoken
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		var answer easyjson.RawMessage
		if err := cdp.Execute(ctx, accessibility.CommandGetFullAXTree, nil, &answer); err != nil {
			return err
		}
		var found tree
		if err := json.Unmarshal(answer, &found); err != nil {
			return err
		}
		for _, node := range found.Nodes {
			role, _ := node.Role.Value.(string)
			name, _ := node.Name.Value.(string) // what is no text has no name
			if !node.Ignored && slices.Contains(announced, role) {
				list = append(list, Spoken{Role: role, Name: name})
			}
		}
		return nil
	}))
	return list
}
