package notice

import "strings"

// The words of the banks' own language, in lower case. A word that stands here is
// no name.

// set makes a set of the words in a text.
func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// channels come before 입금 and say how the money came: 전자금융입금.
var channels = strings.Fields(`전자금융 타행건별 타행 당행 타사 인터넷 폰뱅킹 텔레뱅킹 인터넷뱅킹 모바일뱅킹 모바일 스마트 스마트폰
	오픈뱅킹 오픈 펌뱅킹 대체 이체 자동이체 타행이체 즉시이체 급여 현금 무통장 창구 자동화기기 간편 건별 대량 일반 계좌 원화 통장
	cms atm cd fb fbs bz 뱅킹 이자 결산`)

// stated are the ends of 입금 that say it has happened.
var stated = set(`완료 완료되었습니다 완료됐습니다 완료됐어요 됨 되었습니다 됐습니다 되었어요 됐어요 되었음 된 했습니다 했어요 하였습니다
	하셨습니다 하셨어요 알림 내역 통지 처리 이체 이 이되었습니다 이완료되었습니다 액 금액 액은 금액은`)

// next to are the words made of 입금 that say nothing about whether it happened.
var beside = set(`입금자 입금자명 입금인 입금인명 입금계좌 입금계좌번호 입금은행 입금통장 입금처 입금일 입금일자 입금일시 입금시각
	입금시간 입금지점 입금내용 입금적요 입금안내 입금메모 미확인입금 입출금 입출금알림 입출금내역 입출금안내 자유입출금`)

// received are the starts of verbs that state a deposit by themselves.
var received = []string{"받았", "받으셨"}

// sent are the words of a transfer. The sentence says whose it is: 홍길동님이
// 보냈어요 is a deposit, 홍길동님에게 보냈어요 is not.
var sent = []string{"보냈", "보내셨", "송금", "이체"}

// spent are words of a withdrawal, besides all that contain 출금. They must be
// alone or with a verb: 최승인 is a person.
var spent = []string{
	"지급", "인출", "결제", "승인", "사용", "납부", "자동이체", "일시불", "할부", "체크카드", "신용카드", "카드승인", "체크카드승인",
	"신용카드승인", "체크승인", "결제승인", "해외승인", "국내승인", "카드결제", "체크카드결제", "간편결제", "현금인출",
}

// undone are words that take a deposit back or have not seen it yet, with or
// without a verb behind.
var undone = []string{
	"반환", "반려", "거절", "보류", "오류", "불가", "불능", "지연되", "예정", "실패", "요청", "대기", "예약", "환불", "미입금", "제한", "중지",
}

// offers are words of corrections, adverts, warnings and requests. They stand alone:
// 정정호 and 이상민 are persons.
var offers = set(`정정 정정되었습니다 정정됨 광고 이벤트 혜택 혜택을 혜택이 쿠폰 쿠폰을 당첨 응모 캐시백 최대 이상 이하 미만 선착순 가입하고 가입하면 가입 대출
	우대금리 금리 연금리 추첨 경품 무료 적립 신청하면 신청하세요 신청 보이스피싱 사기 주의하세요 누적 합계 까지 까지만 부탁드립니다
	부탁드려요 바랍니다 해주세요 해주십시오 해보세요 하세요 하십시오 주세요 이번달 이번주 건수`)

// conditions follow 입금 as a word of their own; then it is no deposit.
var conditions = set(`하면 하시면 하시고 하고 시 시에 경우 후 후에 전 전에 전까지 할 하실 한 만`)

// units are the Korean powers of ten. Banks write digits, adverts write 100만원.
const units = "만천백십억조"

// counters follow numbers that are no money: 7월 15일, 3건, 5%.
var counters = set(`년 월 일 시 분 초 회 회차 개 건 명 차 번 호 점 위 배 인 개월 일자 시간 일에 건의`)

// foreign are the marks of money that is not won.
var foreign = set(`usd eur jpy cny gbp aud cad hkd sgd chf thb vnd 달러 달러가 달러를 불 유로 유로가 유로를 엔 엔이 엔을 엔화 엔화가 위안 위안이 위안화 파운드 btc eth`)

// aside are words in front of a number that is not the amount paid.
var aside = set(`잔액 잔액은 잔고 통장잔액 계좌잔액 거래후잔액 거래후 현재잔액 출금가능 출금가능금액 출금가능액 지급가능액 지급가능금액 가능금액
	이체가능금액 사용가능금액 예금잔액 총잔액 합산잔액 현잔액 잔 balance bal 수수료 이체수수료 거래수수료 송금수수료 한도 한도잔액 이자 세금 원천세 할인 미수`)

// sums are words in front of a number that is the amount paid.
var sums = set(`금액 거래금액 입금액 입금금액 이체금액 받은금액 amount 금액은 입금액은`)

// senders are labels in front of the payer.
var senders = set(`입금자 입금자명 입금인 입금인명 보낸분 보낸이 보낸사람 보내는분 보내신분 보내는사람 보내는이 의뢰인 의뢰인명 송금인 송금인명
	이체인 적요 내용 거래내용 입금내용 입금적요 기재내용 통장표시 표시내용 받는통장표시 받는분통장표시 보낸분성명 상대방 거래처 from sender`)

// owners are labels in front of a person who did not pay.
var owners = set(`예금주 예금주명 받는분 받는이 받는사람 받으시는분 수취인 수취인명 고객명 계좌명 계좌별칭 별칭 보낸은행 보내신은행 입금은행 은행명
	지점 지점명 거래점 취급점 메모 입금메모 받는은행 to`)

// sentBy and others are what follows the name of the payer, and that
// of anybody else. givenTo is the payer's when something was received: 홍길동님에게
// 받았어요.
var (
	sentBy = []string{
		"님으로부터", "님에게서", "님께서", "님한테서", "님이", "씨가", "씨로부터", "으로부터", "로부터", "에게서", "에서",
	}
	givenTo = []string{"님에게", "님께", "님한테", "에게", "한테"}
	others  = []string{"고객님의", "고객님", "님의", "님에", "님은", "님도", "님"}
)

// filler is the rest of the banks' language: what kind of notice, account and
// time it is, and polite words.
var filler = set(`원 원이 원을 원의 krw won 님 님이 님의 고객 고객님 고객님의 회원님 회원 안녕하세요 알림 알림톡 안내 내역 거래 거래내역 거래알림 통지 통보 서비스
	푸시 스마트알림 입출금통지 web발신 웹발신 국제발신 국외발신 국제 발신 확인 확인하기 바로가기 자세히 보기 상세 상세보기 앱 앱에서 앱으로 지금 방금
	통장 내 나의 내통장 계좌 계좌로 계좌에 계좌번호 통장에 통장으로 통장번호 계좌로의 계좌의 통장의 예금 보통예금 저축예금 자유저축 수시입출금 입출금통장 주거래 주거래통장 모임통장
	세이프박스 파킹통장 생활통장 급여통장 플러스박스 증권계좌 가상계좌 보낸 보낸곳 보낸은행 보낸계좌 받은 받는 은행 새로운 새 도착 도착했습니다 도착했어요 왔어요 들어왔어요
	일시 거래일시 거래일 거래시간 거래시각 시각 시간 날짜 일자 거래구분 구분 거래종류 종류 거래번호 승인번호 번호 참조 오전 오후 am pm kst 월요일
	화요일 수요일 목요일 금요일 토요일 일요일 년 시 분 초 오늘 끝자리 뒷자리 이자 급여 결과 정상 정상적으로 완료 완료되었습니다 되었습니다 됐습니다 됐어요 했습니다 했어요
	하셨습니다 있습니다 입니다 다음 아래 아래와 같이 모바일 인터넷 타행 당행 전자금융 타행이체 계좌이체 이체 전자금융이체 오픈뱅킹 폰뱅킹 atm cd cms fb bz 잔액이 거래금액 거래후 거래 후
	외화 뱅킹 뱅크 은행앱 push sms lms mms 문의 고객센터 수신 수신거부 in deposit deposited received account acct`)

// particles are no names where they stick to what is before them, as in 10,000원이.
var particles = set("이 가 을 를 은 는 의 와 과 도 로 으로 에 에서 및")

// weekdays are no names in brackets: 07/15(월).
var weekdays = set("월 화 수 목 금 토 일")

// endings end words that are no names, whatever comes before.
var endings = []string{
	"은행", "뱅크", "뱅킹", "통장", "통장으로", "통장에", "계좌", "계좌로", "계좌에", "예금", "적금", "예금에", "알림", "발신", "습니다", "니다", "세요",
	"어요", "아요", "해요", "십시오", "잔액", "금고", "스타알림", "통장에서", "계좌에서", "은행에서", "뱅크에서", "지점", "영업점",
}
