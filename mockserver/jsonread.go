package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxFields bounds the fields of one object, so that looking for repeated keys
// stays cheap on hostile bodies.
const maxFields = 100

type field struct{ name, value []byte }

// object is a parsed JSON object whose values are still raw: numbers keep every
// digit, and a field nobody asks for costs nothing.
type object []field

// parseObject reads body as exactly one JSON object. Names are exact
// (encoding/json would match them in any case), and a repeated name is refused,
// because two readers could then see two different payments.
func parseObject(body []byte) (object, *Error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, invalidJSON("the body is empty; send one JSON object")
	}
	if !utf8.Valid(body) {
		return nil, invalidJSON("the body is not UTF-8; send one JSON object encoded as UTF-8")
	}
	if !json.Valid(body) {
		return nil, invalidJSON(describeSyntax(body))
	}
	return splitObject(body)
}

func describeSyntax(body []byte) string {
	var raw json.RawMessage
	err := json.Unmarshal(body, &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "the body is not well-formed JSON; send one JSON object"
	}
	return fmt.Sprintf("the body is not well-formed JSON: %s at byte %d; build it with a JSON encoder "+
		`(a quote inside a text must be written as \")`, syntax.Error(), syntax.Offset)
}

// splitObject finds the fields of one object inside well-formed JSON.
func splitObject(raw []byte) (object, *Error) {
	i := skipSpace(raw, 0)
	if raw[i] != '{' {
		return nil, invalidJSON("one JSON object is expected, as in {\"name\": value}")
	}
	fields := make(object, 0, 8)
	for i = skipSpace(raw, i+1); raw[i] != '}'; i = skipSeparator(raw, i) {
		end := skipValue(raw, i)
		name, err := decodeName(raw[i:end])
		if err != nil {
			return nil, err
		}
		if fields.has(name) {
			return nil, invalidJSON(fmt.Sprintf("the key %.40q occurs twice; send it once", name))
		}
		if len(fields) == maxFields {
			return nil, invalidJSON(fmt.Sprintf("an object has more than %d keys", maxFields))
		}
		i = skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, i)
		fields = append(fields, field{name: name, value: raw[i:end]})
		i = end
	}
	return fields, nil
}

// splitArray finds the elements of one array inside well-formed JSON.
func splitArray(raw []byte) (elements [][]byte, ok bool) {
	if raw[0] != '[' {
		return nil, false
	}
	for i := skipSpace(raw, 1); raw[i] != ']'; {
		end := skipValue(raw, i)
		elements = append(elements, raw[i:end])
		i = skipSeparator(raw, end)
	}
	return elements, true
}

func decodeName(quoted []byte) ([]byte, *Error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	s, ok := decodeString(quoted)
	if !ok {
		return nil, invalidJSON("a key holds an unpaired surrogate escape")
	}
	return []byte(s), nil
}

// decodeString decodes a JSON string. It fails on another type and on an
// unpaired surrogate escape, which encoding/json would silently replace: the
// identifier has to come back verbatim.
func decodeString(raw []byte) (string, bool) {
	if raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	if strings.ContainsRune(s, utf8.RuneError) && !bytes.ContainsRune(raw, utf8.RuneError) &&
		!bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`)) {
		return "", false
	}
	return s, true
}

func (o object) has(name []byte) bool {
	for i := range o {
		if bytes.Equal(o[i].name, name) {
			return true
		}
	}
	return false
}

// get returns the raw value of a field; JSON null counts as absent.
func (o object) get(name string) (raw []byte, ok bool) {
	for i := range o {
		if string(o[i].name) == name {
			return o[i].value, string(o[i].value) != "null"
		}
	}
	return nil, false
}

// text returns an optional text field; path is its full name for messages.
func (o object) text(name, path string) (string, *Error) {
	raw, ok := o.get(name)
	if !ok {
		return "", nil
	}
	s, ok := decodeString(raw)
	if !ok {
		return "", invalidParameter(path, "must be a text (a JSON string of valid Unicode)")
	}
	return s, nil
}

// required returns a text field that must be there and must not be empty.
func (o object) required(name, path string) (string, *Error) {
	s, err := o.text(name, path)
	if err == nil && s == "" {
		err = invalidParameter(path, "is required: send a text that is not empty")
	}
	return s, err
}

// textField names an optional text field and where to put it.
type textField struct {
	name  string
	value *string
}

// texts reads several optional text fields.
func (o object) texts(fields ...textField) (problem *Error) {
	for _, f := range fields {
		if *f.value, problem = o.text(f.name, f.name); problem != nil {
			return problem
		}
	}
	return nil
}

// The walkers below are for well-formed JSON only.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

func skipSeparator(b []byte, i int) int {
	i = skipSpace(b, i)
	if b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipValue(b []byte, i int) int {
	if b[i] == '"' {
		return skipString(b, i)
	}
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
