package mockserver

import (
	"fmt"
	"strings"
)

// Dialect is how the service formats its answers where the interface is silent
// (§4.2, §7). The zero Dialect is that of live deployments: flat objects, errors as
// text, HTTP 200 for everything. A Dialect is a comparable value; make one with
// [ParseDialect]. It changes the format alone: what the service does, every number
// and every text stay the same to the byte.
//
//	envelope    flat, payment, data, result, old
//	errors      text, object, code
//	status      200, 4xx
//	empty       NO_PROCESSED_PAYMENT, NO_PROGRESS_PAYMENTS, 204, null, {}, nothing
//	extra       no, yes
//	error_null  no, yes
//
// The first value of each line is the default. envelope is what surrounds a
// success: payment wraps payment records alone; old is the form of before 2025-05,
// payment{paidAmount, method, …}, whose polled record has no id, status and
// verified_ts. errors is {"error":"CODE","error_msg":"text"},
// {"error":{"code","message"}} or {"code","message"}. With status=4xx an error has
// the HTTP status that fits it, 5xx where the mock itself fails. empty is
// the answer to a poll that found nothing; nothing is HTTP 200 without a body.
// extra adds fields that no description names; error_null adds "error":null to every
// successful object.
type Dialect struct{ choice [len(dialectTable)]uint8 }

// DialectOption is one of the ways in which dialects differ.
type DialectOption struct {
	// Name is the key in the text of a [Dialect].
	Name string
	// Values are what it may be, the default first.
	Values []string
}

const (
	dialectEnvelope = iota
	dialectErrors
	dialectStatus
	dialectEmpty
	dialectExtra
	dialectNullError
)

// The indexes into the values of dialectTable.
const (
	envelopeFlat = iota
	envelopePayment
	envelopeData
	envelopeResult
	envelopeOld
)

const (
	errorsText = iota
	errorsObject
	errorsCode
)

const (
	emptyCode = iota
	emptyOldCode
	empty204
	emptyNull
	emptyObject
	emptyNothing
)

var dialectTable = [...]DialectOption{
	dialectEnvelope:  {"envelope", []string{"flat", "payment", "data", "result", "old"}},
	dialectErrors:    {"errors", []string{"text", "object", "code"}},
	dialectStatus:    {"status", []string{"200", "4xx"}},
	dialectEmpty:     {"empty", []string{string(CodeNoProcessedPayment), oldEmptyCode, "204", "null", "{}", "nothing"}},
	dialectExtra:     {"extra", []string{"no", "yes"}},
	dialectNullError: {"error_null", []string{"no", "yes"}},
}

// dialectPresets are names for whole dialects.
var dialectPresets = []struct{ name, text string }{
	{"default", ""},
	{"old", "envelope=old,empty=" + oldEmptyCode},
	{"rest", "envelope=data,errors=object,status=4xx,empty=204"},
	{"codes", "envelope=result,errors=code,empty=null"},
	{"noisy", "extra=yes,error_null=yes"},
}

// DialectOptions returns the ways in which dialects differ, in the order of
// [Dialect.String].
func DialectOptions() []DialectOption {
	list := make([]DialectOption, len(dialectTable))
	for i, o := range dialectTable {
		list[i] = DialectOption{o.Name, append([]string(nil), o.Values...)}
	}
	return list
}

// Dialects returns every Dialect there is, the default first: for tests of a client
// that cross them all.
func Dialects() []Dialect {
	list := []Dialect{{}}
	for i, o := range dialectTable {
		for _, d := range list { // the list as it is before this option
			for v := 1; v < len(o.Values); v++ {
				d.choice[i] = uint8(v)
				list = append(list, d)
			}
		}
	}
	return list
}

// ParseDialect reads the text of a dialect: pairs of an option and a value, separated by
// commas, as in "envelope=data,errors=object,status=4xx,empty=204". An option that is not
// named has its default. The first word may be the name of a preset: default, old,
// rest (the example above), codes (envelope=result,errors=code,empty=null) or noisy
// (extra=yes,error_null=yes); pairs after it change it. The empty text is the
// default. Errors name the wrong word and the allowed ones.
func ParseDialect(text string) (Dialect, error) {
	var d Dialect
	given := map[string]bool{}
	for i, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		name, value, isPair := strings.Cut(word, "=")
		switch {
		case word == "" && text == "":
			return d, nil
		case !isPair && i == 0:
			preset, err := presetDialect(word)
			if err != nil {
				return Dialect{}, err
			}
			d = preset
			continue
		case given[name]:
			return Dialect{}, fmt.Errorf("mockserver: dialect: %q is given twice; give it once", name)
		}
		given[name] = true
		if err := d.set(name, value); err != nil {
			return Dialect{}, err
		}
	}
	return d, nil
}

func presetDialect(name string) (Dialect, error) {
	var names []string
	for _, p := range dialectPresets {
		if p.name == name {
			return ParseDialect(p.text)
		}
		names = append(names, p.name)
	}
	return Dialect{}, fmt.Errorf("mockserver: dialect: no preset is called %.40q; use one of %s, or option=value",
		name, strings.Join(names, ", "))
}

func (d *Dialect) set(name, value string) error {
	var names []string
	for i, o := range dialectTable {
		names = append(names, o.Name)
		if o.Name != name {
			continue
		}
		for v := range o.Values {
			if o.Values[v] == value {
				d.choice[i] = uint8(v)
				return nil
			}
		}
		return fmt.Errorf("mockserver: dialect: %s cannot be %.40q; use one of %s", name, value, strings.Join(o.Values, ", "))
	}
	return fmt.Errorf("mockserver: dialect: no option is called %.40q; use one of %s", name, strings.Join(names, ", "))
}

// String is the text that [ParseDialect] reads: what differs from the default, or
// "default".
func (d Dialect) String() string {
	var words []string
	for i, o := range dialectTable {
		if d.choice[i] != 0 {
			words = append(words, o.Name+"="+o.Values[d.choice[i]])
		}
	}
	if len(words) == 0 {
		return "default"
	}
	return strings.Join(words, ",")
}

// MarshalText is String, for JSON and flags.
func (d Dialect) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDialect, for JSON and flags.
func (d *Dialect) UnmarshalText(text []byte) error {
	parsed, err := ParseDialect(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}
