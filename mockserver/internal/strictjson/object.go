// Package strictjson reads JSON objects as strictly as a payment needs, and writes JSON
// by hand where an answer is hot.
package strictjson

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

// Problem is why a value is refused.
type Problem struct {
	// Field is the full name of the field, as in "items[0].price"; empty when the text
	// is not one well-formed JSON object.
	Field string
	// Message says what is wrong and what to send.
	Message string
}

func malformed(message string) *Problem { return &Problem{Message: message} }

// Field is one member of an [Object], with its value as raw JSON.
type Field struct {
	Name, Value []byte
}

// Object is a parsed JSON object whose values are still raw: numbers keep every
// digit, and a field that nobody asks for costs nothing.
type Object []Field

// Parse reads body as exactly one JSON object. Names are exact (encoding/json matches
// them in any case), and a repeated name is refused, because two readers could then see
// two different payments.
func Parse(body []byte) (Object, *Problem) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, malformed("the body is empty; send one JSON object")
	}
	if !utf8.Valid(body) {
		return nil, malformed("the body is not UTF-8; send one JSON object encoded as UTF-8")
	}
	if !json.Valid(body) {
		return nil, malformed(describeSyntax(body))
	}
	return SplitObject(body)
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

// SplitObject finds the fields of one object inside well-formed JSON.
func SplitObject(raw []byte) (Object, *Problem) {
	i := skipSpace(raw, 0)
	if raw[i] != '{' {
		return nil, malformed("one JSON object is expected, as in {\"name\": value}")
	}
	fields := make(Object, 0, 8)
	for i = skipSpace(raw, i+1); raw[i] != '}'; i = skipSeparator(raw, i) {
		end := skipValue(raw, i)
		name, err := decodeName(raw[i:end])
		if err != nil {
			return nil, err
		}
		if fields.has(name) {
			return nil, malformed(fmt.Sprintf("the key %.40q occurs twice; send it once", name))
		}
		if len(fields) == maxFields {
			return nil, malformed(fmt.Sprintf("an object has more than %d keys", maxFields))
		}
		i = skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, i)
		fields = append(fields, Field{Name: name, Value: raw[i:end]})
		i = end
	}
	return fields, nil
}

// SplitArray finds the elements of one array inside well-formed JSON.
func SplitArray(raw []byte) (elements [][]byte, ok bool) {
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

func decodeName(quoted []byte) ([]byte, *Problem) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	s, ok := DecodeString(quoted)
	if !ok {
		return nil, malformed("a key holds an unpaired surrogate escape")
	}
	return []byte(s), nil
}

// DecodeString decodes a JSON string. It fails on another type and on an
// unpaired surrogate escape, which encoding/json would silently replace: the
// identifier has to come back verbatim.
func DecodeString(raw []byte) (string, bool) {
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

func (o Object) has(name []byte) bool {
	for i := range o {
		if bytes.Equal(o[i].Name, name) {
			return true
		}
	}
	return false
}

// Get returns the raw value of a field; JSON null counts as absent.
func (o Object) Get(name string) (raw []byte, ok bool) {
	for i := range o {
		if string(o[i].Name) == name {
			return o[i].Value, string(o[i].Value) != "null"
		}
	}
	return nil, false
}

// Text returns an optional text field; path is its full name for messages.
func (o Object) Text(name, path string) (string, *Problem) {
	raw, ok := o.Get(name)
	if !ok {
		return "", nil
	}
	s, ok := DecodeString(raw)
	if !ok {
		return "", &Problem{path, "must be a text (a JSON string of valid Unicode)"}
	}
	return s, nil
}

// Required returns a text field that must be present and not empty.
func (o Object) Required(name, path string) (string, *Problem) {
	s, err := o.Text(name, path)
	if err == nil && s == "" {
		err = &Problem{path, "is required: send a text that is not empty"}
	}
	return s, err
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
