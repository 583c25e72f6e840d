package strictjson

import (
	"bytes"
	"errors"
	"strconv"
)

// maxDigits is the number of decimal digits of the largest int64.
const maxDigits = 19

var (
	errNotNumber = errors.New("must be a number without quotes, as in 10000")
	errNotWhole  = errors.New("must be a whole number, without a fraction")
	errTooLarge  = errors.New("must lie within the range of a 64-bit integer")
)

// parseWhole reads a JSON number as an int64 without going through a float64:
// 10000, 10000.0 and 1e4 are the same amount. The exponent is never expanded, so
// 1e1000000000 costs nothing.
func parseWhole(raw []byte) (int64, error) {
	mantissa, negative := bytes.CutPrefix(raw, []byte("-"))
	if len(mantissa) == 0 || mantissa[0] < '0' || mantissa[0] > '9' {
		return 0, errNotNumber
	}
	var exponent []byte
	if i := bytes.IndexAny(mantissa, "eE"); i >= 0 {
		mantissa, exponent = mantissa[:i], mantissa[i+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := append(append(make([]byte, 0, len(mantissa)+maxDigits), whole...), fraction...)
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) == 0 {
		return 0, nil
	}
	significant := bytes.TrimRight(digits, "0")
	// shift is the power of ten that turns the significant digits into the value.
	shift := len(digits) - len(significant) - len(fraction)
	if e, ok := parseExponent(exponent); ok {
		shift += e
	} else if exponent[0] == '-' {
		return 0, errNotWhole
	} else {
		return 0, errTooLarge
	}
	if shift < 0 {
		return 0, errNotWhole
	}
	if len(significant)+shift > maxDigits {
		return 0, errTooLarge
	}
	return finishWhole(significant, shift, negative)
}

func finishWhole(significant []byte, shift int, negative bool) (int64, error) {
	for range shift {
		significant = append(significant, '0')
	}
	text := string(significant)
	if negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errTooLarge
	}
	return n, nil
}

// parseExponent is false for an exponent so large that its value cannot matter:
// a body holds far fewer digits than that.
func parseExponent(raw []byte) (int, bool) {
	if len(raw) == 0 {
		return 0, true
	}
	e, err := strconv.Atoi(string(bytes.TrimPrefix(raw, []byte("+"))))
	return e, err == nil && e > -1_000_000 && e < 1_000_000
}

// Whole returns an optional whole number of at least least.
func (o Object) Whole(name, path string, least int64) (n int64, present bool, _ *Problem) {
	raw, ok := o.Get(name)
	if !ok {
		return 0, false, nil
	}
	n, err := parseWhole(raw)
	if err != nil {
		return 0, true, &Problem{path, err.Error()}
	}
	if n < least {
		return 0, true, &Problem{path, "must be at least " + strconv.FormatInt(least, 10)}
	}
	return n, true, nil
}
