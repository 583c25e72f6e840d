package notice

import (
	"strconv"
	"strings"
)

// maxPlain is the longest number, in digits, that is an amount by its place alone.
// Account numbers are longer.
const maxPlain = 9

// findAmount returns the one amount that was paid, 0 when the text leaves a choice
// or names none. money reports whether it named any.
func (r *reader) findAmount() (amount int64, money bool) {
	odd := false
	for i := range r.tokens {
		if k := r.tokens[i].kind; k != number && k != code {
			continue
		}
		value, role := r.weigh(i)
		switch {
		case role == noMoney:
			continue
		case role == strange, amount != 0 && amount != value:
			odd = true
		default:
			amount = value
		}
		money = true
	}
	if odd {
		return 0, money
	}
	return amount, money
}

type role uint8

const (
	noMoney role = iota
	paid
	strange // money, but not to be read: another currency, a minus, 1,2345원
)

// weigh classifies the number at i.
func (r *reader) weigh(i int) (int64, role) {
	t := &r.tokens[i]
	before, after := r.token(i-1), r.token(i+1)
	label := r.label(i)
	if aside[label] || strings.HasSuffix(label, "잔액") {
		t.used = true
		return 0, noMoney
	}
	if after.text == "%" || after.kind == word && !after.spaced && counters[after.text] {
		t.used = true
		r.use(i + 1)
		return 0, noMoney
	}
	if foreign[after.text] || foreign[before.text] || strings.ContainsAny(before.text, "$€¥£") {
		t.used = true
		return 0, strange
	}
	marked := after.kind == won || wonWords[after.text] || before.text == "₩" || before.text == `\` || before.text == "krw" || before.text == "won"
	grouped := strings.Contains(t.text, ",")
	labelled := (label == deposited || sums[label]) && len(t.text) <= maxPlain
	switch {
	case !marked && (t.kind == code || !grouped && (!labelled || r.inName(i))):
		return 0, noMoney
	case t.kind == code, before.text == "-" && !t.spaced:
		return 0, strange
	}
	t.used = true
	digits, _, _ := strings.Cut(strings.ReplaceAll(t.text, ",", ""), ".")
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || digits[0] == '0' {
		return 0, strange
	}
	return value, paid
}

var wonWords = set("원 원이 원을 원의 won krw")

// label is the word in front of a number, with nothing but signs between,
// spaces and at most one end of a line.
func (r *reader) label(i int) string {
	lines := 0
	for i--; i >= 0; i-- {
		t := r.tokens[i]
		switch {
		case t.kind == line && lines == 0:
			lines++
		case t.kind == word && (t.text == "krw" || t.text == "won"):
		case t.kind == word:
			return t.text
		case t.kind == mark && strings.Contains(`:=-+()[]₩\.|`, t.text):
		default:
			return ""
		}
	}
	return ""
}

// inName reports whether a plain number sticks to a name, as in 홍길동1234 or 3M.
func (r *reader) inName(i int) bool {
	before, after := r.token(i-1), r.token(i+1)
	return before.kind == word && !before.used && !r.tokens[i].spaced ||
		after.kind == word && !after.used && !after.spaced
}

func (r *reader) token(i int) token {
	if i < 0 || i >= len(r.tokens) {
		return token{kind: line}
	}
	return r.tokens[i]
}

func (r *reader) use(i int) {
	if i < len(r.tokens) {
		r.tokens[i].used = true
	}
}
