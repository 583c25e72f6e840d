package mockserver

import (
	"strconv"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// bank is one supported bank (interface §2.3). Names and packages are those of
// real Korean banking apps, so that a notification filter can be tried on real
// notifications; logos lie under a reserved name that leads nowhere.
type bank struct{ name, pkg, logo string }

var bankList = []bank{
	{"KB국민은행", "com.kbstar.kbbank", "kb"},
	{"신한은행", "com.shinhan.sbanking", "shinhan"},
	{"우리은행", "com.wooribank.smart.npib", "woori"},
	{"하나은행", "com.kebhana.hanapush", "hana"},
	{"NH농협은행", "nh.smart.banking", "nh"},
	{"IBK기업은행", "com.ibk.android.ionebank", "ibk"},
	{"SC제일은행", "com.scbank.ma30", "sc"},
	{"카카오뱅크", "com.kakaobank.channel", "kakaobank"},
	{"케이뱅크", "com.kbankwith.smartbank", "kbank"},
	{"iM뱅크", "kr.co.dgb.dgbm", "im"},
	{"BNK부산은행", "kr.co.busanbank.mbp", "busan"},
	{"새마을금고", "com.smg.spbs", "mg"},
	{"우체국", "com.epost.psf.sdsi", "epost"},
	{"BNK경남은행", "com.knb.psb", "kyongnam"},
	{"토스뱅크", "viva.republica.toss", "toss"},
	{"전북은행", "kr.co.jbbank.privatebank", "jeonbuk"},
	{"제주은행", "com.jejubank.smartnew", "jeju"},
}

const (
	bankLogoBase    = "https://banks.example/logo/"
	bankIconBase    = "https://banks.example/icon/"
	banksUpdatedAt  = "2025-01-01T00:00:00Z"
	bankFieldsGuess = 320
)

var (
	banksBasic    = renderBanks(false)
	banksDetailed = renderBanks(true)
	bankPackages  = indexBanks()
)

func indexBanks() map[string]bool {
	set := make(map[string]bool, len(bankList))
	for _, b := range bankList {
		set[b.pkg] = true
	}
	return set
}

func renderBanks(details bool) []byte {
	out := make([]byte, 0, len(bankList)*bankFieldsGuess)
	for i, bank := range bankList {
		out = append(out, "[,"[min(i, 1)])
		out = strictjson.AppendString(append(out, `{"name":`...), bank.name)
		out = strictjson.AppendString(append(out, `,"package":`...), bank.pkg)
		out = strictjson.AppendString(append(out, `,"logo":`...), bankLogoBase+bank.logo+".png")
		if details {
			out = strconv.AppendInt(append(out, `,"id":`...), int64(i+1), 10)
			out = append(out, `,"status":true`...)
			out = strictjson.AppendString(append(out, `,"icon":`...), bankIconBase+bank.logo+".png")
			out = strictjson.AppendString(append(out, `,"app_package":`...), bank.pkg)
			out = strictjson.AppendString(append(out, `,"last_updated_ts":`...), banksUpdatedAt)
		}
		out = append(out, '}')
	}
	return append(out, ']')
}
