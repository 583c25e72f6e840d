package chrome

import _ "embed"

//go:embed audit.js
var auditScript string

// Audit fails the test for each thing that shuts somebody out: sideways scrolling, fields
// without labels, buttons and links without names, ids that stand twice or lead nowhere, a
// page without language, title, one main heading or one main part, text with too little
// contrast (WCAG 2.2 AA), and anything inline, which the content security policy forbids.
func (p *Page) Audit() {
	p.t.Helper()
	var found []string
	p.Eval(auditScript, &found)
	for _, trouble := range found {
		p.t.Errorf("chrome: %s: %s", p.URL(), trouble)
	}
}
