package web

import "strings"

// DashWhy is an error message of the server in the visitor's language if the forms of the
// dashboard can cause it. Any other message comes back as it is.
func DashWhy(lang Lang, message string) string {
	for _, why := range dashWhys {
		for _, words := range why.messages {
			if strings.HasPrefix(message, words) || words[0] == '*' && strings.Contains(message, words[1:]) {
				return why.in(lang)
			}
		}
	}
	return message
}

// dashWhys are texts with the messages that they translate: how a message begins or, after
// an asterisk, what it contains.
var dashWhys = []struct {
	text
	messages []string
}{
	{text{"입력해 주세요.", "Fill this in."}, []string{"is required: send a text"}},
	{text{"금액이 정해지지 않은 결제입니다. 금액을 입력해 주세요.", "This payment has no fixed price. Enter the amount."}, []string{"is required: the payment was created without one"}},
	{text{"알림에서 금액을 읽을 수 없습니다. 금액을 입력해 주세요.", "The amount cannot be read from the notification. Enter it."}, []string{"is required: the notification does not say"}},
	{text{"후보를 고르거나 결제 ID를 입력해 주세요.", "Choose a candidate or enter the id of a payment."}, []string{"is required: choose a candidate"}},
	{text{"제목이나 본문을 입력해 주세요.", "Enter a title or a text."}, []string{"is required: send the title"}},
	{text{"40자까지 쓸 수 있습니다.", "Use at most 40 characters."}, []string{"must be at most 40 characters"}},
	{text{"100자까지 쓸 수 있습니다.", "Use at most 100 characters."}, []string{"must be at most 100 characters"}},
	{text{"보이지 않는 제어 문자는 쓸 수 없습니다.", "Control characters are not allowed."}, []string{"must not hold control characters", "must be valid UTF-8"}},
	{text{"이름에 토큰을 넣을 수 없습니다. 이름은 모두에게 보입니다.", "It must not contain the token: names are shown to everyone."}, []string{"must not hold the token"}},
	{text{"1 이상이어야 합니다.", "It must be at least 1."}, []string{"must be at least 1"}},
	{text{"10000처럼 정수로 입력해 주세요.", "Enter a whole number, such as 10000."}, []string{"must be a whole number", "must be from 0 to "}},
	{text{"90s, 5m, 2h30m처럼 0보다 긴 시간을 입력해 주세요.", "Enter a length of time above 0, such as 90s, 5m or 2h30m."}, []string{"must be a length of time"}},
	{text{"https://로 시작해야 합니다.", "It must begin with https://."}, []string{"must start with \"https://\""}},
	{text{"다른 애플리케이션의 이름입니다.", "Another application has this name."}, []string{"is the name of another application"}},
	{text{"이미 있는 토큰입니다. 그 애플리케이션을 수정하거나 다른 토큰을 고르세요.", "An application has this token already. Edit it or choose another token."}, []string{"belongs to an application already"}},
	{text{"토큰은 test_로 시작하고, 영문자·숫자·-._~로 된 128자까지입니다. 실제 토큰은 넣지 마세요.", "A token begins with test_ and has up to 128 letters, digits or -._~. Never enter a live one."}, []string{"is refused: a token"}},
	{text{"http:// 또는 https://로 시작하는 주소여야 합니다.", "It must be an http:// or https:// address."}, []string{"must be an absolute http"}},
	{text{"이 컴퓨터의 주소(127.0.0.1, localhost)만 쓸 수 있습니다.", "Only addresses of this machine (127.0.0.1, localhost) are allowed."}, []string{"does not name a loopback host"}},
	{text{"영문자, 숫자, _로 64자까지이며 items는 쓸 수 없습니다.", "Up to 64 letters, digits or _, and not items."}, []string{"must be up to 64 letters"}},
	{text{"이 ID의 결제가 없습니다.", "No payment has this id."}, []string{"no payment has this payToken"}},
	{text{"이미 입금된 결제입니다.", "This payment is already paid."}, []string{"a deposit for this payment was "}},
	{text{"기한이 지나 만료된 결제입니다.", "The payment has expired."}, []string{"nobody paid this payment in time"}},
	{text{"기다리는 전송 시도가 없습니다. 재전송하면 새로 시작합니다.", "No attempt is waiting. A resend starts ten new ones."}, []string{"no webhook attempt of this payment waits"}},
	{text{"이 장애에는 지연 시간이 필요합니다. 예: 200ms", "This kind needs a delay, such as 200ms."}, []string{"is required by "}},
	{text{"이 장애에는 쓰이지 않습니다. 비워 주세요.", "This kind does not use it. Leave it empty."}, []string{"has no use for ", "must be 0 or more"}},
	{text{"400~599의 HTTP 상태를 입력해 주세요.", "Enter an HTTP status from 400 to 599."}, []string{"must be an HTTP status from 400"}},
	{text{"0보다 크고 1 이하여야 합니다.", "It must be above 0 and at most 1."}, []string{"must be above 0 and at most 1"}},
	{text{"이 API 작업에는 쓸 수 없는 장애 종류입니다. 다른 종류를 고르세요.", "This operation does not have this kind of fault. Choose another one."}, []string{"*is unknown for the operation ", "*is unknown; use"}},
	{text{"저장 한도에 도달했습니다. 필요 없는 것을 지우거나 모의 서버를 다시 시작하세요.", "The mock cannot keep more. Remove something or restart the mock."}, []string{"*cap of ", "*the mock keeps at most", "*clear them first"}},
	{text{"응답 형식에 없는 값입니다. 목록에서 고르세요.", "The dialect has no such value. Choose one from the list."}, []string{"cannot be read: "}},
	{text{"너무 깁니다. 더 짧게 입력해 주세요.", "It is too long. Enter less."}, []string{"must be up to "}},
	{text{"비워 두세요. 금액은 이미 정해져 있습니다.", "Leave it empty: the amount is already known."}, []string{"must be left out"}},
	{text{"앞뒤에 공백을 둘 수 없습니다.", "It must not begin or end with a space."}, []string{"must not begin or end with a space"}},
	{text{"은행 목록에 없는 앱입니다. 목록에서 고르세요.", "The app is not in the bank list. Choose one from the list."}, []string{"is not in the bank list"}},
	{text{"그런 애플리케이션이 없습니다. 목록에서 고르세요.", "There is no such application. Choose one from the list."}, []string{"is not the name of an application", "there is no application with this number"}},
	{text{"이 상품은 이제 없습니다. 목록을 확인하세요.", "This product no longer exists. Check the list."}, []string{"the game store has no product with this id"}},
	{text{"이 이용자는 없습니다. 먼저 저장하세요.", "This user does not exist. Save the user first."}, []string{"the game store has no user with this id"}},
	{text{"이미 처리된 입금입니다. 목록을 확인하세요.", "This deposit was already handled. Check the list."}, []string{"no unmatched deposit has this deposit_id"}},
	{text{"아직 입금되지 않은 결제입니다.", "This payment is not paid yet."}, []string{"nobody has paid this payment"}},
	{text{"이 애플리케이션에는 웹훅 주소가 없습니다. 먼저 설정하세요.", "The application has no webhook URI. Set one first."}, []string{"the application has no webhook URI"}},
	{text{"알림에 대한 응답이 사라졌습니다. 서비스가 받았는지 아래 목록에서 확인하세요.", "The response to the notification was lost. Check in the list whether the service received it."}, []string{"the answer to the notification was lost"}},
	{text{"이 규칙은 이제 없습니다. 목록을 확인하세요.", "This rule no longer exists. Check the list."}, []string{"there is no such fault rule"}},
	{text{"모의 서버가 종료되었습니다. 다시 시작하세요.", "The mock server is closed. Start it again."}, []string{"the mock server is closed"}},
}
