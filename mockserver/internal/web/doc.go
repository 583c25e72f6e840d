// Package web renders the pages of the mock service: the checkout page, the game
// store and the dashboard. It knows nothing of the mock server: view models are
// plain structs that the server fills in.
//
// # A page
//
// The file NAME.html is the page NAME. It defines the template "live", which is all
// that changes while the page is open, and, where it wants, "before" (above it, never
// changed), "nav" (at the top of the page) and "head" (more stylesheets and scripts). Files that end in "parts.html" belong to
// every page. A template gets a [View], so the page's own data are under .Data. Pages
// of the dashboard lie in dash*.html, their texts in dashtexts.go.
//
//	web.Render(w, r, web.Page{Name: "checkout", Title: …, Data: web.Checkout{…}, Live: true})
//
// # Functions of the templates
//
//	t "key" …     the text in the visitor's language, arguments as in fmt.Sprintf
//	money 10000   10,000원 or ₩10,000        number 10000   10,000
//	when .At      <time> in UTC              short .Text 80 its first 80 characters
//	local .At     <time> in Korea, for customers
//	running .Now .Rate  the server's clock, which tick.js lets run on
//	wait .Wait    "in 5m", which tick.js counts down    span "5m" 5분 or 5m
//	say .Err, sayEvent .Kind .Text  the server's own words, in the visitor's language
//	dict "A" 1    a map, to hand several things to a template
//	asset "a.css" the path of a stylesheet or a script of this package
//
// parts.html has the templates "user" (any text that somebody typed: isolated, wrapped,
// folded when it is long; use it for all such texts), "field" (a [Field] with its label,
// hint and error), "pager" (a [Pager]), "copy" (a text with a button that copies it) and
// "icon" (an [Icon]).
//
// # Live updates
//
// With Page.Live, live.js listens to the server-sent events of [ChangesPath]. At each it
// fetches the page again with the header X-Fragment, gets the template "live" alone, and
// changes what is different in place. Elements with an id or a data-key are known again
// wherever they stand: give one to the rows of every list. An element with data-keep (and
// an id or data-key), such as a form, is left as it is while it exists in both. Whether a
// <details> is open is the visitor's business. Without scripts Page.Reload makes the browser
// reload the page; do not set it on a page with something to fill in.
//
// # Safety
//
// Nothing is inline, so that the content security policy forbids all that is. The
// browser asks no other host for anything, unless the visitor wants to see the icons,
// whose addresses are the merchant's.
package web
