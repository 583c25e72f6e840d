package main

// texts are the words of the shop, in English and Korean.
var texts = merged(map[string][2]string{
	"shop":   {"Dal Goods", "달 가게"},
	"motto":  {"A few good things, made slowly.", "천천히 만든, 몇 가지 좋은 물건."},
	"skip":   {"Skip to the contents", "본문으로 건너뛰기"},
	"langs":  {"Language", "언어"},
	"menu":   {"Shop", "가게"},
	"foot":   {"A reference shop for bank deposits. Nothing here is for sale.", "무통장 입금 결제를 보여 주는 예시 가게입니다. 실제로 판매하지 않습니다."},
	"add":    {"Add to cart", "장바구니에 담기"},
	"left":   {"%d left", "%d개 남음"},
	"none":   {"Sold out", "품절"},
	"cart":   {"Cart", "장바구니"},
	"orders": {"My orders", "내 주문"},
	"back":   {"Back to the shop", "가게로 돌아가기"},

	"cart.empty":   {"Your cart is empty.", "장바구니가 비어 있습니다."},
	"cart.count":   {"Quantity of %s", "%s 수량"},
	"cart.short":   {"Only %d left. Please order fewer.", "%d개만 남았습니다. 수량을 줄여 주세요."},
	"cart.update":  {"Update", "수량 바꾸기"},
	"cart.order":   {"Order", "주문하기"},
	"cart.advice":  {"You pay by bank deposit; the order page leads to the payment page. We set the goods aside when your deposit arrives.", "무통장 입금으로 결제합니다. 주문 화면에서 결제 화면을 열 수 있습니다. 입금이 확인되면 상품을 준비합니다."},
	"item":         {"Item", "상품"},
	"quantity":     {"Quantity", "수량"},
	"price":        {"Price", "금액"},
	"total":        {"Total", "합계"},
	"orders.empty": {"You have not ordered anything in this browser.", "이 브라우저에서 주문한 내역이 없습니다."},

	"order":         {"Order", "주문"},
	"order.title":   {"Order %s", "주문 %s"},
	"order.placed":  {"Placed", "주문 시각"},
	"order.until":   {"Deadline", "입금 기한"},
	"order.pay":     {"Go to the payment page", "결제 화면으로 가기"},
	"order.first":   {"Try again", "다시 시도"},
	"order.again":   {"Get a new payment link", "결제 링크 다시 받기"},
	"order.cancel":  {"Cancel this order", "주문 취소"},
	"order.receipt": {"Show the receipt", "영수증 보기"},

	"unprepared":        {"The payment could not be prepared", "결제를 준비하지 못했습니다"},
	"waiting":           {"Waiting for your deposit", "입금을 기다립니다"},
	"expired":           {"The time to pay is over", "입금 기한이 지났습니다"},
	"arrived":           {"Your deposit has arrived", "입금이 확인되었습니다"},
	"checking":          {"We are looking at your deposit", "입금 내역을 확인하고 있습니다"},
	"attention":         {"We are looking at your order", "주문을 확인하고 있습니다"},
	"rejected":          {"We could not accept your deposit", "입금이 승인되지 않았습니다"},
	"paid":              {"Paid. Thank you!", "결제되었습니다. 고맙습니다!"},
	"cancelled":         {"Cancelled", "취소된 주문입니다"},
	"sold_out":          {"Sold out before your deposit came", "입금 전에 품절되었습니다"},
	"unprepared.advice": {"Nothing has been paid. Please try again in a moment.", "아직 결제된 금액은 없습니다. 잠시 후 다시 시도해 주세요."},
	"waiting.advice":    {"Please deposit exactly %s, in the name that you give on the payment page. Already done? Do not pay again.", "결제 화면에 적은 이름으로 정확히 %s을 입금해 주세요. 이미 입금했다면 다시 입금하지 말고 기다려 주세요."},
	"expired.advice":    {"If you have paid already, please wait. If you pay now, the order still counts while the goods last; else you get the money back.", "이미 입금했다면 기다려 주세요. 지금 입금해도 재고가 있으면 주문이 처리되고, 없으면 입금액을 돌려 드립니다."},
	"arrived.advice":    {"We are setting your goods aside. You need not do anything.", "상품을 준비하고 있습니다. 더 하실 일은 없습니다."},
	"checking.advice":   {"You paid %s, the order is %s. Please do not pay again: the shopkeeper soon accepts your money or gives it back.", "%s이 입금되었고 주문 금액은 %s입니다. 다시 입금하지 마세요. 가게에서 확인한 뒤 승인하거나 돌려 드립니다."},
	"checking.nothing":  {"No money has come by this payment. The shopkeeper looks at it soon.", "이 결제로 입금된 금액이 없습니다. 가게에서 곧 확인합니다."},
	"attention.advice":  {"Your money is here and safe. Please do not pay again: the shopkeeper has been told.", "입금액은 안전하게 보관되어 있습니다. 다시 입금하지 마세요. 가게에서 확인하고 있습니다."},
	"rejected.advice":   {"The order is not paid. You may pay again, or cancel it.", "주문이 아직 결제되지 않았습니다. 다시 결제하거나 주문을 취소할 수 있습니다."},
	"rejected.over":     {"The order is not paid, and takes no more payments. Please cancel it and place a new order.", "주문이 결제되지 않았고, 이 주문으로는 더 결제할 수 없습니다. 주문을 취소하고 다시 주문해 주세요."},
	"paid.advice":       {"You need not do anything. We will send your goods soon.", "더 하실 일은 없습니다. 상품을 곧 보내 드립니다."},
	"paid.sent":         {"We sent your goods on %s.", "%s에 상품을 보냈습니다."},
	"cancelled.advice":  {"Please do not pay any more. Money that still arrives goes back to you.", "더 이상 입금하지 마세요. 입금된 금액이 있으면 돌려 드립니다."},
	"sold_out.advice":   {"We are sorry. Please do not pay again: you get the whole sum back.", "죄송합니다. 다시 입금하지 마세요. 입금액을 모두 돌려 드립니다."},

	"deposit.paid":         {"%s was paid for this order.", "이 주문에 %s이 입금되었습니다."},
	"deposit.paid_twice":   {"%s came although the order was paid.", "이미 결제된 주문에 %s이 또 입금되었습니다."},
	"deposit.after_cancel": {"%s came after the order was cancelled.", "취소된 주문에 %s이 입금되었습니다."},
	"deposit.sold_out":     {"%s came when the goods were sold out.", "품절된 뒤에 %s이 입금되었습니다."},
	"deposit.rejected":     {"%s came, but was not accepted.", "%s이 입금되었지만 승인되지 않았습니다."},
	"came":                 {"%s has come as well. The shopkeeper is looking at it.", "%s이 더 입금되었습니다. 가게에서 확인하고 있습니다."},
	"owed":                 {"We give %s back to you.", "%s을 돌려 드립니다."},
	"returned":             {"%s was given back on %s.", "%s을 돌려 드렸습니다 (%s)."},

	"receipt":         {"Receipt", "영수증"},
	"receipt.number":  {"Receipt for order %s", "주문 %s 영수증"},
	"receipt.paid":    {"Paid", "입금액"},
	"receipt.when":    {"Confirmed", "확인 시각"},
	"receipt.method":  {"Method", "결제 수단"},
	"receipt.payment": {"Payment", "결제 번호"},
	"method.DEPOSIT":  {"Bank deposit", "무통장 입금"},
	"method.CULTURE":  {"Gift voucher", "문화상품권"},
	"method.other":    {"Other", "기타"},

	"problem":  {"That did not work", "처리하지 못했습니다"},
	"notfound": {"There is no such page", "없는 페이지입니다"},
	"badform":  {"Something in the form is missing or wrong", "입력한 내용이 빠졌거나 올바르지 않습니다"},
	"nolink":   {"This order takes no further payment link", "이 주문은 결제 링크를 더 만들 수 없습니다"},
	"outdated": {"This has changed meanwhile. Please look again", "그사이 내용이 바뀌었습니다. 다시 확인해 주세요"},
	"broken":   {"Something is broken here. Please try again", "문제가 생겼습니다. 다시 시도해 주세요"},
}, officeTexts, contactTexts)

func merged(parts ...map[string][2]string) map[string][2]string {
	whole := map[string][2]string{}
	for _, part := range parts {
		for key, both := range part {
			whole[key] = both
		}
	}
	return whole
}
