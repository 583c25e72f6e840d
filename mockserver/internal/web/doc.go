// Package web renders the pages of the mock service: the checkout page, the game store and
// the dashboard. It does not know the mock server. The pages of the dashboard show the
// values of the control API; the other pages have plain structs that the server fills in.
//
// # A page
//
// The file NAME.html is the page NAME. It defines the template "live", the part that
// changes while the page is open. It may define "before" (above "live", never changed),
// "nav" (at the top of the page) and "head" (more stylesheets and scripts). Files that end
// in "parts.html" belong to every page. A template gets a [View]; the page's own data are
// under .Data. The pages of the dashboard are in dash*.html, their texts in dashtexts*.go.
//
//	web.Render(w, r, lang, web.Page{Name: "checkout", Title: …, Data: web.Checkout{…}, Live: true})
//
// # Functions of the templates
//
//	t "key" …     the text in the visitor's language, arguments as in fmt.Sprintf
//	money 10000   10,000원 or ₩10,000        number 10000   10,000
//	when .At      <time> in UTC              short .Text 80 its first 80 characters
//	local .At     <time> in Korea, for customers
//	running .Now .Rate  the server's clock, which tick.js advances
//	wait .Wait    "in 5m", which tick.js counts down    span "5m" 5분 or 5m
//	say .Err, sayEvent .Kind .Text  the server's sentences in the visitor's language
//	dict "A" 1    a map, to pass several values to a template
//	asset "a.css" the path of a stylesheet or a script of this package
//
// parts.html has the templates "user" (a text that a person typed: isolated, wrapped and, if
// long, folded; use it for all such texts), "field" (a [Field] with its label, hint and
// error), "pager" (a [Pager]), "copy" (a text with a button that copies it) and "icon" (an
// [Icon]).
//
// # Live updates
//
// With Page.Live, live.js listens to the server-sent events of [ChangesPath]. At each event
// it fetches the page with the header X-Fragment, gets only the template "live", and updates
// what differs. Elements are matched by id or data-key: give one to the rows of every list.
// An element with data-keep (and an id or data-key), such as a form, stays as it is while
// it exists in both. The visitor decides whether a <details> is open. Without scripts,
// Page.Reload makes the browser reload the page; do not set it on a page with a form.
//
// # Safety
//
// There are no inline scripts and styles; the content security policy forbids them. The
// browser contacts no other host, unless the visitor asks for the icons, whose addresses
// come from the merchant.
package web
