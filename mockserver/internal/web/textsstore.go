package web

var storeTexts = map[string]text{
	"store.name.default":  {"상점 %s", "Application %s"},
	"store.title":         {"게임 상점", "Game store"},
	"store.choose":        {"상점을 고르세요", "Choose a store"},
	"store.unknown.title": {"상점을 찾을 수 없습니다", "There is no such store"},
	"store.unknown":       {"주소를 확인하거나 상점 목록에서 골라 주세요.", "Check the address, or choose one from the list of stores."},

	"store.who":          {"이용자", "Who you are"},
	"store.who.label":    {"구매할 이용자", "User who buys"},
	"store.who.nobody":   {"선택하세요", "Choose a user"},
	"store.who.option":   {"%s (%s)", "%s (%s)"},
	"store.who.choose":   {"선택", "Choose"},
	"store.who.missing":  {"먼저 구매할 이용자를 선택하세요.", "Choose who you are first, then buy."},
	"store.user.new":     {"새 이용자 또는 다른 ID", "New user, or another id"},
	"store.user.name":    {"이름", "Name"},
	"store.user.id":      {"게임 이용자 ID", "Game-user id"},
	"store.user.id.hint": {"비워 두면 새 ID를 만듭니다. 있는 ID를 적으면 그 이용자로 구매합니다.", "Leave it empty to get a new id. With an existing id you buy as that user."},
	"store.user.save":    {"이 이용자로 계속", "Continue as this user"},
	"store.user.missing": {"이름을 입력해 주세요.", "Enter a name."},
	"store.user.long":    {"%s자까지 입력할 수 있습니다.", "Use at most %s characters."},
	"store.user.invalid": {"사용할 수 없는 문자나 앞뒤 공백이 있습니다.", "It contains characters that cannot be shown, or a space at the start or end."},
	"store.user.full":    {"이용자를 더 저장할 수 없습니다.", "No more users can be saved. Choose one from the list."},

	"store.products": {"상품", "Products"},
	"store.buy":      {"구매", "Buy"},
	"store.empty":    {"아직 상품이 없습니다. 관리 화면에서 상품을 추가하세요.", "There are no products yet. Add one in the dashboard."},
	"store.gone":     {"더 이상 판매하지 않는 상품입니다.", "This product is not sold any more."},
}
