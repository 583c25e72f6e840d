package web

var commonTexts = map[string]text{
	"lang.ko":     {"한국어", "한국어"},
	"lang.en":     {"English", "English"},
	"lang.switch": {"언어", "Language"},

	"site.name":      {"모의 결제 서비스", "Mock payment service"},
	"site.test":      {"테스트용입니다. 실제 돈은 움직이지 않습니다.", "For tests only. No real money moves."},
	"site.dashboard": {"관리 화면", "Dashboard"},
	"site.store":     {"게임 상점", "Game store"},
	"site.api":       {"API 문서", "API"},
	"site.skip":      {"본문으로 건너뛰기", "Skip to the content"},

	"live.offline": {"서버와 연결이 끊겼습니다. 다시 연결하는 중입니다…", "Connection to the server lost. Trying again…"},
	"live.reload":  {"새로 고침", "Reload"},

	"text.whole":   {"전체 내용 (%s자)", "The whole text (%s characters)"},
	"copy.button":  {"복사", "Copy"},
	"copy.done":    {"복사됨", "Copied"},
	"copy.of":      {"%s 복사", "Copy %s"},
	"icon.show":    {"아이콘 표시", "Show the icons"},
	"icon.why":     {"아이콘은 다른 사이트에 있어 자동으로 불러오지 않습니다.", "Icons are on other sites, so they are not loaded automatically."},
	"icon.hide":    {"아이콘 숨기기", "Hide the icons"},
	"field.error":  {"오류:", "Error:"},
	"flash.done":   {"완료", "Done"},
	"flash.error":  {"오류", "Error"},
	"pager.label":  {"페이지", "Pages"},
	"pager.at":     {"%s / %s 페이지", "Page %s of %s"},
	"pager.before": {"이전", "Previous"},
	"pager.after":  {"다음", "Next"},

	"refused.notfound.title": {"페이지를 찾을 수 없습니다", "Page not found"},
	"refused.notfound":       {"주소를 확인해 주세요.", "Check the address."},
	"refused.method.title":   {"이 주소로는 보낼 수 없습니다", "This address does not accept such a request"},
	"refused.method":         {"이전 페이지로 돌아가 다시 시도해 주세요.", "Go back to the previous page and try again."},
	"refused.origin.title":   {"다른 사이트에서 온 요청입니다", "The request comes from another site"},
	"refused.origin":         {"모의 서비스는 자기 페이지에서 온 요청만 받습니다. 이 사이트를 직접 열어 주세요.", "The mock accepts forms only from its own pages. Open this site directly and try again."},
	"refused.host.title":     {"이 주소로는 열 수 없습니다", "Not under this name"},
	"refused.host":           {"모의 서비스가 출력한 주소(예: 127.0.0.1)로 열어 주세요.", "Open the address that the mock prints, such as 127.0.0.1."},
	"refused.form.title":     {"양식을 읽을 수 없습니다", "The form cannot be read"},
	"refused.form":           {"양식이 너무 크거나 잘못되었습니다. 내용을 줄여 다시 보내 주세요.", "The form is too large or malformed. Shorten it and send it again."},
	"refused.other.title":    {"요청을 처리할 수 없습니다", "The request was refused"},
}
