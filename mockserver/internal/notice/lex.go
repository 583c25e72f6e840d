package notice

import (
	"strings"
	"unicode"
)

type kind uint8

const (
	word   kind = iota // letters, perhaps masked: 입금, 김*수, (주)
	won                // 원 right behind a number
	number             // digits, perhaps with separated thousands: 10,000
	code               // a date, a time, an account number, a malformed number
	mark               // any other sign
	line               // the end of a line
)

// token is a piece of a folded text. Words are in lower case; raw is as written.
type token struct {
	kind   kind
	text   string
	raw    string
	spaced bool // there is a space, or nothing, before it
	used   bool // spoken for: no part of a name
}

type lexer struct {
	in  []rune
	at  int
	out []token
}

// lex splits a folded text in one pass. Every rune is read a bounded number of
// times.
func lex(text string) []token {
	l := lexer{in: []rune(text)}
	spaced := true
	for l.at < len(l.in) {
		if l.in[l.at] == ' ' {
			spaced = true
			l.at++
			continue
		}
		from := l.at
		k := l.step()
		raw := string(l.in[from:l.at])
		l.out = append(l.out, token{kind: k, text: strings.ToLower(raw), raw: raw, spaced: spaced})
		spaced = k == line
	}
	return l.out
}

func (l *lexer) peek(n int) rune {
	if i := l.at + n; i < len(l.in) {
		return l.in[i]
	}
	return 0
}

// step moves behind the next token and returns its kind.
func (l *lexer) step() kind {
	switch r := l.in[l.at]; {
	case r == '\n':
		l.at++
		return line
	case isDigit(r):
		return l.number()
	case r == '원' && l.afterNumber():
		l.at++
		return won
	case unicode.IsLetter(r):
		return l.word()
	case r == mask:
		return l.masked()
	case r == '(' && l.peek(2) == ')' && strings.ContainsRune("주유사재합의", l.peek(1)):
		l.at += 3
		return word
	default:
		l.at++
		return mark
	}
}

func (l *lexer) afterNumber() bool {
	n := len(l.out)
	return n > 0 && l.at > 0 && l.in[l.at-1] != ' ' && (l.out[n-1].kind == number || l.out[n-1].kind == code)
}

// masked decides what asterisks belong to: a name (*길동) or a code (*1234).
func (l *lexer) masked() kind {
	for l.at < len(l.in) && l.in[l.at] == mask {
		l.at++
	}
	switch r := l.peek(0); {
	case unicode.IsLetter(r):
		return l.word()
	case isDigit(r):
		l.number()
	}
	return code
}

// word reads letters with what may be inside a name: asterisks, and between
// Latin letters the signs of J.P., AT&T or O'Neil.
func (l *lexer) word() kind {
	for l.at < len(l.in) {
		r := l.in[l.at]
		inside := strings.ContainsRune(".&'-", r) && isLatin(l.in[l.at-1]) && isLatin(l.peek(1))
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && r != mask && !inside {
			break
		}
		l.at++
	}
	return word
}

// number reads digits and what joins them: separated thousands, a fraction of
// zeros, or the signs that make it a code.
func (l *lexer) number() kind {
	kind := l.thousands()
	if l.zeroFraction() && kind == number {
		return number
	}
	for l.at < len(l.in) {
		r, next := l.in[l.at], l.peek(1)
		joins := strings.ContainsRune("-/:.", r) && (isDigit(next) || next == mask)
		if !isDigit(r) && r != mask && !joins {
			break
		}
		kind = code
		l.at++
	}
	return kind
}

// thousands reads digits and groups behind commas. Groups of other lengths than
// three make no number: 1,2345 is neither 1 nor 2345.
func (l *lexer) thousands() kind {
	kind, first := number, l.digits()
	for grouped := false; l.peek(0) == ',' && isDigit(l.peek(1)); grouped = true {
		l.at++
		if l.digits() != 3 || !grouped && first > 3 {
			kind = code
		}
	}
	return kind
}

func (l *lexer) digits() (n int) {
	for ; isDigit(l.peek(0)); n++ {
		l.at++
	}
	return n
}

// zeroFraction reads the fraction of 10,000.00, at most two zeros, and leaves any
// other alone.
func (l *lexer) zeroFraction() bool {
	if l.peek(0) != '.' || l.peek(1) != '0' {
		return false
	}
	n := 1
	for l.peek(n) == '0' {
		n++
	}
	if n > 3 || isDigit(l.peek(n)) || strings.ContainsRune("*-/:", l.peek(n)) {
		return false
	}
	l.at += n
	return true
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }
