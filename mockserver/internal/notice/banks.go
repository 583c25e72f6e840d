package notice

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Bank is a banking app and the forms of its notifications. The packages are those
// of the public app stores; the forms are made up after those that the apps use.
type Bank struct {
	// Name is the display name.
	Name string
	// Package is the package name of the app.
	Package string
	// own are the short names that the bank puts in front of its texts. Names that
	// end with 은행, 뱅크 or 뱅킹 are known anyway.
	own string
	// forms are its notifications of a deposit.
	forms []form
}

// form is a notification with places for {payer}, {amount}, {balance}, {date},
// {time}, {account} (partly hidden) and {tail} (its last four digits).
type form struct{ title, text string }

// Banks are the known banks.
var Banks = []Bank{
	{"KB국민은행", "com.kbstar.kbbank", "kb 국민 kb국민 스타알림 star banking", []form{
		{"KB스타뱅킹", "입금 {amount}원 {date} {time} {account} {payer} 전자금융입금 {amount} 잔액{balance}"},
		{"[KB]", "[Web발신]\n[KB]{date} {time}\n{account}\n{payer}\n전자금융입금\n{amount}\n잔액{balance}"},
		{"입금 {amount}원", "{payer} | {account} | 잔액 {balance}원"},
	}},
	{"신한은행", "com.shinhan.sbanking", "신한 sol 쏠 super", []form{
		{"신한 SOL뱅크", "[입금] {amount}원\n{payer}\n{account}\n잔액 {balance}원"},
		{"신한은행 입금알림", "신한{date} {time}\n{account}\n입금 {amount}\n잔액 {balance}\n{payer}"},
		{"입금 알림", "{payer}님이 {amount}원을 입금하셨습니다. {date} {time} 잔액 {balance}원"},
	}},
	{"우리은행", "com.wooribank.smart.npib", "우리 won 우리won", []form{
		{"우리WON뱅킹", "우리 {date} {time}\n*{tail}\n입금 {amount}원\n{payer}\n잔액 {balance}원"},
		{"입금 {amount}원", "보낸분: {payer}\n{date} {time} 계좌 {account}\n잔액: {balance}원"},
	}},
	{"하나은행", "com.kebhana.hanapush", "하나 하나원큐 원큐 keb", []form{
		{"하나원큐", "하나,{date},{time}\n{account}\n입금{amount}원\n{payer}\n잔액{balance}원"},
		{"[입금] {amount}원", "{payer} → 하나 주거래통장({tail})\n거래후잔액 {balance}원"},
	}},
	{"NH농협은행", "nh.smart.banking", "농협 nh nh농협 콕 올원", []form{
		{"NH스마트알림", "농협 입금{amount}원\n{date} {time} {account} {payer} 잔액{balance}원"},
		{"입금알림", "[NH농협] {payer}님으로부터 {amount}원이 입금되었습니다. 계좌: {account}"},
	}},
	{"IBK기업은행", "com.ibk.android.ionebank", "ibk 기업 i-one one bank", []form{
		{"i-ONE Bank", "[기업] {date} {time}\n입금 {amount}원\n잔액 {balance}원\n{payer}\n{account}"},
		{"i-ONE 알림", "{date} {time} 입금 {amount}원 (의뢰인: {payer}) 계좌 {account} 잔액 {balance}원"},
	}},
	{"SC제일은행", "com.scbank.ma30", "sc 제일 sc제일", []form{
		{"SC제일은행", "[SC제일] 입금 {amount}원\n입금자명 {payer}\n{date} {time}\n잔액 {balance}원"},
		{"입금 안내", "{account} 계좌로 {amount}원 입금 ({payer})"},
	}},
	{"카카오뱅크", "com.kakaobank.channel", "카카오 카뱅", []form{
		{"입금 {amount}원", "{payer} → 내 입출금통장({tail})"},
		{"카카오뱅크", "입금 {amount}원\n{payer} → 내 입출금통장({tail})\n잔액 {balance}원"},
	}},
	{"케이뱅크", "com.kbankwith.smartbank", "케이 k bank", []form{
		{"{amount}원 입금", "{payer} | 생활통장({tail}) | 잔액 {balance}원"},
		{"입금 알림", "{payer}님이 {amount}원을 보냈어요.\n플러스박스 {tail}"},
	}},
	{"iM뱅크", "kr.co.dgb.dgbm", "im dgb 대구", []form{
		{"iM뱅크", "[iM뱅크]{date} {time}\n{account}\n입금 {amount}원\n잔액 {balance}원\n{payer}"},
		{"입출금 알림", "iM뱅크 타행이체입금 {amount}원 {payer} {date} {time} 잔액 {balance}원"},
	}},
	{"BNK부산은행", "kr.co.busanbank.mbp", "bnk 부산 bnk부산", []form{
		{"부산은행 모바일뱅킹", "부산은행 {date} {time}\n{account}\n입금 {amount}원 {payer}\n잔액 {balance}원"},
		{"[BNK부산] 입금", "거래금액: {amount}원\n적요: {payer}\n거래후잔액: {balance}원"},
	}},
	{"BNK경남은행", "com.knb.psb", "bnk 경남 bnk경남", []form{
		{"BNK경남은행", "[경남] {date} {time} {account} 인터넷입금 {amount}원 {payer} 잔액 {balance}원"},
		{"입금 ₩{amount}", "보낸 분 {payer}\n받는 통장 {account}"},
	}},
	{"새마을금고", "com.smg.spbs", "mg 새마을 더뱅킹", []form{
		{"MG더뱅킹", "[MG] 입금 {amount}원\n{payer}\n{account}\n{date} {time}\n잔액 {balance}원"},
		{"MG새마을금고", "{date} {time} 타행입금 {amount}원 보낸분:{payer} 잔액:{balance}원"},
	}},
	{"우체국", "com.epost.psf.sdsi", "우체국 우체국예금 스마트뱅킹 post", []form{
		{"우체국뱅킹", "[우체국] {date} {time}\n{account}\n입금 {amount}원\n{payer}\n잔액 {balance}원"},
		{"우체국 입금통지", "{payer}님께서 {amount}원을 입금하였습니다. 현재잔액은 앱에서 확인하세요"},
	}},
	{"토스뱅크", "viva.republica.toss", "토스 toss", []form{
		{"{amount}원 입금", "{payer} → 내 토스뱅크 통장"},
		{"토스뱅크", "{payer}님이 {amount}원을 보냈어요"},
		{"{amount}원을 받았어요", "{payer}님에게 받았어요"},
	}},
	{"전북은행", "kr.co.jbbank.privatebank", "jb 전북 jb전북", []form{
		{"전북은행", "전북 {date} {time} 입금 {amount}원 {payer} {account} 잔액 {balance}원"},
		{"JB뱅크 입금알림", "입금액 KRW {amount}\n의뢰인 {payer}\n잔액 KRW {balance}"},
	}},
	{"제주은행", "com.jejubank.smartnew", "제주 jbank", []form{
		{"제주은행", "[제주은행] {payer} {amount}원 입금 잔액 {balance}원"},
		{"입금 알림", "{date} {time}\n입금 : {amount} 원\n내용 : {payer}\n잔액 : {balance} 원"},
	}},
}

var ownWords = indexOwn()

func indexOwn() map[string]map[string]bool {
	index := make(map[string]map[string]bool, len(Banks))
	for _, b := range Banks {
		index[b.Package] = set(b.own)
	}
	return index
}

// Korea is the time zone of the times in notifications.
var korea = time.FixedZone("KST", 9*60*60)

// Compose writes the notification of a deposit as the bank's app words it, "" for
// an unknown package. The forms of a bank take turns with the second of now, which
// is also the time in the text.
func Compose(pkg, payer string, amount int64, now time.Time) (title, text string) {
	for _, b := range Banks {
		if b.Package == pkg {
			n := int64(len(b.forms))
			return b.forms[(now.Unix()%n+n)%n].fill(payer, amount, now)
		}
	}
	return "", ""
}

func (f form) fill(payer string, amount int64, now time.Time) (title, text string) {
	const before = 1_234_567 // the made-up balance before the deposit
	local := now.In(korea)
	places := strings.NewReplacer(
		"{payer}", payer, "{amount}", separate(amount), "{balance}", separate(min(amount, math.MaxInt64-before)+before),
		"{date}", local.Format("01/02"), "{time}", local.Format("15:04"), "{account}", "123-4**-**6789", "{tail}", "6789",
	)
	return places.Replace(f.title), places.Replace(f.text)
}

// separate writes a number with separated thousands.
func separate(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
