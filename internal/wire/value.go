package wire

import (
	"encoding/json"
	"time"
)

// timeLayouts are the forms of ISO 8601 that occur, with or without a fraction
// (which Parse accepts behind the seconds anyway) and a zone. Without a zone it is
// UTC (interface §2.2).
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05",
}

// Time reads a timestamp and returns it in UTC.
func Time(raw []byte) (time.Time, bool) {
	s, err := String(raw)
	if err != nil {
		return time.Time{}, false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// Keep adds an unknown member to extra, which it creates if necessary. It copies raw, so
// that one field does not keep the whole body in memory. clean removes the token: a broken
// service might echo it, and callers print unknown fields.
func Keep(extra map[string]json.RawMessage, name string, raw []byte, clean func([]byte) []byte) map[string]json.RawMessage {
	if extra == nil {
		extra = make(map[string]json.RawMessage, 2)
	}
	extra[string(clean([]byte(name)))] = append(json.RawMessage(nil), clean(raw)...)
	return extra
}
