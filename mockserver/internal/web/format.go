package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Number is n with a comma after every third digit.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	out := make([]byte, 0, len(digits)+len(digits)/3)
	for i := range len(digits) {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return string(out)
}

// number is Number for a template, whatever type of integer it has.
func number(n any) string { return Number(reflect.ValueOf(n).Int()) }

// Money is an amount as people write it: 10,000원 or ₩10,000.
func Money(lang Lang, amount int64) string {
	if lang == Korean {
		return Number(amount) + "원"
	}
	return "₩" + Number(amount)
}

// Short is the first n characters of a text, with a mark if there are more.
func Short(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}

// when is a time for people and, in its attribute, for programs. Nothing is shown
// for the zero time.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	// Both are digits and punctuation.
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`) //nolint:gosec // see above
}

// maxFolded is the length from which a text that a person typed is folded.
const maxFolded = 200

func folded(text string) bool { return cut(text, maxFolded) }

// cut reports whether Short leaves something out.
func cut(text string, n int) bool { return utf8.RuneCountInString(text) > n }

func length(text string) string { return Number(int64(utf8.RuneCountInString(text))) }

// Indent is a JSON value as people read it.
func Indent(raw []byte) string {
	var b bytes.Buffer
	_ = json.Indent(&b, raw, "", "  ") // invalid JSON is shown as nothing
	return b.String()
}
