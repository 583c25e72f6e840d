package chrome

import (
	_ "embed"
	"strings"
)

//go:embed audit.js
var auditScript string

// Audit fails the test for each thing that shuts somebody out: sideways scrolling, fields
// without labels, buttons and links without names, ids that stand twice or lead nowhere, a
// page without language, title, one main heading or one main part, text with too little
// contrast (WCAG 2.2 AA), and anything inline, which the content security policy forbids.
func (p *Page) Audit() {
	p.t.Helper()
	var found []string
	for found == nil { // a page without scripts may be loading again, and has no style sheet yet
		p.Wait(loaded)
		p.Eval(loaded+" ? "+strings.TrimRight(auditScript, ";\n")+" : null", &found)
	}
	for _, trouble := range found {
		p.t.Errorf("chrome: %s: %s", p.URL(), trouble)
	}
}
