package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"
)

// Errors of a body that is not what it should be.
var (
	ErrNotJSON   = errors.New("not valid JSON")
	ErrNotObject = errors.New("not a JSON object")
)

var bom = []byte("\xef\xbb\xbf")

// Trim removes white space and a byte order mark around b.
func Trim(b []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(b), bom))
}

// IsObject reports whether the JSON value raw is an object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// IsNull reports whether raw is absent or null.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// Members yields the members of object in order: the key unquoted, the value as
// its bytes. object must be valid JSON (json.Valid) and an object, without white
// space around it.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := space(object, 1)
		for i < len(object) && object[i] == '"' {
			end := value(object, i)
			key, err := String(object[i:end])
			if err != nil {
				return // cannot happen in valid JSON
			}
			i = space(object, end)
			i = space(object, i+1) // the colon
			end = value(object, i)
			if !yield(key, object[i:end]) {
				return
			}
			i = space(object, end)
			if i < len(object) && object[i] == ',' {
				i = space(object, i+1)
			}
		}
	}
}

// Elements yields the elements of array, which must be valid JSON and an array.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(array, 1)
		for i < len(array) && array[i] != ']' {
			end := value(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = space(array, end)
			if i < len(array) && array[i] == ',' {
				i = space(array, i+1)
			}
		}
	}
}

// space returns the index of the first byte from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// value returns the index behind the JSON value that starts at i.
func value(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return text(b, i)
	case '{', '[':
		return nested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

func text(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func nested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = text(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// String reads a JSON string.
func String(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", fmt.Errorf("is %s, not a string", Describe(raw))
	}
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// Describe names the kind of a JSON value for an error text, never its contents.
func Describe(raw []byte) string {
	if len(raw) == 0 {
		return "missing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		quoted, _ := json.Marshal(s) // a string always marshals
		return append(dst, quoted...)
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if c >= ' ' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
