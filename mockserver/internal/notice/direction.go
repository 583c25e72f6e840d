package notice

import "strings"

// findWords learns what the words say, and marks those of the banks' language.
func (r *reader) findWords() {
	previous := ""
	for i := range r.tokens {
		t := &r.tokens[i]
		if t.kind != word {
			continue
		}
		if r.isName(i) {
			previous = t.text
			continue
		}
		t.used = true
		r.learn(t.text, previous)
		previous = t.text
	}
}

// learn takes in one word of the banks' language.
func (r *reader) learn(text, previous string) {
	switch {
	case strings.Contains(text, "입출금"), beside[text], aside[text], senders[text], owners[text], filler[text]:
	case text == deposited:
		r.deposit = true
	case strings.Contains(text, deposited), strings.Contains(text, "취소"), offers[text],
		previous == deposited && conditions[text], saysOne(text, undone), bigUnit(text):
		r.off = true
	case hasPrefix(text, received):
		r.received = true
	case strings.Contains(text, "출금"), isSpent(text):
		r.withdrawal = true
	case isSent(text):
		r.sent = true
	}
}

// isName reports whether a word is none of the banks' own.
func (r *reader) isName(i int) bool {
	text := r.tokens[i].text
	switch {
	case r.tokens[i].used, filler[text], beside[text], aside[text], sums[text], senders[text], owners[text], offers[text], foreign[text]:
		return false
	case strings.Contains(text, deposited), strings.Contains(text, "출금"), strings.Contains(text, "취소"), isSent(text), hasPrefix(text, received):
		return false
	case saysOne(text, undone), isSpent(text), bigUnit(text), r.hidesDigits(i):
		return false
	case conditions[text] && i > 0 && r.tokens[i-1].text == deposited:
		return false
	case r.own[text] && r.ownPlace(i), particles[text] && !r.tokens[i].spaced:
		return false
	case weekdays[text] && r.token(i-1).text == "(" && r.token(i+1).text == ")":
		return false
	}
	for _, end := range endings {
		if strings.HasSuffix(text, end) {
			return false
		}
	}
	return true
}

// hidesDigits knows the x that hides digits: 123-xx-456, x1234.
func (r *reader) hidesDigits(i int) bool {
	text, after := r.tokens[i].text, r.token(i+1)
	return strings.Trim(text, "x") == "" && (len(text) > 1 || after.kind == number && !after.spaced)
}

// ownPlace is where a bank puts its short name: first in a line or in a bracket,
// also after another word of it. Elsewhere 우리 or 하나 may begin a payer's name.
func (r *reader) ownPlace(i int) bool {
	if i == 0 || r.tokens[i-1].kind == line || r.tokens[i-1].text == "[" || r.tokens[i-1].text == "]" {
		return true
	}
	before := r.tokens[i-1]
	return before.kind == word && before.used && r.own[before.text]
}

func isSent(text string) bool {
	return hasPrefix(text, sent) || strings.HasSuffix(text, "이체") || strings.HasSuffix(text, "송금")
}

// isSpent knows the cards by their own word: 신한체크승인, but not 최승인.
func isSpent(text string) bool {
	card := strings.Contains(text, "카드") || strings.Contains(text, "체크")
	return saysOne(text, spent) || card && (strings.HasSuffix(text, "승인") || strings.HasSuffix(text, "결제"))
}

func hasPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// saysOne reports whether a word is one of the roots, alone or with a verb: 승인,
// 승인되었습니다, but not the name 정정호.
func saysOne(text string, roots []string) bool {
	for _, root := range roots {
		if rest, ok := strings.CutPrefix(text, root); ok && (rest == "" || hasPrefix(rest, verbs)) {
			return true
		}
	}
	return false
}

var verbs = []string{"되", "됐", "됨", "된", "했", "하", "함", "한", "할", "해", "드립", "드려", "드렸", "입니", "처리", "완료", "안내"}

// bigUnit reports whether a word is made of Korean powers of ten: 만원, 억, 천원을.
func bigUnit(text string) bool {
	rest := strings.TrimLeft(text, units)
	return rest != text && (rest == "" || rest == "원" || rest == "원을" || rest == "원이" || rest == "원의" || rest == "원까지")
}
