package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Answer is a decoded response.
type Answer struct {
	// Empty: nothing, null, {} or [] — one of the ways to say "no payment".
	Empty bool
	// Code and Message are set for an error of the service.
	Failed        bool
	Code, Message string
	// Object is the result, out of its envelope; nil if Empty or Failed.
	Object []byte
	// Result reports whether Object has a member of the expected result.
	Result bool
	// Unread reports whether an error is next to an unexplained object or array. If that is a
	// result, the error is wrong.
	Unread bool
	// List is the result of ReadList, an array; nil if Empty or Failed.
	List []byte
}

// ErrContradiction is returned for a body that is a result and an error at once.
var ErrContradiction = errors.New("holds a result and an error at once")

// maxDepth bounds envelopes inside envelopes.
const maxDepth = 3

// Read decodes a body. isResult reports whether a member of that name belongs to the
// expected result; this distinguishes a flat result from an envelope.
func Read(body []byte, isResult func(name string) bool) (Answer, error) {
	body = Trim(body)
	if len(body) == 0 {
		return Answer{Empty: true}, nil
	}
	if !json.Valid(body) {
		return Answer{}, ErrNotJSON
	}
	return read(body, isResult, maxDepth)
}

// ReadList decodes a list: an array, flat or under data, result or banks. An empty response
// is an empty list.
func ReadList(body []byte) (Answer, error) {
	body = Trim(body)
	if len(body) > 0 && body[0] == '[' && json.Valid(body) {
		return Answer{List: body}, nil
	}
	a, err := Read(body, func(string) bool { return false })
	if err != nil || a.Failed || a.Empty {
		return a, err
	}
	for name, raw := range Members(a.Object) {
		if raw[0] == '[' && (name == "data" || name == "result" || name == "banks") {
			return Answer{List: raw}, nil
		}
	}
	return Answer{}, errors.New("not a JSON array")
}

func read(body []byte, isResult func(string) bool, depth int) (Answer, error) {
	if IsNull(body) || hollow(body) {
		return Answer{Empty: true}, nil
	}
	if !IsObject(body) {
		return Answer{}, fmt.Errorf("%w but %s", ErrNotObject, Describe(body))
	}
	t, err := look(body, isResult)
	if err != nil {
		return Answer{}, err
	}
	if !t.result && depth > 0 {
		if a, found, err := t.open(isResult, depth-1); found || err != nil {
			return a, err
		}
	}
	code, message, failed := t.failure()
	switch {
	case t.result && (failed || t.denied()):
		return Answer{}, ErrContradiction
	case failed:
		return Answer{Failed: true, Code: code, Message: message, Unread: t.unread}, nil
	case t.emptyEnvelope && !t.other && !t.unread:
		return Answer{Empty: true}, nil
	}
	return Answer{Object: body, Result: t.result}, nil
}

// hollow reports whether raw is {} or [], with or without white space.
func hollow(raw []byte) bool {
	return len(raw) >= 2 && (raw[0] == '{' || raw[0] == '[') && space(raw, 1) == len(raw)-1
}

// top holds the top-level members of a response.
type top struct {
	result        bool // a member of the expected result
	err           []byte
	errMsg        []byte
	code          []byte
	message       []byte
	success       []byte
	status        bool // a member status
	envelopes     [][]byte
	emptyEnvelope bool
	unread        bool // an object or array that nothing explains
	other         bool // a value that nothing explains
}

// denied reports whether the response rejects the request next to a result: success is
// false, or a flat result without a status has a code other than success.
func (t *top) denied() bool {
	c := scalar(t.code)
	return string(t.success) == "false" || c != "" && !t.status && !success[strings.ToUpper(c)]
}

func look(body []byte, isResult func(string) bool) (top, error) {
	var t top
	for name, raw := range Members(body) {
		var slot *[]byte
		switch name {
		case "error":
			slot = &t.err
		case "error_msg":
			slot = &t.errMsg
		case "code":
			slot = &t.code
		case "message", "msg":
			if t.message == nil {
				t.message = raw
			}
			continue
		case "payment", "data", "result":
			t.envelope(raw)
			continue
		case "success":
			slot = &t.success
		case "status":
			t.status = true // results and errors alike have one
			continue
		default:
			t.member(isResult(name), raw)
			continue
		}
		if *slot != nil {
			return t, fmt.Errorf("member %q occurs twice", name)
		}
		*slot = raw
	}
	return t, nil
}

func (t *top) member(result bool, raw []byte) {
	switch {
	case IsNull(raw), hollow(raw):
	case result:
		t.result = true
	case raw[0] == '{', raw[0] == '[':
		t.unread = true
	default:
		t.other = true
	}
}

func (t *top) envelope(raw []byte) {
	switch {
	case IsNull(raw), hollow(raw):
		t.emptyEnvelope = true
	case IsObject(raw):
		t.envelopes = append(t.envelopes, raw)
	default:
		t.member(false, raw)
	}
}

// open decodes the envelopes. found is false if none holds a result or an error.
func (t *top) open(isResult func(string) bool, depth int) (a Answer, found bool, err error) {
	for _, raw := range t.envelopes {
		inner, err := read(raw, isResult, depth)
		if err != nil {
			return Answer{}, false, err
		}
		switch {
		case inner.Empty:
			t.emptyEnvelope = true
			continue
		case !t.isAnswer(inner, isResult):
			t.unread = true
			continue
		}
		inner.Result = !inner.Failed
		if found {
			return Answer{}, false, errors.New("holds more than one result")
		}
		a, found = inner, true
	}
	if _, _, failed := t.failure(); found && !a.Failed && (failed || t.denied()) {
		return Answer{}, false, ErrContradiction
	}
	return a, found, nil
}

func (t *top) isAnswer(a Answer, isResult func(string) bool) bool {
	if a.Failed {
		return true
	}
	for name, raw := range Members(a.Object) {
		if isResult(name) && !IsNull(raw) {
			return true
		}
	}
	return false
}

// failure reads the error shapes: error as text or object, or a code alone.
func (t *top) failure() (code, message string, failed bool) {
	message = firstText(t.errMsg, t.message)
	switch {
	case IsNull(t.err), string(t.err) == "false", string(t.err) == `""`:
		// A code next to a result is no error, nor is a code that says "fine".
		if c := scalar(t.code); c != "" && !t.result && !success[strings.ToUpper(c)] {
			return c, message, true
		}
		return "", "", false
	case IsObject(t.err):
		return nestedFailure(t.err, message)
	case string(t.err) == "true":
		return scalar(t.code), message, true
	}
	return scalar(t.err), message, true
}

// success are the codes that envelopes use for success.
var success = map[string]bool{"0": true, "200": true, "OK": true, "SUCCESS": true}

func nestedFailure(object []byte, message string) (string, string, bool) {
	var code, kind, text []byte
	for name, raw := range Members(object) {
		switch name {
		case "code":
			code = raw
		case "error", "type", "name":
			kind = raw
		case "error_msg", "message", "msg":
			text = raw
		}
	}
	c := scalar(code)
	if c == "" {
		c = scalar(kind)
	}
	if m := firstText(text); m != "" {
		message = m
	}
	return c, message, true
}

// scalar returns a string or number as text, and "" for anything else.
func scalar(raw []byte) string {
	switch Describe(raw) {
	case "a string":
		s, _ := String(raw)
		return s
	case "a number":
		return string(raw)
	}
	return ""
}

func firstText(raws ...[]byte) string {
	for _, raw := range raws {
		if s := scalar(raw); s != "" {
			return s
		}
	}
	return ""
}
