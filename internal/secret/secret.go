// Package secret removes an API token from everything that a person or a log may see. It
// searches for the token's value, because the token is in the query of one call and in the
// body of another, and a broken service may echo either. It finds every spelling:
// percent-encoded, escaped as in JSON, and quoted again by whatever printed it.
package secret

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
)

// Mask replaces a token.
const Mask = "[redacted]"

// kept is the number of tokens that a Redactor remembers. A replaced token is still secret,
// so the bound is far above the number of tokens that are valid at once.
const kept = 64

// Redactor replaces the last 64 added tokens, in all their spellings, by Mask. The zero
// value and a nil *Redactor change nothing. It is safe for concurrent use.
type Redactor struct {
	tokens atomic.Pointer[[]*pattern] // the longest first, never changed
	newest atomic.Pointer[pattern]
	mu     sync.Mutex // of Add
	added  uint64
}

// pattern finds one token. It holds the token in functions, which no verb of fmt prints.
type pattern struct {
	is     func(token string) bool
	expr   func() *regexp.Regexp // compiled when the first text is searched: it is large
	length int                   // no spelling is shorter
	used   uint64                // when it was added last, in the order of the calls
}

// NewRedactor returns a Redactor for token. An empty token is ignored.
func NewRedactor(token string) *Redactor {
	r := &Redactor{}
	r.Add(token)
	return r
}

// Add makes r redact token too. Beyond 64 tokens it forgets the least recently added one.
func (r *Redactor) Add(token string) {
	if token == "" {
		return
	}
	if last := r.newest.Load(); last != nil && last.is(token) {
		return // the usual case
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added++
	known := slices.DeleteFunc(slices.Clone(r.patterns()), func(p *pattern) bool { return p.is(token) })
	if len(known) >= kept {
		oldest := slices.MinFunc(known, func(a, b *pattern) int { return cmp.Compare(a.used, b.used) })
		known = slices.DeleteFunc(known, func(p *pattern) bool { return p == oldest })
	}
	fresh := newPattern(token, r.added)
	known = append(known, fresh)
	// A token may be the beginning of another one, whose rest must not stay.
	slices.SortFunc(known, func(a, b *pattern) int { return b.length - a.length })
	r.tokens.Store(&known)
	r.newest.Store(fresh)
}

func (r *Redactor) patterns() []*pattern {
	if r == nil {
		return nil
	}
	if all := r.tokens.Load(); all != nil {
		return *all
	}
	return nil
}

func newPattern(token string, used uint64) *pattern {
	return &pattern{
		is: func(other string) bool { return other == token },
		expr: sync.OnceValue(func() *regexp.Regexp {
			var text strings.Builder
			for _, r := range token {
				text.WriteString(spellings(r))
			}
			return regexp.MustCompile(text.String())
		}),
		length: len(token), used: used,
	}
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

// String returns s without the tokens.
func (r *Redactor) String(s string) string {
	for _, p := range r.patterns() {
		if len(s) >= p.length {
			s = p.expr().ReplaceAllLiteralString(s, Mask)
		}
	}
	return s
}

// Bytes returns b without the tokens: b itself where it holds none.
func (r *Redactor) Bytes(b []byte) []byte {
	for _, p := range r.patterns() {
		if len(b) >= p.length && p.expr().Match(b) {
			b = p.expr().ReplaceAllLiteral(b, []byte(Mask))
		}
	}
	return b
}
