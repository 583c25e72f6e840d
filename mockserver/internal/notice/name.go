package notice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name, in characters.
const maxName = 40

// mask replaces one hidden character of a name in a notification: 김*수.
const mask = '*'

// Key is the form in which names are compared: without spaces, in lower case, with
// composed Hangul and signs of one width. It is empty for what is no name: no
// letter, no valid UTF-8.
func Key(name string) string {
	folded, ok := fold(name)
	if !ok || !strings.ContainsFunc(folded, unicode.IsLetter) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, folded)
}

// Masked reports whether a name of a notification hides a part of itself.
func Masked(name string) bool { return strings.ContainsRune(Key(name), mask) }

// Matches reports whether the payer of a notification, who may be masked, is the
// person called name. A mask is one character: 김*수 is 김철수, not 김수. An empty
// name, and a payer without a letter to go by, match nobody. Only the payer's
// masks count: a customer who calls himself *** is not everybody.
func Matches(payer, name string) bool { return MatchesKey(Key(payer), Key(name)) }

// MatchesKey is Matches for two results of [Key].
func MatchesKey(payer, name string) bool {
	if payer == "" || name == "" {
		return false
	}
	for payer != "" {
		p, n := utf8.DecodeRuneInString(payer)
		q, m := utf8.DecodeRuneInString(name)
		if m == 0 || p != q && p != mask {
			return false
		}
		payer, name = payer[n:], name[m:]
	}
	return name == ""
}
