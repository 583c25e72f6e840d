package notice

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var payers = []string{
	"김철수", "김*수", "홍길*", "남궁민", "최승인", "정정호", "이상민", "정정해", "오류진", "김하나", "KIM CHULSOO", "(주)한빛", "한빛상사(주)",
	"㈜달빛", "홍 길동", "John O'Neil", "ABC Co., Ltd.", "AT&T", "홍길동1234", "J.P.Morgan", "3M코리아", "李小龍", "さくら", "Ｌｅｅ",
}

// TestComposedIsRecognised: whatever the simulator writes, the rules read back.
func TestComposedIsRecognised(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 12, 31, 20, 7, 0, 0, time.UTC)
	for _, b := range Banks {
		for i, f := range b.forms {
			for _, payer := range payers {
				for _, amount := range []int64{1, 500, 1000, 10_000, 1_234_567, math.MaxInt64 - 1, math.MaxInt64} {
					title, text := f.fill(payer, amount, now)
					got := Read(Notification{Package: b.Package, Title: title, Text: text})
					said := fmt.Sprintf("%s, form %d: %q %q → %+v", b.Name, i, title, text, got)
					require.Equal(t, Deposit, got.Direction, said)
					require.Equal(t, amount, got.Amount, said)
					require.Equal(t, Key(payer), Key(got.Payer), said)
				}
			}
		}
	}
}

func TestComposeTakesTurns(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 3, 1, 15, 4, 0, 0, time.UTC) // past midnight in Korea
	for _, b := range Banks {
		seen := map[string]bool{}
		for i := range b.forms {
			title, text := Compose(b.Package, "김철수", 10_000, at.Add(time.Duration(i)*time.Second))
			require.NotEmpty(t, title)
			seen[title+text] = true
		}
		assert.Len(t, seen, len(b.forms), b.Name)
	}
	title, text := Compose("com.kbstar.kbbank", "김철수", 10_000, at)
	assert.Equal(t, "KB스타뱅킹", title)
	assert.Equal(t, "입금 10,000원 03/02 00:04 123-4**-**6789 김철수 전자금융입금 10,000 잔액1,244,567", text)
	_, text = Compose("com.kbstar.kbbank", "김철수", math.MaxInt64, at)
	assert.Contains(t, text, "잔액9,223,372,036,854,775,807", "no balance below zero")
	title, text = Compose("com.kbstar.kbbank", "김철수", 1, time.Unix(-1, 0))
	assert.NotEmpty(t, title+text, "before 1970")
	title, text = Compose("com.example.nobody", "김철수", 1, at)
	assert.Empty(t, title+text)
}

func TestBanks(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(Banks), 12)
	seen := map[string]bool{}
	for _, b := range Banks {
		assert.False(t, seen[b.Package], b.Package)
		seen[b.Package] = true
		assert.GreaterOrEqual(t, len(b.forms), 2, b.Name)
	}
}
