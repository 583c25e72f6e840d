package payments

import (
	"cmp"
	"errors"
	"math"
	"strconv"
)

// Errors of amounts.
var (
	// ErrAmountSyntax: the text is not a decimal number.
	ErrAmountSyntax = errors.New("not a decimal number such as 10000 or 10000.5")
	// ErrAmountRange: the number does not fit an Amount exactly.
	ErrAmountRange = errors.New("number out of range: an amount's digits fit an int64, at most 18 of them decimals")
)

const (
	maxScale  = 18  // decimals; 10^18 fits an int64
	maxLength = 128 // of the text
	maxExp    = 3   // digits of an exponent
)

// Amount is an exact amount of money in the service's own unit (the interface names no
// currency). It is never a float64. The zero value is 0. Amounts of equal value are
// equal under ==. The significant digits fit an int64, up to 18 of them decimals.
//
// It encodes as a JSON number, whole amounts without fraction and exponent, and decodes
// from a JSON number or from a string that holds one. A number that does not fit exactly is
// an error: nothing is rounded.
type Amount struct {
	coef  int64 // value × 10^scale; its last digit is not 0 where scale > 0
	scale uint8
}

// NewAmount returns the whole amount n.
func NewAmount(n int64) Amount { return Amount{coef: n} }

// ParseAmount reads a decimal number as JSON writes it: digits, an optional
// fraction and exponent, an optional minus sign. Errors are ErrAmountSyntax and
// ErrAmountRange. The work does not grow with the number: "1e1000000000" is
// refused, not expanded.
func ParseAmount(s string) (Amount, error) { return parseAmount(s) }

// parseAmount serves strings and bytes alike, without a copy.
func parseAmount[T string | []byte](s T) (Amount, error) {
	if len(s) > maxLength {
		return Amount{}, ErrAmountRange
	}
	d := digits{}
	i := 0
	if len(s) > 0 && s[0] == '-' {
		d.negative, i = true, 1
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		d.add(s[i]-'0', 0)
	}
	if i == start || s[start] == '0' && i > start+1 {
		return Amount{}, ErrAmountSyntax // no digit, or a leading zero as in 010
	}
	if i < len(s) && s[i] == '.' {
		start = i + 1
		for i = start; i < len(s) && isDigit(s[i]); i++ {
			d.add(s[i]-'0', 1)
		}
		if i == start {
			return Amount{}, ErrAmountSyntax
		}
	}
	exponent, err := parseExponent(s, i)
	if err != nil {
		return Amount{}, err
	}
	return d.amount(exponent)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseExponent reads an exponent that fills s from i on; none is 0.
func parseExponent[T string | []byte](s T, i int) (int, error) {
	if i == len(s) {
		return 0, nil
	}
	if s[i] != 'e' && s[i] != 'E' {
		return 0, ErrAmountSyntax
	}
	i++
	sign := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		if s[i] == '-' {
			sign = -1
		}
		i++
	}
	if i == len(s) {
		return 0, ErrAmountSyntax
	}
	n := 0
	for start := i; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, ErrAmountSyntax
		}
		if i-start < maxExp {
			n = n*10 + int(s[i]-'0')
		} else {
			n = 10_000 // far out of range, whatever follows
		}
	}
	return sign * n, nil
}

// digits collects the significant digits of a number. Zeros wait until a later
// digit needs them, so that 1.000…0 stays exact at any length.
type digits struct {
	negative bool
	overflow bool
	coef     int64
	pending  int // zeros not in coef yet
	exponent int // value = coef × 10^exponent
}

// add appends digit c; decimals is 1 if it follows the decimal point, else 0.
func (d *digits) add(c byte, decimals int) {
	d.exponent -= decimals
	if c == 0 {
		if d.coef != 0 {
			d.pending++
		}
		return
	}
	for ; d.pending > 0 && !d.overflow; d.pending-- {
		d.push(0)
	}
	d.push(c)
}

func (d *digits) push(c byte) {
	if d.overflow = d.overflow || d.coef > (math.MaxInt64-int64(c))/10; !d.overflow {
		d.coef = d.coef*10 + int64(c)
	}
}

// amount applies the exponent. A pending zero is a factor of ten.
func (d *digits) amount(exponent int) (Amount, error) {
	if d.overflow {
		return Amount{}, ErrAmountRange
	}
	if d.coef == 0 {
		return Amount{}, zeroExponent(exponent)
	}
	a := Amount{coef: d.coef}
	switch e := d.exponent + d.pending + exponent; {
	case e < -maxScale, e > maxScale, e > 0 && a.coef > math.MaxInt64/pow10[e]:
		return Amount{}, ErrAmountRange
	case e < 0:
		a.scale = uint8(-e)
	default:
		a.coef *= pow10[e]
	}
	if d.negative {
		a.coef = -a.coef
	}
	return a, nil
}

// zeroExponent refuses 0e1000000000 too: no honest sender writes it.
func zeroExponent(exponent int) error {
	if exponent < -maxScale || exponent > maxScale {
		return ErrAmountRange
	}
	return nil
}

var pow10 = func() (p [maxScale + 1]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Int64 returns a whole amount; for an amount with a fraction it returns 0 and false.
func (a Amount) Int64() (n int64, ok bool) {
	if a.scale > 0 {
		return 0, false
	}
	return a.coef, true
}

// IsZero reports whether the amount is 0.
func (a Amount) IsZero() bool { return a.coef == 0 }

// Sign returns -1, 0 or +1.
func (a Amount) Sign() int { return cmp.Compare(a.coef, 0) }

// Cmp returns -1, 0 or +1 if a is less than, equal to or greater than b.
func (a Amount) Cmp(b Amount) int {
	// The whole parts decide, or else the fractions on a common scale: a fraction has
	// at most 18 digits, so it fits an int64. Both parts carry the sign.
	aw, af := a.split()
	bw, bf := b.split()
	if aw != bw {
		return cmp.Compare(aw, bw)
	}
	return cmp.Compare(af*pow10[maxScale-a.scale], bf*pow10[maxScale-b.scale])
}

func (a Amount) split() (whole, fraction int64) {
	return a.coef / pow10[a.scale], a.coef % pow10[a.scale]
}

// String returns the amount in plain decimal notation, such as "10000" or "0.5".
func (a Amount) String() string { return string(a.append(nil)) }

func (a Amount) append(dst []byte) []byte {
	if a.scale == 0 {
		return strconv.AppendInt(dst, a.coef, 10)
	}
	coef := a.coef
	if coef < 0 {
		dst = append(dst, '-')
		coef = -coef
	}
	scale := pow10[a.scale]
	dst = strconv.AppendInt(dst, coef/scale, 10)
	dst = append(dst, '.')
	fraction := strconv.AppendInt(nil, coef%scale, 10)
	for range int(a.scale) - len(fraction) {
		dst = append(dst, '0')
	}
	return append(dst, fraction...)
}

// MarshalJSON writes a JSON number without exponent.
func (a Amount) MarshalJSON() ([]byte, error) { return a.append(nil), nil }

// UnmarshalJSON reads a JSON number, or a JSON string that holds one, exactly.
// null is an error: an absent amount is not 0.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	parsed, err := amountFromJSON(raw)
	if err == nil {
		*a = parsed
	}
	return err
}

// amountFromJSON reads a number or a quoted number. Quoted digits hold no escapes.
func amountFromJSON(raw []byte) (Amount, error) {
	if len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	return parseAmount(raw)
}
