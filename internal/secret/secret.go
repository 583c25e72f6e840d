// Package secret removes an API token from everything that a person or a log may
// come to see.
//
// Names are no help: the token is in the query of one call and in the body of
// another, and a broken peer may echo either. So the value is searched for, in every
// spelling that it takes on the way: percent-encoded, escaped as in JSON, and quoted
// again by whatever printed it.
package secret

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
)

// Mask is what stands where a token stood.
const Mask = "[redacted]"

// Redactor replaces one token, in all its spellings, by Mask. The zero value and a
// nil *Redactor change nothing. It is safe for concurrent use.
type Redactor struct{ token *regexp.Regexp }

// NewRedactor makes a Redactor for token. An empty token gives one that changes nothing.
func NewRedactor(token string) *Redactor {
	if token == "" {
		return &Redactor{}
	}
	var pattern strings.Builder
	for _, r := range token {
		pattern.WriteString(spellings(r))
	}
	return &Redactor{token: regexp.MustCompile(pattern.String())}
}

// spellings matches one character of the token as it is, behind any number of
// backslashes (quoted again and again), percent-encoded (again and again), or as an
// escape of JSON or Go.
func spellings(r rune) string {
	percent, hex := "", ""
	for _, b := range []byte(string(r)) {
		percent += fmt.Sprintf(`%%(?:25)*(?i:%02x)`, b)
		hex += fmt.Sprintf(`\\+x(?i:%02x)`, b)
	}
	unicode := fmt.Sprintf(`\\+u(?i:%04x)`, r)
	if high, low := utf16.EncodeRune(r); high != '\uFFFD' {
		unicode = fmt.Sprintf(`\\+u(?i:%04x)\\+u(?i:%04x)`, high, low)
	}
	return fmt.Sprintf(`(?:\\*%s|%s|%s|%s|\\+U(?i:%08x))`, regexp.QuoteMeta(string(r)), percent, unicode, hex, r)
}

// String returns s without the token.
func (r *Redactor) String(s string) string {
	if r == nil || r.token == nil || s == "" {
		return s
	}
	return r.token.ReplaceAllLiteralString(s, Mask)
}

// Bytes returns b without the token: b itself where it holds none.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil || r.token == nil || !r.token.Match(b) {
		return b
	}
	return r.token.ReplaceAllLiteral(b, []byte(Mask))
}
