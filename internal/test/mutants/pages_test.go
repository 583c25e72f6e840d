package mutants_test

// pageMutants break what keeps the pages of the mock and of the web shop safe and right. Each is caught
// without a browser.
var pageMutants = []mutant{
	{
		"a double click creates two payments", "examples/webshop/order.go",
		"if err != nil || !claimed {", "if _ = claimed; err != nil {",
		"./examples/webshop", "TestDoubleClick",
	},
	{
		"any password opens the office", "examples/webshop/office.go",
		"[]byte(s.OfficePassword)) == 1 &&", "[]byte(s.OfficePassword)) >= 0 &&",
		"./examples/webshop", "TestOfficeLocked",
	},
	{
		"user input is rendered as markup", "mockserver/internal/web/templates.go",
		`"html/template"`, `"text/template"`,
		"./mockserver", "TestDashHostileForms",
	},
	{
		"other sites act through the visitor's browser", "mockserver/guard.go",
		"if err := origins.Check(r); err != nil {", "if err := origins.Check(r); err != nil && s == nil {",
		"./mockserver", "TestPagesRefuseOtherSites",
	},
	{
		"the pages accept foreign host names", "mockserver/guard.go",
		"!s.cfg.AllowRemote && !localHost(r.Host) {", "!s.cfg.AllowRemote && false {",
		"./mockserver", "TestPagesRefuseForeignHosts",
	},
	{
		"the checkout page is never live", "mockserver/pagecheckout.go",
		"Live: view.Stage != web.StageComplete && view.Stage != web.StageFailed,", "Live: false,",
		"./mockserver", "TestCheckoutStages",
	},
	{
		"a deposit is resolved twice", "mockserver/unmatched.go",
		"f.unmatched = slices.Delete(f.unmatched, i, i+1)\n\tf.changes.note()\n\treturn p, nil", "f.changes.note()\n\treturn p, nil",
		"./mockserver", "TestDashUnmatched",
	},
	{
		"a refused form gives a token back", "mockserver/pagedashform.go",
		`if name != "token" {`, `if name != "" {`,
		"./mockserver", "TestDashRefusals",
	},
	{
		"a filtered list holds payments of other statuses", "mockserver/control_queries.go",
		`if p.status != "" && p.status != status {`, `if p.status == status && p.status == "none" {`,
		"./mockserver", "TestControlLists",
	},
	{
		"another rule is removed than was shown", "mockserver/control_queries.go",
		` || text != "" && p.plan.Rules[place].line() != text {`, " {",
		"./mockserver", "TestDashFaults",
	},
	{
		"the control API answers a field that no document names", "mockserver/control_views.go",
		`json:"completions"`, `json:"completed"`,
		"./mockserver", "TestOpenAPIControlCalls",
	},
	{
		"a webhook goes on after a reset", "mockserver/server_reset.go",
		"d.next, d.status = nil, DeliveryFailed", "d.next = nil",
		"./mockserver", "TestReset",
	},
	{
		"a page of a list begins with the last entry of the page before", "mockserver/control_queries.go",
		"return int(p.before) - 1", "return int(p.before)",
		"./mockserver", "TestControlLists",
	},
	{
		"the checkout page hides that another amount was paid", "mockserver/pagecheckout.go",
		"if due := p.Due(); due > 0 && p.PaidAmount > 0 {", "if due := p.Due(); due < 0 {",
		"./mockserver", "TestCheckoutAmountDiffers",
	},
	{
		"a web page pays through the visitor's browser", "mockserver/http.go",
		"if foreign := refuseCrossSite(s, w, r); foreign != nil {", "if foreign := refuseCrossSite(s, w, r); foreign != nil && s == nil {",
		"./mockserver", "TestEndpointsRefuseOtherSites",
	},
	{
		"a foreign web page can poll by GET", "mockserver/guard.go",
		"problem == nil && len(site) > 0 &&", "problem == nil && len(site) > 0 && r.Method != http.MethodGet &&",
		"./mockserver", "TestEndpointsRefuseOtherSites",
	},
	{
		"the endpoints accept foreign host names", "mockserver/guard.go",
		`if key == "refused.host" && r.Context()`, `if key == "refused.host" || r.Context()`,
		"./mockserver", "TestEndpointsRefuseOtherSites",
	},
	{
		"a host name that begins like the mock's own is accepted", "mockserver/guard.go",
		`strings.HasPrefix(hostport, "127.0.0.1:")`, `strings.HasPrefix(hostport, "127.0.0.1")`,
		"./mockserver", "TestEndpointsRefuseOtherSites",
	},
}
