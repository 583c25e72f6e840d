package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOfficeLocked: without the password, the back office shows nothing and decides nothing, and guesses
// are limited. A shop without a password does not start.
func TestOfficeLocked(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "short"} {
		_, err := openShop(t.Context(), settings{OfficePassword: password})
		require.ErrorIs(t, err, errPassword)
	}
	now := time.Now()
	w := start(t, func(cfg *settings) { cfg.now = func() time.Time { return now } })
	v, keeper := w.customer(), w.keeper()
	_, payToken := v.order("cup", 1)
	w.pay(payToken, 1)
	keeper.shows("/office", payToken, "Signed in as Mina")
	require.NotContains(t, v.asks(http.StatusUnauthorized, "/office", nil), payToken)
	v.asks(http.StatusUnauthorized, "/office", fields("do", "approve", "key", payToken, "reason", "x"))
	newVisitor(t, w.url, " ").asks(http.StatusUnauthorized, "/office", nil)
	guesser := w.keeper()
	guesser.password = "not it"
	for range 4 {
		guesser.asks(http.StatusUnauthorized, "/office", nil)
	}
	guesser.asks(http.StatusTooManyRequests, "/office", nil)
	keeper.asks(http.StatusTooManyRequests, "/office", nil)
	now = now.Add(2 * time.Second)
	require.Contains(t, keeper.get("/office"), payToken)
}

// TestLanguage: the browser's preference counts until the customer switches; an order keeps its language.
func TestLanguage(t *testing.T) {
	t.Parallel()
	w := start(t)
	v := w.customer()
	for preferred, want := range map[string]string{"ko-KR,en;q=0.8": "ko", "fr,en;q=0.5,ko;q=0.1": "en", "": "en"} {
		v.headers = map[string]string{"Accept-Language": preferred}
		require.Contains(t, v.get("/"), `<html lang="`+want+`">`, preferred)
	}
	v.headers = nil
	require.Contains(t, v.get("/?lang=ko"), `name="lang" value="ko"`)
	id, _ := v.order("cup", 1)
	require.Contains(t, v.get("/orders/"+id+"?lang=ko"), "입금을 기다립니다")
	require.Contains(t, v.get("/orders/"+id), "Waiting for your transfer")
	ko := "7d6a2c52-1b7e-4a53-9d7c-0f6d2f1f5a11"
	v.sends("/orders", "order", ko, "count-cup", "1", "lang", "ko")
	require.Contains(t, v.get("/orders/"+ko), "입금을 기다립니다")
}

// TestTexts: every text exists in both languages. A customer who may have paid reads to wait, and never
// reads that no money came when it did.
func TestTexts(t *testing.T) {
	t.Parallel()
	for key, both := range texts {
		require.True(t, both[english] != "" && both[korean] != "", key)
		require.Equal(t, strings.Count(both[english], "%"), strings.Count(both[korean], "%"), key)
		require.NotContains(t, both[korean], "받지 못했", key)
	}
	wait := [2][]string{{"o not pay", "please wait", "do not need to do anything"}, {"입금하지", "기다려 주세요", "더 하실 일은 없습니다"}}
	for _, s := range []state{
		stateWaiting, stateExpired, stateArrived, stateChecking, stateAttention, statePaid, stateCancelled, stateSoldOut,
	} {
		for l, words := range wait {
			advice := text(lang(l), string(s)+".advice")
			said := func(word string) bool { return strings.Contains(advice, word) }
			require.True(t, slices.ContainsFunc(words, said), "%s: %s", s, advice)
		}
	}
	require.Equal(t, "50,000원이 입금되었지만 승인되지 않았습니다.", text(korean, "deposit.rejected", money(korean, 50_000)))
	require.Equal(t, "₩1,050,000 came, but was not accepted.", text(english, "deposit.rejected", money(english, 1_050_000)))
}
