package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNobodyPaysAgain: anyone who may have paid reads that he is to wait, and nobody reads that
// money did not come which did.
func TestNobodyPaysAgain(t *testing.T) {
	t.Parallel()
	wait := [2][]string{{"o not pay", "please wait", "need not do anything"}, {"입금하지", "기다려 주세요", "더 하실 일은 없습니다"}}
	for _, s := range []state{
		stateWaiting, stateExpired, stateArrived, stateChecking, stateAttention, statePaid, stateCancelled, stateSoldOut,
	} {
		for l, words := range wait {
			advice := text(lang(l), string(s)+".advice")
			require.True(t, containsOne(advice, words), "%s: %s", s, advice)
		}
	}
	for key, both := range texts {
		require.NotContains(t, both[korean], "받지 못했", key)
	}
	require.Equal(t, "입금이 승인되지 않았습니다", text(korean, string(stateRejected)))
	require.Equal(t, "50,000원이 입금되었지만 승인되지 않았습니다.", text(korean, "deposit.rejected", "50,000원"))
	require.Equal(t, "₩50,000 came, but was not accepted.", text(english, "deposit.rejected", "₩50,000"))
}

// TestNobodyShipsTwice: to approve is not to ship, and to reject is not to send money.
func TestNobodyShipsTwice(t *testing.T) {
	t.Parallel()
	for key, both := range officeTexts {
		require.False(t, containsOne(both[english], []string{"hand the goods", "anded over", "give the money back"}), key)
		require.False(t, containsOne(both[korean], []string{"상품 보내기", "돈 돌려주기"}), key)
	}
}

func containsOne(s string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
