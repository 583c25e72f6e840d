package notice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the longest notification that is read, in bytes. The banks' own stay
// far below it.
const maxText = 4 << 10

// fold brings a text into the one form that the rules are written for. It fails
// on what no bank sends: broken UTF-8, control characters, a text that is too long.
func fold(text string) (string, bool) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == '\n' || r == '\u2028':
			b.WriteByte('\n')
		case unicode.IsControl(r):
			return "", false
		case unicode.Is(unicode.Cf, r), r >= 0xfe00 && r <= 0xfe0f:
			// invisible: joiners, direction marks, variants of emoji
		case r == '㈜':
			b.WriteString("(주)")
		default:
			b.WriteRune(foldRune(r))
		}
	}
	return compose(b.String()), true
}

func foldRune(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case unicode.IsSpace(r):
		return ' '
	}
	switch r {
	case '￦':
		return '₩'
	case '○', '◯', '●', '〇', '∗', '✱', '⁎':
		return '*'
	case '–', '—', '‐', '‑', '−':
		return '-'
	}
	return r
}

// Hangul composition as Unicode defines it (section 3.12): phones of one kind
// send syllables, those of another the jamo that they are made of.
const (
	leadBase, vowelBase, tailBase, syllableBase = 0x1100, 0x1161, 0x11a7, 0xac00
	leads, vowels, tails                        = 19, 21, 28
)

// compose joins conjoining jamo to syllables, which is NFC for Hangul.
func compose(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= leadBase && r < 0x1200 }) {
		return text
	}
	var out []rune
	for _, r := range text {
		if n := len(out); n > 0 {
			if joined, ok := join(out[n-1], r); ok {
				out[n-1] = joined
				continue
			}
		}
		out = append(out, r)
	}
	return string(out)
}

func join(a, b rune) (rune, bool) {
	lead, vowel, tail := a-leadBase, b-vowelBase, b-tailBase
	switch {
	case lead >= 0 && lead < leads && vowel >= 0 && vowel < vowels:
		return syllableBase + (lead*vowels+vowel)*tails, true
	case a >= syllableBase && a < syllableBase+leads*vowels*tails && (a-syllableBase)%tails == 0 && tail > 0 && tail < tails:
		return a + tail, true
	}
	return 0, false
}
