// Package redact takes application tokens out of text of any kind.
package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
)

// redacted replaces a token.
const redacted = "[REDACTED]"

// Tokens takes tokens out of text of any kind: paths, queries, JSON, and JSON
// that is malformed or cut off. It never parses, because the text may be wrong in any
// way; it resolves the escapes, looks for tokens, and cuts what matches out of the
// original.
//
// The list is swapped as a whole, so that texts are read while tokens are added. The zero
// Tokens knows none.
type Tokens struct{ list atomic.Pointer[[]string] }

// maxKnown bounds the tokens; the oldest are forgotten.
const maxKnown = 200

// Know adds a token, once. Calls must not overlap.
func (r *Tokens) Know(token string) {
	if slices.Contains(r.known(), token) {
		return
	}
	tokens := append(slices.Clone(r.known()), token)
	tokens = tokens[max(0, len(tokens)-maxKnown):]
	r.list.Store(&tokens)
}

func (r *Tokens) known() []string {
	if tokens := r.list.Load(); tokens != nil {
		return *tokens
	}
	return nil
}

// unit is one decoded byte and the place in the original that it came from.
type unit struct {
	c          byte
	escaped    bool
	start, end int
}

// maxDecodings is how many layers of escapes are looked through.
const maxDecodings = 3

// Redact replaces every known token, and the value of every field or parameter called
// token.
func (r *Tokens) Redact(text string) string {
	if text == "" {
		return ""
	}
	return cutHidden(text, r.find(text))
}

// lookahead is how far past its end First looks for the rest of a token.
const lookahead = 4 << 10

// First is Redact for the first n bytes of a text: it knows a token across their end by
// what follows. The result is valid UTF-8.
func (r *Tokens) First(text string, n int) string {
	text = text[:min(len(text), n+lookahead)]
	n = min(n, len(text))
	return strings.ToValidUTF8(cutHidden(text[:n], r.find(text)[:n]), "\ufffd")
}

// find reports for each byte of a text whether it must be hidden.
func (r *Tokens) find(text string) []bool {
	units := plainUnits(text)
	hidden := make([]bool, len(text))
	for layer := 0; ; layer++ {
		r.hideTokens(units, hidden)
		hideTokenFields(units, hidden)
		next := decodeUnits(units)
		if layer == maxDecodings || len(next) == len(units) {
			break
		}
		units = next
	}
	return hidden
}

func cutHidden(text string, hidden []bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}

func plainUnits(text string) []unit {
	units := make([]unit, len(text))
	for i := range units {
		units[i] = unit{c: text[i], start: i, end: i + 1}
	}
	return units
}

// decodeUnits resolves one layer of percent-encoding and JSON escapes.
func decodeUnits(in []unit) []unit {
	out := make([]unit, 0, len(in))
	for i := 0; i < len(in); {
		c, n := decodeAt(in[i:])
		escaped := n > 1 || in[i].escaped
		out = append(out, unit{c: c, escaped: escaped, start: in[i].start, end: in[i+n-1].end})
		i += n
	}
	return out
}

func decodeAt(u []unit) (c byte, n int) {
	switch {
	case u[0].c == '%' && len(u) >= 3:
		if hi, lo := unhex(u[1].c), unhex(u[2].c); hi < 16 && lo < 16 {
			return hi<<4 | lo, 3
		}
	case u[0].c == '\\' && len(u) >= 6 && (u[1].c == 'u' || u[1].c == 'U'):
		var digits [4]byte
		for i := range digits {
			if digits[i] = unhex(u[2+i].c); digits[i] > 15 {
				return u[0].c, 1
			}
		}
		if digits[0] != 0 || digits[1] != 0 {
			return 0xff, 6 // not ASCII, so no part of a token
		}
		return digits[2]<<4 | digits[3], 6
	case u[0].c == '\\' && len(u) >= 2 && strings.IndexByte(`"\/`, u[1].c) >= 0:
		return u[1].c, 2
	}
	return u[0].c, 1
}

// unhex is the value of a hexadecimal digit, 0xff for anything else.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	default:
		return 0xff
	}
}

func hide(units []unit, hidden []bool) {
	for _, u := range units {
		for i := u.start; i < u.end; i++ {
			hidden[i] = true
		}
	}
}

// hideTokens hides every occurrence of a known token.
func (r *Tokens) hideTokens(units []unit, hidden []bool) {
	text := make([]byte, len(units))
	for i, u := range units {
		text[i] = u.c
	}
	for _, token := range r.known() {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(token))
			if i < 0 {
				break
			}
			hide(units[from+i:from+i+len(token)], hidden)
			from += i + 1
		}
	}
}

// hideTokenFields hides the value of every field or parameter called token,
// known or not: a live token may have been sent to the mock by mistake.
func hideTokenFields(units []unit, hidden []bool) {
	const name = "token"
	for i := 0; i+len(name) < len(units); i++ {
		if !nameAt(units[i:], name) || i > 0 && isNameByte(units[i-1].c) {
			continue
		}
		if from, to := valueAfter(units, i+len(name)); from < to {
			hide(units[from:to], hidden)
			i = to - 1
		}
	}
}

func nameAt(u []unit, name string) bool {
	for i := range len(name) {
		if u[i].c|0x20 != name[i] {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// valueAfter finds the value that follows a name: a closing quote, ":" or "=",
// then a quoted text or a bare word. A text without its closing quote reaches to
// the end, as after a cut.
func valueAfter(u []unit, i int) (from, to int) {
	i = skipUnits(u, i, "\"'")
	i = skipUnits(u, i, " \t\r\n")
	sign := i
	if i = skipUnits(u, i, ":="); i == sign {
		return 0, 0
	}
	i = skipUnits(u, i, " \t\r\n")
	if i == len(u) {
		return 0, 0
	}
	if quote := u[i]; quote.c == '"' || quote.c == '\'' {
		return i + 1, closingQuote(u, i+1, quote)
	}
	if u[i].c == '{' || u[i].c == '[' {
		return i, closingBracket(u, i)
	}
	from = i
	for i < len(u) && (u[i].escaped || strings.IndexByte(",;&}] \t\r\n", u[i].c) < 0) {
		i++
	}
	return from, i
}

// closingQuote finds the quote that ends a text: one that is escaped no more than
// the opening one. Before its escapes are resolved, a text may seem to end too
// early; the next layer then finds the rest.
func closingQuote(u []unit, i int, quote unit) int {
	for ; i < len(u); i++ {
		if u[i].c == quote.c && u[i].escaped == quote.escaped {
			return i
		}
	}
	return i
}

// closingBracket finds the end of an object or an array.
func closingBracket(u []unit, i int) int {
	for depth := 0; i < len(u); i++ {
		switch u[i].c {
		case '"':
			i = closingQuote(u, i+1, u[i])
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(u)
}

func skipUnits(u []unit, i int, set string) int {
	for i < len(u) && strings.IndexByte(set, u[i].c) >= 0 {
		i++
	}
	return i
}
