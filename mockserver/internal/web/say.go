package web

import (
	"fmt"
	"regexp"
	"strconv"
)

// Say translates what the server says about a webhook attempt or a fault. An unknown
// sentence comes back as it is.
func Say(lang Lang, text string) string {
	if _, isKind := texts["dash.kind."+text]; isKind {
		return text + " · " + Text(lang, "dash.kind."+text)
	}
	return say(lang, sayings, text)
}

// SayEvent is Say for an event of a timeline. Each kind has its own sentences, so that a
// payer's name that looks like a sentence is not translated.
func SayEvent(lang Lang, kind, text string) string { return say(lang, eventSayings[kind], text) }

// saying is a sentence of the server and its translation. The groups of the pattern are
// the arguments: "who" is a name that a person typed, "money" an amount, and "again"
// another sentence.
type saying struct {
	pattern *regexp.Regexp
	text
}

func sentence(pattern, ko, en string) saying {
	return saying{regexp.MustCompile(`(?s)^` + pattern + `$`), text{ko, en}}
}

var sayings = []saying{
	sentence(`answered HTTP (\d+)`, "HTTP %s 응답을 받았습니다.", "The receiver responded with HTTP %s."),
	sentence(`answered HTTP (\d+), only 200 counts`, "HTTP %s 응답을 받았습니다. 200만 성공입니다.", "The receiver responded with HTTP %s; only 200 counts."),
	sentence(`no answer within 10s`, "10초 안에 응답이 없었습니다.", "No response within 10 seconds."),
	sentence(`cut off by a manual resend`, "재전송하면서 중단되었습니다.", "Canceled by a manual resend."),
	sentence(`cut off: the mock server was closed`, "모의 서버가 종료되어 중단되었습니다.", "Canceled: the mock server was closed."),
	sentence(`the webhook URI is unusable`, "웹훅 주소를 사용할 수 없습니다.", "The webhook URI cannot be used."),
	sentence(`connection reset by peer \(a fault rule lost the receiver's answer\)`, "장애 규칙이 수신 프로그램의 응답을 없앴습니다.", "A fault rule dropped the receiver's response."),
	sentence(`(.*connection refused.*)`, "연결이 거부되었습니다. 수신 프로그램이 실행 중인지 확인하세요. (%s)", "The connection was refused. Is the receiver running? (%s)"),
	sentence(`(.*no such host.*)`, "웹훅 주소의 호스트 이름을 찾을 수 없습니다. (%s)", "The host of the webhook URI was not found. (%s)"),
	sentence(`(EOF|.*: EOF)`, "수신 프로그램이 응답 없이 연결을 닫았습니다. (%s)", "The receiver closed the connection without a response. (%s)"),
	sentence(`([-a-z].*): nothing was done`, "%s: 처리하지 않음", "%s: nothing was done"),
	sentence(`([-a-z].*): the server was closed meanwhile, nothing was done`, "%s: 서버가 종료되어 처리하지 않음", "%s: the server was closed, nothing was done"),
	sentence(`([-a-z].*): dropped after the commit`, "%s: 처리한 뒤 연결을 끊음", "%s: done, then dropped"),
	sentence(`([-a-z].*): answered so after the commit`, "%s: 처리한 뒤 이렇게 응답함", "%s: done, then this response"),
}

var eventSayings = map[string][]saying{
	"created": {
		sentence(`created with POST /payments`, "POST /payments로 만들어졌습니다.", "Created with POST /payments."),
		sentence(`bought in the game store`, "게임 상점에서 구매했습니다.", "Bought in the game store."),
	},
	"payer": {
		sentence(`(?P<who>.*) will pay 0`, "%s 이름으로 입금할 예정입니다.", "%s will pay."),
		sentence(`(?P<who>.*) will pay (?P<money>\d+)`, "%s 이름으로 %s을 입금할 예정입니다.", "%s will pay %s."),
	},
	"deposit": {
		sentence(`somebody paid (?P<money>\d+) by (\w+)`, "입금자 이름 없이 %s이 입금되었습니다. (%s)", "Somebody paid %s (%s)."),
		sentence(`(?P<who>.*) paid (?P<money>\d+) by (\w+)`, "%s 이름으로 %s이 입금되었습니다. (%s)", "%s paid %s (%s)."),
	},
	"webhook": {
		sentence(`attempt (\d+) of (\d+): (?P<again>.*)`, "%s/%s번째 시도: %s", "Attempt %s of %s: %s"),
		sentence(`not sent any more: the payment is COMPLETE`, "이미 완료된 결제라 더 보내지 않습니다.", "Nothing more is sent: the payment is COMPLETE."),
	},
	"resend": {
		sentence(`a resend was asked for`, "재전송을 요청했습니다.", "Resend requested."),
	},
	"polled": {
		sentence(`completed by GET /callback/rest`, "GET /callback/rest가 완료 처리하고 반환했습니다.", "Completed and returned by GET /callback/rest."),
	},
	"confirmed": {
		sentence(`returned as COMPLETE by POST /payments/confirm`, "POST /payments/confirm이 COMPLETE로 반환했습니다.", "Returned as COMPLETE by POST /payments/confirm."),
		sentence(`returned again by POST /payments/confirm`, "POST /payments/confirm이 다시 반환했습니다.", "Returned again by POST /payments/confirm."),
	},
	"expired": {
		sentence(`nobody paid in time`, "기한까지 입금되지 않았습니다.", "Not paid in time."),
	},
	"cut": {
		sentence(`(\d+) events are left out here`, "%s건이 생략되었습니다.", "%s events are left out here."),
	},
}

func say(lang Lang, known []saying, text string) string {
	for _, s := range known {
		found := s.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		var args []any
		for i, name := range s.pattern.SubexpNames()[1:] {
			args = append(args, argument(lang, name, found[i+1]))
		}
		return fmt.Sprintf(s.in(lang), args...)
	}
	return text
}

func argument(lang Lang, name, text string) string {
	switch name {
	case "who":
		return "\u2068" + text + "\u2069" // isolates its direction
	case "again":
		return Say(lang, text)
	case "money":
		if amount, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Money(lang, amount)
		}
	}
	return text
}
