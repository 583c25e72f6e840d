package notice

import (
	"strings"
	"unicode/utf8"
)

// phrase is a run of words that may be a name.
type phrase struct {
	name   string
	weight weight
}

type weight uint8

const (
	dropped weight = iota // surely another person, or an account
	weak                  // left over
	strong                // named as the payer
)

// findPayer returns the one name of the payer, "" when the text leaves a choice or
// names nobody. byName reports whether the text calls him the payer.
func (r *reader) findPayer() (payer string, byName bool) {
	var found []phrase
	for from := 0; from < len(r.tokens); {
		to := from
		for to < len(r.tokens) && r.tokens[to].kind != line {
			to++
		}
		found = append(found, r.namesIn(from, to)...)
		from = to + 1
	}
	for _, w := range []weight{strong, weak} {
		if payer, n := single(found, w); n > 0 {
			return payer, w == strong
		}
	}
	return "", false
}

// single returns the name of all phrases of a weight if it is one name, hidden
// characters aside, and how many phrases there are.
func single(found []phrase, w weight) (name string, n int) {
	for _, p := range found {
		if p.weight != w {
			continue
		}
		n++
		switch {
		case n == 1, name != "" && Matches(name, p.name):
			name = p.name
		case Matches(p.name, name):
		default:
			name = ""
		}
	}
	if utf8.RuneCountInString(name) > maxName || Key(name) == "" {
		name = ""
	}
	return name, n
}

// namesIn finds the phrases of one line.
func (r *reader) namesIn(from, to int) []phrase {
	var found []phrase
	next := weak // the weight that a label gives to the phrase behind it
	for i := from; i < to; {
		t := r.tokens[i]
		switch {
		case arrow(t.text, "→▶➡⇒➜►>"):
			for j := range found {
				if found[j].weight == weak {
					found[j].weight = strong
				}
			}
			return found
		case arrow(t.text, "←◀⇐◄"):
			for j := range found {
				found[j].weight = dropped
			}
			next = strong
		case t.kind == word && t.used && labelWeight(t.text, r.token(i+1).text) != weak:
			next = labelWeight(t.text, r.token(i+1).text)
			if strings.HasSuffix(t.text, "메모") {
				return found
			}
		case r.begins(i):
			var p phrase
			p, i = r.phrase(i, to, next)
			found = append(found, p)
			next = weak
			continue
		case t.kind == number || t.kind == code:
			next = weak
		}
		i++
	}
	return found
}

func arrow(text, signs string) bool { return text != "" && strings.Contains(signs, text) }

// labelWeight is what a label makes of the name behind it; weak for no label. 보낸
// 분 and 받는 분 are written in two words, too.
func labelWeight(text, after string) weight {
	person := after == "분" || after == "사람" || after == "이"
	switch {
	case senders[text], person && (text == "보낸" || text == "보내는" || text == "보내신"):
		return strong
	case owners[text], text == "받는", text == "받은":
		return dropped
	}
	return weak
}

// begins reports whether a name may begin at i.
func (r *reader) begins(i int) bool {
	t, after := r.tokens[i], r.token(i+1)
	if t.kind == number {
		return !t.used && after.kind == word && !after.used && !after.spaced
	}
	return t.kind == word && !t.used
}

// phrase reads the name that begins at i and returns where it ends.
func (r *reader) phrase(i, to int, w weight) (phrase, int) {
	var b strings.Builder
	for first := i; i < to && r.continues(first, i); i++ {
		if r.tokens[i].spaced && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.tokens[i].raw)
	}
	name, said := r.particle(b.String(), i)
	switch {
	case w == weak && said != weak:
		w = said
	case w == weak && r.isAccount(i):
		w = dropped
	}
	return phrase{name: name, weight: w}, i
}

// continues reports whether the token at i goes on with the name that began at
// first: words, digits that stick to them, and the points of Co., Ltd.
func (r *reader) continues(first, i int) bool {
	t, before := r.tokens[i], r.token(i-1)
	switch {
	case i == first:
		return true
	case t.used, before.kind == word && hasEnding(before.text, sentBy) && t.spaced:
		return false
	case t.kind == word:
		return true
	case t.kind == number:
		return !t.spaced && !strings.Contains(t.text, ",")
	case t.kind == mark && (t.text == "." || t.text == ","):
		return !t.spaced && (company[before.text] || before.text == "." && company[r.token(i-2).text])
	}
	return false
}

var company = set("co ltd inc corp llc plc")

// hasEnding reports whether something comes before one of the endings.
func hasEnding(text string, endings []string) bool {
	for _, end := range endings {
		if rest, ok := strings.CutSuffix(text, end); ok && rest != "" && strings.HasPrefix(end, "님") {
			return true
		}
	}
	return false
}

// particle takes off what Korean puts behind a name, in the word itself or in the
// next one, and returns what it makes of the name.
func (r *reader) particle(name string, next int) (string, weight) {
	given := dropped
	if r.received {
		given = strong
	}
	for _, p := range []struct {
		endings []string
		weight  weight
	}{{sentBy, strong}, {givenTo, given}, {others, dropped}} {
		for _, end := range p.endings {
			if rest, ok := strings.CutSuffix(name, end); ok && rest != "" {
				return strings.TrimSpace(rest), p.weight
			}
			if r.token(next).text == end {
				return name, p.weight
			}
		}
	}
	return name, weak
}

// isAccount reports whether the name that ends at i is that of an account:
// 여행자금(1234).
func (r *reader) isAccount(i int) bool {
	open, digits := r.token(i), r.token(i+1)
	return open.text == "(" && (digits.kind == number || digits.kind == code) && !digits.used && r.token(i+2).text == ")"
}
