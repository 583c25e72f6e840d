package web

import (
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Wait is the time until an event of the server's clock.
type Wait struct {
	Due  time.Time
	Left time.Duration
}

// Span is a length of time as people write it, to the second: 4분 30초 or 4m 30s.
func Span(lang Lang, d time.Duration) string {
	seconds := int64(max(0, d).Round(time.Second) / time.Second)
	units := strings.Split(Text(lang, "dash.span.units"), "|")
	var parts []string
	for i, n := range []int64{seconds / 3600, seconds / 60 % 60, seconds % 60} {
		if n > 0 || i == 2 && parts == nil {
			parts = append(parts, strconv.FormatInt(n, 10)+units[i])
		}
	}
	return strings.Join(parts, " ")
}

// span is Span for a button whose value is such a length, as in "5m".
func span(lang Lang) func(string) (string, error) {
	return func(text string) (string, error) {
		d, err := time.ParseDuration(text)
		return Span(lang, d), err
	}
}

// wait is a Wait for people. tick.js counts it down.
func wait(lang Lang) func(Wait) template.HTML {
	return func(w Wait) template.HTML {
		text := Text(lang, "dash.now")
		if w.Left.Round(time.Second) > 0 {
			text = Text(lang, "dash.in", Span(lang, w.Left))
		}
		html := `<span class="wait" data-due="` + strconv.FormatInt(w.Due.UnixMilli(), 10) + `">` + template.HTMLEscapeString(text) + `</span>`
		return template.HTML(html) //nolint:gosec // digits, and texts of our own
	}
}

// korea is the time zone of the customers. It has no daylight saving time.
var korea = time.FixedZone("KST", 9*60*60)

// local is a time for customers in their time zone and, in its attribute, for programs. Nothing is shown for the zero time.
func local(lang Lang) func(time.Time) template.HTML {
	return func(t time.Time) template.HTML {
		if t.IsZero() {
			return ""
		}
		text := t.In(korea).Format("2006-01-02 15:04 MST")
		if lang == Korean {
			text = t.In(korea).Format("2006년 1월 2일 15:04")
		}
		return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `">` + text + `</time>`) //nolint:gosec // digits and our own words
	}
}

// running is the time of the server's clock, which tick.js advances at the rate: seconds
// of that clock in one of real time, 0 for one that does not run.
func running(t time.Time, rate float64) template.HTML {
	t = t.UTC()
	html := `<time class="running" datetime="` + t.Format(time.RFC3339) + `" data-clock="` + strconv.FormatInt(t.UnixMilli(), 10) +
		`" data-rate="` + strconv.FormatFloat(rate, 'f', -1, 64) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`
	return template.HTML(html) //nolint:gosec // digits and punctuation
}
