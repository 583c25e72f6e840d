package notice

import "strings"

// Direction is what a notification says happened to the account.
type Direction uint8

const (
	// Other is an advert, a warning, a deposit taken back, or nothing about money.
	Other Direction = iota
	// Deposit says that money came in.
	Deposit
	// Withdrawal says that money went out, also by card.
	Withdrawal
)

// Notification is what a phone shows. Subtitle and Text may both be empty.
type Notification struct{ Package, Title, Subtitle, Text string }

// Notice is what a notification says.
type Notice struct {
	Direction Direction
	// Amount is what was paid in won, at least 1. It is 0 when the text leaves a
	// choice or names none.
	Amount int64
	// Payer is the name as the bank shows it, perhaps with hidden characters
	// (김*수), with single spaces. It is empty when the text leaves a choice.
	Payer string
}

// Read returns what a notification says. Amount and Payer are set for a [Deposit]
// only. The time is linear in the length of the texts.
func Read(n Notification) Notice {
	folded, ok := fold(n.Title + "\n" + n.Subtitle + "\n" + n.Text)
	if !ok {
		return Notice{}
	}
	r := reader{tokens: cut(lex(folded)), own: ownWords[n.Package]}
	return r.read()
}

// reader holds the tokens of one notification while the rules go over them.
type reader struct {
	tokens []token
	own    map[string]bool // the bank's short names
	facts
}

// facts are what the words of a text say.
type facts struct {
	deposit, withdrawal, sent, received bool
	off                                 bool // a condition, a cancellation, an advert
}

func (r *reader) read() Notice {
	r.findWords()
	amount, money := r.findAmount()
	if r.off {
		return Notice{}
	}
	payer, byName := r.findPayer()
	switch {
	case r.deposit && !money && payer == "":
		return Notice{} // "입금 알림": it says nothing
	case r.deposit && r.withdrawal:
		return Notice{Direction: Deposit} // it says both
	case r.deposit, r.received, r.sent && byName && !r.withdrawal:
		return Notice{Direction: Deposit, Amount: amount, Payer: payer}
	case r.withdrawal, r.sent:
		return Notice{Direction: Withdrawal}
	}
	return Notice{}
}

// cut splits the words around 입금: banks write a name, the way the money came and
// 입금 in one word, as in 홍길동전자금융입금.
func cut(tokens []token) []token {
	out := make([]token, 0, len(tokens)+4)
	for _, t := range tokens {
		at := strings.LastIndex(t.raw, deposited)
		var name string
		if at > 0 {
			name = trimChannels(t.raw[:at])
		}
		if t.kind != word || at < 0 || beside[t.text] || strings.Contains(t.text, "입출금") || name == "미" {
			out = append(out, t)
			continue
		}
		end := t.raw[at+len(deposited):]
		if name != "" {
			out = append(out, token{kind: word, raw: name, text: strings.ToLower(name), spaced: t.spaced})
		}
		said := deposited
		if end != "" && !stated[end] {
			said += end
		}
		out = append(out, token{kind: word, raw: said, text: said, spaced: t.spaced && name == "", used: true})
	}
	return out
}

const deposited = "입금"

func trimChannels(name string) string {
	for {
		rest := name
		for _, c := range channels {
			if n := len(rest) - len(c); n >= 0 && strings.EqualFold(rest[n:], c) {
				rest = rest[:n]
			}
		}
		if rest == name {
			return name
		}
		name = rest
	}
}
