package web

import "strings"

// DashWhy is a refusal of the server in the visitor's language, where it is one that the
// forms of the dashboard meet, else as it is.
func DashWhy(lang Lang, text string) string {
	for _, known := range dashWhys {
		if strings.HasPrefix(text, known.begins) {
			return Text(lang, "dash.why."+known.key)
		}
	}
	switch {
	case strings.Contains(text, "is unknown for the operation "), strings.Contains(text, "is unknown; use"):
		return Text(lang, "dash.why.kind")
	case strings.Contains(text, "cap of "), strings.Contains(text, "the mock keeps at most"), strings.Contains(text, "clear them first"):
		return Text(lang, "dash.why.full")
	}
	return text
}

// dashWhys are the server's words, and the text that says it here.
var dashWhys = []struct{ begins, key string }{
	{"is required: send a text", "required"},
	{"is required: the payment was created without one", "amount"},
	{"is required: the notification does not say", "unreadable"},
	{"is required: choose a candidate", "candidate"},
	{"is required: send the title", "words"},
	{"must be at most 40 characters", "long40"},
	{"must be at most 100 characters", "long100"},
	{"must not hold control characters", "control"},
	{"must not hold the token", "token-name"},
	{"must be at least 1", "atleast1"},
	{"must be a whole number", "whole"},
	{"must be a length of time", "duration"},
	{"must start with \"https://\"", "https"},
	{"is the name of another application", "name-taken"},
	{"belongs to an application already", "token-taken"},
	{"is refused: a token", "token"},
	{"must be an absolute http", "url"},
	{"does not name a loopback host", "loopback"},
	{"must be up to 64 letters", "game"},
	{"no payment has this payToken", "nopayment"},
	{"a deposit for this payment was recognized before", "paid"},
	{"nobody paid this payment in time", "expired"},
	{"no webhook attempt of this payment waits", "noattempt"},
	{"is required by ", "delay"},
	{"has no use for ", "useless"},
	{"must be an HTTP status from 400", "status"},
	{"must be above 0 and at most 1", "probability"},
	{"must be up to ", "toolong"},
	{"cannot be read: ", "dialect"},
	{"must be 0 or more", "useless"},
	{"must be from 0 to ", "whole"},
	{"must be left out", "left-out"},
	{"must be valid UTF-8", "control"},
	{"must not begin or end with a space", "spaces"},
	{"is not in the bank list", "bank"},
	{"is not the name of an application", "noapplication"},
	{"there is no application with this number", "noapplication"},
	{"the game store has no product with this id", "noproduct"},
	{"the game store has no user with this id", "nouser"},
	{"no unmatched deposit has this deposit_id", "nodeposit"},
	{"nobody has paid this payment", "notpaid"},
	{"the application has no webhook URI", "nowebhook"},
	{"the answer to the notification was lost", "answerlost"},
	{"there is no such fault rule", "norule"},
	{"the mock server is closed", "closed"},
}

var dashWhyTexts = map[string]text{
	"dash.why.required":      {"입력해 주세요.", "Fill this in."},
	"dash.why.amount":        {"금액이 정해지지 않은 결제입니다. 금액을 입력해 주세요.", "The payment has no price of its own. Enter the amount."},
	"dash.why.unreadable":    {"알림에서 금액을 읽을 수 없습니다. 금액을 입력해 주세요.", "The notification does not say readably how much was paid. Enter the amount."},
	"dash.why.candidate":     {"후보를 고르거나 결제 ID를 입력해 주세요.", "Choose a candidate, or enter the id of a payment."},
	"dash.why.words":         {"제목이나 본문을 입력해 주세요.", "Enter a title or a text."},
	"dash.why.long40":        {"40자까지 쓸 수 있습니다.", "At most 40 characters, please."},
	"dash.why.long100":       {"100자까지 쓸 수 있습니다.", "At most 100 characters, please."},
	"dash.why.control":       {"보이지 않는 제어 문자는 쓸 수 없습니다.", "Control characters are not allowed."},
	"dash.why.token-name":    {"이름에 토큰을 넣을 수 없습니다. 이름은 모두에게 보입니다.", "It must not hold the token: names are shown to everybody."},
	"dash.why.atleast1":      {"1 이상이어야 합니다.", "It must be at least 1."},
	"dash.why.whole":         {"10000처럼 정수로 입력해 주세요.", "Enter a whole number, as in 10000."},
	"dash.why.duration":      {"90s, 5m, 2h30m처럼 0보다 긴 시간을 입력해 주세요.", "Enter a length of time above 0, as in 90s, 5m or 2h30m."},
	"dash.why.https":         {"https://로 시작해야 합니다.", "It must begin with https://."},
	"dash.why.name-taken":    {"다른 애플리케이션의 이름입니다.", "Another application has this name."},
	"dash.why.token-taken":   {"이미 있는 토큰입니다. 그 애플리케이션을 수정하거나 다른 토큰을 고르세요.", "An application has this token already. Edit that one, or choose another token."},
	"dash.why.token":         {"토큰은 test_로 시작하고, 영문자·숫자·-._~로 된 128자까지입니다. 실제 토큰은 넣지 마세요.", "A token begins with test_ and has up to 128 letters, digits or -._~. Never enter a live one."},
	"dash.why.url":           {"http:// 또는 https://로 시작하는 주소여야 합니다.", "It must be an http:// or https:// address."},
	"dash.why.loopback":      {"이 컴퓨터의 주소(127.0.0.1, localhost)만 쓸 수 있습니다.", "Only addresses of this machine (127.0.0.1, localhost) are allowed."},
	"dash.why.game":          {"영문자, 숫자, _로 64자까지이며 items는 쓸 수 없습니다.", "Up to 64 letters, digits or _, and not items."},
	"dash.why.nopayment":     {"이 ID의 결제가 없습니다.", "No payment has this id."},
	"dash.why.paid":          {"이미 입금된 결제입니다.", "This payment is paid already."},
	"dash.why.expired":       {"기한이 지나 만료된 결제입니다.", "Nobody paid in time: the payment has expired."},
	"dash.why.noattempt":     {"기다리는 전송 시도가 없습니다. 재전송하면 새로 시작합니다.", "No attempt waits for its time. A resend begins ten new ones."},
	"dash.why.delay":         {"이 장애에는 지연 시간이 필요합니다. 예: 200ms", "This kind needs a delay, as in 200ms."},
	"dash.why.useless":       {"이 장애에는 쓰이지 않습니다. 비워 주세요.", "This kind has no use for it. Leave it empty."},
	"dash.why.status":        {"400~599의 HTTP 상태를 입력해 주세요.", "Enter an HTTP status from 400 to 599."},
	"dash.why.probability":   {"0보다 크고 1 이하여야 합니다.", "It must be above 0 and at most 1."},
	"dash.why.kind":          {"이 API 작업에는 쓸 수 없는 장애 종류입니다. 다른 종류를 고르세요.", "This operation has no such kind of fault. Choose another one."},
	"dash.why.full":          {"저장 한도에 도달했습니다. 필요 없는 것을 지우거나 모의 서버를 다시 시작하세요.", "The cap of what is kept is reached. Remove something, or start the mock again."},
	"dash.why.dialect":       {"응답 형식에 없는 값입니다. 목록에서 고르세요.", "The dialect has no such value. Choose one of the list."},
	"dash.why.toolong":       {"너무 깁니다. 더 짧게 입력해 주세요.", "It is too long. Enter less."},
	"dash.why.left-out":      {"비워 두세요. 금액은 이미 정해져 있습니다.", "Leave it empty: the amount is known already."},
	"dash.why.spaces":        {"앞뒤에 공백을 둘 수 없습니다.", "It must not begin or end with a space."},
	"dash.why.bank":          {"은행 목록에 없는 앱입니다. 목록에서 고르세요.", "The app is not in the bank list. Choose one of the list."},
	"dash.why.noapplication": {"그런 애플리케이션이 없습니다. 목록에서 고르세요.", "There is no such application. Choose one of the list."},
	"dash.why.noproduct":     {"이 상품은 이제 없습니다. 목록을 확인하세요.", "There is no such product any more. Look at the list."},
	"dash.why.nouser":        {"이 이용자는 없습니다. 먼저 저장하세요.", "There is no such user. Save the user first."},
	"dash.why.nodeposit":     {"이미 처리된 입금입니다. 목록을 확인하세요.", "This deposit was dealt with already. Look at the list."},
	"dash.why.notpaid":       {"아직 입금되지 않은 결제입니다.", "Nobody has paid this payment yet."},
	"dash.why.nowebhook":     {"이 애플리케이션에는 웹훅 주소가 없습니다. 먼저 설정하세요.", "The application has no webhook URI. Set one first."},
	"dash.why.answerlost":    {"알림에 대한 응답이 사라졌습니다. 서비스가 받았는지 아래 목록에서 확인하세요.", "The answer to the notification was lost. See in the list whether the service got it."},
	"dash.why.norule":        {"이 규칙은 이제 없습니다. 목록을 확인하세요.", "There is no such rule any more. Look at the list."},
	"dash.why.closed":        {"모의 서버가 종료되었습니다. 다시 시작하세요.", "The mock server is closed. Start it again."},
}
