package wire

import (
	"bytes"
	"regexp"
	"strings"
)

// Trace reports whether a body, or its received part, may hold part of a result. It does not
// if everything that arrived is the beginning of a response without a result, an error of
// the service, or a page or text from a proxy. In doubt it reports true. isResult is that of
// [Read].
func Trace(fragment []byte, isResult func(name string) bool) bool {
	b := Trim(fragment)
	switch {
	case len(b) == 0:
		return false
	case idLike.Match(b):
		return true
	case b[0] != '{' && b[0] != '[':
		return bytes.ContainsFunc(b, isControl) || resultLike.Match(b)
	}
	t := tracer{b: b, isResult: isResult}
	in := inAnswer
	if b[0] == '[' {
		in = inUnknown
	}
	t.value(in, 0)
	if t.at = space(b, t.at); t.at < len(b) {
		return true // something follows, or it is no JSON
	}
	return t.found || t.unexplained && !t.failed
}

var (
	// idLike is the beginning of a UUID, as far as no word, date or number looks like it.
	idLike = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-`)
	// resultLike is a member of a record within a text, however it is quoted.
	resultLike = regexp.MustCompile(`(?i)paid_?amount|verified_ts|(?:"|&quot;|&#34;)(?:id|identifier|method)\\*(?:"|&quot;|&#34;)\s*:`)
)

// isControl reports whether c occurs in no text. The body may be compressed or UTF-16.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

// place is the position of a value in a response.
type place int

const (
	inAnswer  place = iota // a member of the answer, or of an envelope
	inWords                // what the service says of an error
	inResult               // a member of the expected result
	inUnknown              // a member of an object or array that nothing explains
	inOther                // a member of the answer that nothing explains
)

// tracer reads JSON that may end anywhere.
type tracer struct {
	b        []byte
	at       int
	isResult func(string) bool

	found       bool // a part of a result, or what may be one
	unexplained bool // a value that is harmless next to an error; without an error it may be part of a result
	failed      bool // an error of the service has begun
}

// more skips white space and reports whether anything follows.
func (t *tracer) more() bool {
	t.at = space(t.b, t.at)
	return t.at < len(t.b)
}

func (t *tracer) value(in place, depth int) {
	switch {
	case !t.more():
	case depth > 100: // nobody answers so
		t.found = true
	case t.b[t.at] == '{':
		t.object(in, depth)
	case t.b[t.at] == '[':
		t.array(in, depth)
	default:
		end := value(t.b, t.at)
		t.scalar(in, t.b[t.at:end])
		t.at = end
	}
}

// scalar reads a string, number or literal, which may be truncated.
func (t *tracer) scalar(in place, raw []byte) {
	if s := string(raw); s == `"` || s == `""` || strings.HasPrefix("null", s) {
		return // nothing of a value
	}
	switch {
	case in == inResult, in == inUnknown, raw[0] == '"' && resultLike.Match(raw):
		t.found = true
	case in == inAnswer, in == inOther:
		t.unexplained = true
	}
}

func (t *tracer) array(in place, depth int) {
	if in == inAnswer || in == inOther {
		in = inUnknown
	}
	for t.at++; t.more(); {
		switch t.b[t.at] {
		case ']':
			t.at++
			return
		case ',':
			t.at++
		default:
			before := t.at
			if t.value(in, depth+1); t.at == before {
				t.broken()
			}
		}
	}
}

func (t *tracer) object(in place, depth int) {
	if in == inOther {
		in = inUnknown
	}
	for t.at++; t.more(); {
		switch t.b[t.at] {
		case '}':
			t.at++
			return
		case ',':
			t.at++
		case '"':
			t.member(in, depth)
		default:
			t.broken()
		}
	}
}

// broken records that the body is not JSON and may hold anything.
func (t *tracer) broken() { t.found, t.at = true, len(t.b) }

func (t *tracer) member(in place, depth int) {
	end := text(t.b, t.at)
	name, err := String(t.b[t.at:end])
	t.at = end
	if !t.more() { // the name may be cut
		return
	}
	if err != nil || t.b[t.at] != ':' {
		t.broken()
		return
	}
	t.at++
	t.more()
	t.value(t.placeOf(in, name), depth+1)
}

// placeOf returns the position of a member's value and records an error of the service.
func (t *tracer) placeOf(in place, name string) place {
	switch {
	case in == inResult, in == inUnknown:
		return in
	case t.isResult(name):
		return inResult
	case in == inWords:
		return inWords
	}
	raw := t.b[t.at:value(t.b, t.at)]
	switch name {
	case "error":
		t.failed = t.failed || begun(raw) && string(raw) != "false"
		return inWords
	case "code":
		c := strings.ToUpper(strings.Trim(string(raw), `"`))
		t.failed = t.failed || begun(raw) && !prefixOfSuccess(c)
		return inWords
	case "error_msg", "message", "msg", "success":
		return inWords
	case "payment", "data", "result":
		return inAnswer
	}
	return inOther
}

// begun reports whether raw is the beginning of a non-empty value.
func begun(raw []byte) bool {
	switch s := string(raw); s {
	case "", `"`, `""`:
		return false
	default:
		return !strings.HasPrefix("null", s) && !strings.HasPrefix("false", s)
	}
}

// prefixOfSuccess reports whether a truncated code may become one of the success codes.
func prefixOfSuccess(code string) bool {
	for fine := range success {
		if strings.HasPrefix(fine, code) {
			return true
		}
	}
	return false
}
