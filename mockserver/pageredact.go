package mockserver

import (
	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// hideKnown takes the tokens of applications out of a text for customers, in whatever
// way they are escaped there. Unlike redact it leaves alone what only looks like a field
// called token: a game may sell tokens.
func (l *requestLog) hideKnown(text string) string { return l.tokens.Known(text) }

// holdsToken reports whether a text holds the token of an application.
func (l *requestLog) holdsToken(text string) bool { return l.hideKnown(text) != text }

// hide is hideKnown for what a page shows.
func (v *visit) hide(text string) string { return v.server.log.hideKnown(text) }

// hideField takes tokens out of what was typed into a field and comes back in it.
func (v *visit) hideField(f web.Field) web.Field {
	f.Value = v.hide(f.Value)
	return f
}

// withoutTokens forgets those query parameters that hold a token: they would come back in
// the links of the page, and so in the history of the browser once more.
func (v *visit) withoutTokens() {
	query := v.URL.Query()
	if !v.server.log.holdsToken(v.URL.RawQuery) {
		return
	}
	for name, values := range query {
		for _, value := range append(values, name) {
			if v.server.log.holdsToken(value) {
				query.Del(name)
			}
		}
	}
	clean := *v.URL
	clean.RawQuery = query.Encode()
	v.Request = v.Clone(v.Context())
	v.URL = &clean
}

// keepHidden is what a field stands for that came back as it was shown: what it was, if
// that was shown without its tokens.
func (l *requestLog) keepHidden(typed, old string) string {
	if typed == l.hideKnown(old) {
		return old
	}
	return typed
}

// elsewhere is the address that a page is shown under whose own holds a token, else "".
func (v *visit) elsewhere() string {
	if v.server.log.holdsToken(v.URL.Path) {
		return dashRoot
	}
	return ""
}
