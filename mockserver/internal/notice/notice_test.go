package notice

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var packages = map[string]string{
	"kb": "com.kbstar.kbbank", "shinhan": "com.shinhan.sbanking", "woori": "com.wooribank.smart.npib", "hana": "com.kebhana.hanapush",
	"nh": "nh.smart.banking", "ibk": "com.ibk.android.ionebank", "sc": "com.scbank.ma30", "kakao": "com.kakaobank.channel",
	"kbank": "com.kbankwith.smartbank", "im": "kr.co.dgb.dgbm", "busan": "kr.co.busanbank.mbp", "knb": "com.knb.psb", "mg": "com.smg.spbs",
	"epost": "com.epost.psf.sdsi", "toss": "viva.republica.toss", "jb": "kr.co.jbbank.privatebank", "jeju": "com.jejubank.smartnew",
}

type tableCase struct {
	Notification
	line      int
	direction string
	amount    int64
	payer     string
}

func table(t testing.TB) []tableCase {
	t.Helper()
	text, err := os.ReadFile("testdata/notices.tsv")
	require.NoError(t, err)
	var cases []tableCase
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		require.Len(t, f, 7, "line %d", i+1)
		amount, err := strconv.ParseInt(f[4], 10, 64)
		require.NoError(t, err, "line %d", i+1)
		n := Notification{Package: packages[f[0]], Title: f[1], Text: strings.ReplaceAll(f[2], `\n`, "\n")}
		require.NotEmpty(t, n.Package, "line %d: %s", i+1, f[0])
		cases = append(cases, tableCase{n, i + 1, f[3], amount, f[5]})
	}
	return cases
}

// TestTable reads every notification of the table, as title and text, in one text,
// and with the text in both fields.
func TestTable(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, c := range table(t) {
		count[c.direction]++
		want := Notice{Amount: c.amount, Payer: c.payer}
		switch c.direction {
		case "deposit":
			want.Direction = Deposit
			assert.True(t, c.amount > 0 && c.payer != "", "line %d", c.line)
		case "unsure":
			want.Direction = Deposit
			assert.True(t, c.amount == 0 || c.payer == "", "line %d", c.line)
		case "withdrawal":
			want.Direction = Withdrawal
		default:
			assert.Equal(t, "other", c.direction, "line %d", c.line)
		}
		whole := c.Title + "\n" + c.Text
		for _, n := range []Notification{
			c.Notification,
			{Package: c.Package, Title: c.Title, Subtitle: c.Text},
			{Package: c.Package, Title: c.Title, Subtitle: c.Text, Text: c.Text},
			{Package: c.Package, Title: whole},
			{Package: c.Package, Text: whole},
			{Package: c.Package, Text: strings.ReplaceAll(whole, "\n", "\r\n")},
			{Package: c.Package, Text: "[Web발신]\n" + whole},
		} {
			assert.Equal(t, want, Read(n), "line %d: %q", c.line, n)
		}
	}
	assert.GreaterOrEqual(t, count["deposit"]+count["unsure"]+count["withdrawal"]+count["other"], 150)
	assert.GreaterOrEqual(t, count["unsure"]+count["withdrawal"]+count["other"], 40)
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		payer, name string
		want        bool
	}{
		{"김철수", "김철수", true},
		{"김*수", "김철수", true},
		{"김*수", "김수", false},
		{"김*수", "김철민수", false},
		{"홍길*", "홍길동", true},
		{"홍길*", "홍길", false},
		{"김**", "김철수", true},
		{"*길동", "홍길동", true},
		{"홍○동", "홍길동", true},
		{"김 철 수", "김철수", true},
		{"kim chul", "KIM CHUL", true},
		{"ＫＩＭ", "Kim", true},
		{"㈜한빛", "(주) 한빛", true},
		{"김철수", "\u1100\u1175\u11b7\u110e\u1165\u11af\u1109\u116e", true},
		{"\u1100\u1175\u11b7*\u1109\u116e", "김철수", true},
		{"김철수", "김*수", false}, // the customer's own asterisk hides nothing
		{"김철수", "***", false},
		{"***", "김철수", false},
		{"", "", false},
		{"김", "", false},
		{"", "김", false},
		{" ", "  ", false},
		{"1234", "1234", false},
		{"김\x00수", "김\x00수", false},
		{"김\xff", "김\xff", false},
	} {
		assert.Equal(t, c.want, Matches(c.payer, c.name), "%q %q", c.payer, c.name)
	}
	assert.True(t, Masked("김*수"))
	assert.True(t, Masked("김○수"))
	assert.False(t, Masked("김철수"))
}

// TestHostile: nothing that no bank sends is read, whatever it is made of.
func TestHostile(t *testing.T) {
	t.Parallel()
	good := "입금 10,000원 홍길동"
	require.Equal(t, Notice{Deposit, 10000, "홍길동"}, Read(Notification{Text: good}))
	fill := strings.Repeat(" ", maxText-len(good)-len("\n\n"))
	require.Equal(t, Deposit, Read(Notification{Text: good + fill}).Direction, "the longest that is read")
	for name, text := range map[string]string{
		"one byte too long": good + fill + " ",
		"1 MiB":             good + strings.Repeat("1,000원 ", 1<<17),
		"NUL":               good + "\x00",
		"escape":            good + "\x1b[0m",
		"not UTF-8":         good + "\xff",
		"half a rune":       good[:len(good)-1],
	} {
		assert.Equal(t, Notice{}, Read(Notification{Text: text}), name)
		assert.Equal(t, Notice{}, Read(Notification{Title: good, Text: text}), name)
		assert.Equal(t, Notice{}, Read(Notification{Title: text, Subtitle: good}), name)
	}
	invisible := "입\u200b금 10,\u200d000원 홍\ufeff길동\u200e"
	assert.Equal(t, Notice{Deposit, 10000, "홍길동"}, Read(Notification{Text: invisible}))
	assert.Empty(t, Read(Notification{Text: "입금 10,000원 " + strings.Repeat("가", maxName+1)}).Payer)
	assert.Len(t, []rune(Read(Notification{Text: "입금 10,000원 " + strings.Repeat("가", maxName)}).Payer), maxName)
}

// TestLexerKeepsTheText: nothing of a text is lost or read twice.
func TestLexerKeepsTheText(t *testing.T) {
	t.Parallel()
	for _, c := range table(t) {
		folded, ok := fold(c.Title + "\n" + c.Text)
		require.True(t, ok)
		var b strings.Builder
		for _, token := range lex(folded) {
			require.NotEmpty(t, token.raw)
			b.WriteString(token.raw)
		}
		assert.Equal(t, strings.ReplaceAll(folded, " ", ""), b.String(), "line %d", c.line)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range table(f) {
		f.Add(c.Title, c.Text)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		got := Read(Notification{Package: "com.kbstar.kbbank", Title: title, Text: text})
		switch {
		case got.Amount < 0, got.Direction != Deposit && got != Notice{Direction: got.Direction}:
			t.Fatalf("%+v", got)
		case got.Payer != "" && (Key(got.Payer) == "" || len([]rune(got.Payer)) > maxName):
			t.Fatalf("%+v", got)
		case got.Payer != "" && !Matches(got.Payer, got.Payer):
			t.Fatalf("%+v is not himself", got)
		}
	})
}
