package mockserver

import (
	"fmt"
	"strings"
)

// ParseDialect reads the text of a dialect: pairs of an option and a value, parted by
// commas, as in "envelope=data,errors=object,status=4xx,empty=204". What is not
// named has its default. The first word may be the name of a preset: default, old,
// rest (the example above), codes (envelope=result,errors=code,empty=null) or noisy
// (extra=yes,error_null=yes); pairs after it change it. The empty text is the
// default. Errors name the word that is wrong and what it may be.
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
