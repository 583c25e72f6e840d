package web

import (
	"regexp"
	"strconv"
)

// Say is what the server says about a webhook attempt or a fault, in the visitor's
// language. What it does not know comes back as it is.
func Say(lang Lang, text string) string {
	if _, isKind := texts["dash.kind."+text]; isKind {
		return text + " · " + Text(lang, "dash.kind."+text)
	}
	return say(lang, sayings, text)
}

// SayEvent is Say for the text of a timeline's event of a kind. The kind keeps a payer
// whose name looks like a sentence of the server's from being taken for one.
func SayEvent(lang Lang, kind, text string) string { return say(lang, eventSayings[kind], text) }

// saying is a sentence of the server's, and the key of the text that says it here. Its
// groups are the arguments: "who" is a name that somebody typed, "money" an amount,
// "again" a sentence of its own.
type saying struct {
	pattern *regexp.Regexp
	key     string
}

func sentence(pattern, key string) saying {
	return saying{regexp.MustCompile(`(?s)^` + pattern + `$`), "dash.say." + key}
}

var sayings = []saying{
	sentence(`answered HTTP (\d+)`, "answered"),
	sentence(`answered HTTP (\d+), only 200 counts`, "refused"),
	sentence(`no answer within 10s`, "timeout"),
	sentence(`cut off by a manual resend`, "superseded"),
	sentence(`cut off: the mock server was closed`, "closed"),
	sentence(`the webhook URI is unusable`, "unusable"),
	sentence(`connection reset by peer \(a fault rule lost the receiver's answer\)`, "lost"),
	sentence(`(.*connection refused.*)`, "nobody"),
	sentence(`(.*no such host.*)`, "nohost"),
	sentence(`(EOF|.*: EOF)`, "eof"),
	sentence(`([-a-z].*): nothing was done`, "fault.before"),
	sentence(`([-a-z].*): the server was closed meanwhile, nothing was done`, "fault.closed"),
	sentence(`([-a-z].*): dropped after the commit`, "fault.dropped"),
	sentence(`([-a-z].*): answered so after the commit`, "fault.after"),
}

var eventSayings = map[string][]saying{
	"created":   {sentence(`created with POST /payments`, "created"), sentence(`bought in the game store`, "bought")},
	"payer":     {sentence(`(?P<who>.*) will pay 0`, "payer.open"), sentence(`(?P<who>.*) will pay (?P<money>\d+)`, "payer")},
	"deposit":   {sentence(`somebody paid (?P<money>\d+) by (\w+)`, "deposit.nobody"), sentence(`(?P<who>.*) paid (?P<money>\d+) by (\w+)`, "deposit")},
	"webhook":   {sentence(`attempt (\d+) of (\d+): (?P<again>.*)`, "attempt"), sentence(`not sent any more: the payment is COMPLETE`, "needless")},
	"resend":    {sentence(`a resend was asked for`, "resend")},
	"polled":    {sentence(`completed by GET /callback/rest`, "polled")},
	"confirmed": {sentence(`returned as COMPLETE by POST /payments/confirm`, "confirmed"), sentence(`returned again by POST /payments/confirm`, "again")},
	"expired":   {sentence(`nobody paid in time`, "expired")},
	"cut":       {sentence(`(\d+) events are left out here`, "cut")},
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
		return Text(lang, s.key, args...)
	}
	return text
}

func argument(lang Lang, name, text string) string {
	switch name {
	case "who":
		return "\u2068" + text + "\u2069" // keeps its direction to itself
	case "again":
		return Say(lang, text)
	case "money":
		if amount, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Money(lang, amount)
		}
	}
	return text
}

// dashSayTexts are the sentences of the server.
var dashSayTexts = map[string]text{
	"dash.say.answered":      {"HTTP %s 응답을 받았습니다.", "It answered HTTP %s."},
	"dash.say.refused":       {"HTTP %s 응답을 받았습니다. 200만 성공입니다.", "It answered HTTP %s; only 200 counts."},
	"dash.say.timeout":       {"10초 안에 응답이 없었습니다.", "No answer came within 10 seconds."},
	"dash.say.superseded":    {"재전송하면서 중단되었습니다.", "It was cut off by a manual resend."},
	"dash.say.closed":        {"모의 서버가 종료되어 중단되었습니다.", "It was cut off: the mock server was closed."},
	"dash.say.unusable":      {"웹훅 주소를 사용할 수 없습니다.", "The webhook URI is unusable."},
	"dash.say.lost":          {"장애 규칙이 수신 프로그램의 응답을 없앴습니다.", "A fault rule lost the receiver's answer."},
	"dash.say.nobody":        {"연결이 거부되었습니다. 수신 프로그램이 실행 중인지 확인하세요. (%s)", "The connection was refused. Is the receiver running? (%s)"},
	"dash.say.nohost":        {"웹훅 주소의 호스트 이름을 찾을 수 없습니다. (%s)", "The host of the webhook URI is not known. (%s)"},
	"dash.say.eof":           {"수신 프로그램이 응답 없이 연결을 닫았습니다. (%s)", "The receiver closed the connection without an answer. (%s)"},
	"dash.say.fault.before":  {"%s: 처리하지 않음", "%s: nothing was done"},
	"dash.say.fault.closed":  {"%s: 서버가 종료되어 처리하지 않음", "%s: the server was closed, nothing was done"},
	"dash.say.fault.dropped": {"%s: 처리한 뒤 연결을 끊음", "%s: done, then dropped"},
	"dash.say.fault.after":   {"%s: 처리한 뒤 이렇게 응답함", "%s: done, then answered so"},

	"dash.say.created":        {"POST /payments로 만들어졌습니다.", "Created with POST /payments."},
	"dash.say.bought":         {"게임 상점에서 구매했습니다.", "Bought in the game store."},
	"dash.say.payer":          {"%s 이름으로 %s을 입금할 예정입니다.", "%s will pay %s."},
	"dash.say.payer.open":     {"%s 이름으로 입금할 예정입니다.", "%s will pay."},
	"dash.say.deposit":        {"%s 이름으로 %s이 입금되었습니다. (%s)", "%s paid %s (%s)."},
	"dash.say.deposit.nobody": {"입금자 이름 없이 %s이 입금되었습니다. (%s)", "Somebody paid %s (%s)."},
	"dash.say.attempt":        {"%s/%s번째 시도: %s", "Attempt %s of %s: %s"},
	"dash.say.needless":       {"이미 완료된 결제라 더 보내지 않습니다.", "The payment is COMPLETE, so nothing more is sent."},
	"dash.say.resend":         {"재전송을 요청했습니다.", "A resend was asked for."},
	"dash.say.polled":         {"GET /callback/rest가 완료 처리하고 반환했습니다.", "Completed and returned by GET /callback/rest."},
	"dash.say.confirmed":      {"POST /payments/confirm이 COMPLETE로 반환했습니다.", "Returned as COMPLETE by POST /payments/confirm."},
	"dash.say.again":          {"POST /payments/confirm이 다시 반환했습니다.", "Returned again by POST /payments/confirm."},
	"dash.say.expired":        {"기한까지 입금되지 않았습니다.", "Nobody paid in time."},
	"dash.say.cut":            {"%s건이 생략되었습니다.", "%s events are left out here."},
}
