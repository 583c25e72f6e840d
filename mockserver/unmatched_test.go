package mockserver_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestResolvePaysTheNotifiedAmount(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := waiting(t, s, "이영희", 500, 0)
	got := upload(t, s, "입금 400원", "이*희")
	require.Equal(t, []string{id}, s.Unmatched()[0].Candidates)

	_, err := s.ResolveUnmatched(got.DepositID, id, 500)
	wantCode(t, mockserver.CodeInvalidParameter, err)
	assert.ErrorContains(t, err, "400", "the bank has reported the amount")
	_, err = s.ResolveUnmatched(got.DepositID, id, -400)
	wantCode(t, mockserver.CodeInvalidParameter, err)
	_, err = s.ResolveUnmatched(got.DepositID, "nobody", 0)
	wantCode(t, mockserver.CodePaymentNotFound, err)
	_, err = s.ResolveUnmatched("nothing", id, 0)
	wantCode(t, mockserver.CodeUnmatchedNotFound, err)
	require.Len(t, s.Unmatched(), 1, "a refused deposit stays")
	require.Equal(t, mockserver.ResultUnmatched, s.Notifications()[0].Result)

	p, err := s.ResolveUnmatched(got.DepositID, id, 0)
	require.NoError(t, err)
	assert.Equal(t, mockserver.StatusProgress, p.Status)
	assert.Equal(t, int64(400), p.PaidAmount)
	assert.Equal(t, "이영희", p.Payer)
	assert.Empty(t, s.Unmatched())
	assert.Equal(t, mockserver.ResultMatched, s.Notifications()[0].Result)
	assert.Equal(t, id, s.Notifications()[0].PaymentID)
	_, err = s.ResolveUnmatched(got.DepositID, id, 0)
	wantCode(t, mockserver.CodeUnmatchedNotFound, err)
	assert.Contains(t, poll(t, s), `"paid_amount":400`)
}

func TestResolveNeedsUnreadableAmount(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"amount":500`) // without a payer: a person may still assign it
	got := upload(t, s, "입금 400원", "이*희 300원")
	_, err := s.ResolveUnmatched(got.DepositID, id, 0)
	wantCode(t, mockserver.CodeInvalidParameter, err)
	assert.ErrorContains(t, err, "required")
	p, err := s.ResolveUnmatched(got.DepositID, id, 400)
	require.NoError(t, err)
	assert.Equal(t, int64(400), p.PaidAmount)
	assert.Equal(t, "이*희", p.Payer, "better than no name")

	paid := upload(t, s, "입금 1원", "박철수")
	_, err = s.ResolveUnmatched(paid.DepositID, id, 0)
	wantCode(t, mockserver.CodePaymentAlreadyPaid, err)
	assert.Len(t, s.Unmatched(), 1)
}

func TestDismiss(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	a, b := upload(t, s, "입금 1원", "가나"), upload(t, s, "입금 2원", "다라")
	require.NoError(t, s.DismissUnmatched(a.DepositID))
	wantCode(t, mockserver.CodeUnmatchedNotFound, s.DismissUnmatched(a.DepositID))
	require.Len(t, s.Unmatched(), 1)
	assert.Equal(t, b.DepositID, s.Unmatched()[0].Notification.ID)
	assert.Equal(t, mockserver.ResultDismissed, s.Notifications()[0].Result)
}

func TestOldestUnmatchedIsDroppedAndLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests, c.Logger = 2, slog.New(slog.NewTextHandler(&log, nil)) })
	first := upload(t, s, "입금 1원", "가나")
	second := upload(t, s, "입금 2원", "가나")
	for range 5 {
		upload(t, s, "출금 2원", "가나", `"notification_id":"`+strings.Repeat("x", len(s.Requests()))+`"`)
	}
	require.Len(t, s.Unmatched(), 2, "other notifications push none off the list")
	assert.Empty(t, log.String())
	third := upload(t, s, "입금 3원", "가나")
	list := s.Unmatched()
	require.Len(t, list, 2)
	assert.Equal(t, second.DepositID, list[0].Notification.ID)
	assert.Equal(t, third.DepositID, list[1].Notification.ID)
	assert.Contains(t, log.String(), first.DepositID)
	assert.Contains(t, control(t, s, 200, "GET", "/unmatched", ""), `"dropped":1`)

	// The notification itself was dropped; the unmatched deposit was not.
	p, err := s.ResolveUnmatched(second.DepositID, create(t, s, ""), 0)
	require.NoError(t, err)
	assert.Equal(t, int64(2), p.PaidAmount)

	// The log stays short for a list that is never read.
	for n := range 100 {
		upload(t, s, fmt.Sprintf("입금 %d원", 10+n), "가나")
	}
	assert.Contains(t, control(t, s, 200, "GET", "/unmatched", ""), `"dropped":100`)
	assert.Equal(t, 3, strings.Count(log.String(), "\n"), "the first, the tenth and the hundredth are logged")
	assert.Contains(t, log.String(), "dropped=100")
}

func TestControlUnmatched(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	assert.JSONEq(t, `{"unmatched":[],"dropped":0}`, control(t, s, 200, "GET", "/unmatched", ""))
	id := waiting(t, s, "이영희", 500, 0)
	a, b := upload(t, s, "입금 400원", "이영희"), upload(t, s, "입금 400원", "300원")
	const common = `"bank":"KB국민은행","package":"com.kbstar.kbbank","title":"입금 400원","subtitle":"",
		"received_ts":"2025-03-01T12:00:00Z","result":"UNMATCHED",`
	assert.JSONEq(t, `{"dropped":0,"unmatched":[
		{"deposit_id":"`+b.DepositID+`",`+common+`"reason":"NOT_READABLE","candidates":[],"text":"300원"},
		{"deposit_id":"`+a.DepositID+`",`+common+`"reason":"AMOUNT_DIFFERS","payer":"이영희","amount":400,
			"candidates":["`+id+`"],"text":"이영희"}]}`,
		control(t, s, 200, "GET", "/unmatched", ""))

	resolve := "/unmatched/" + a.DepositID + "/resolve"
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", resolve, `{}`), "payToken")
	wantError(t, mockserver.CodeInvalidParameter, control(t, s, 400, "POST", resolve, `{"payToken":"`+id+`","amount":0}`), "amount")
	wantError(t, mockserver.CodeInvalidJSON, control(t, s, 400, "POST", resolve, ``))
	wantError(t, mockserver.CodePaymentNotFound, control(t, s, 404, "POST", resolve, `{"payToken":"x"}`))
	wantError(t, mockserver.CodeUnmatchedNotFound, control(t, s, 404, "POST", "/unmatched/x/resolve", `{"payToken":"`+id+`"}`))
	assert.Equal(t, `{"id":"`+id+`","identifier":"order-1","status":"PROGRESS","method":"DEPOSIT","paid_amount":400}`,
		control(t, s, 200, "POST", resolve, `{"payToken":"`+id+`"}`))

	dismiss := "/unmatched/" + b.DepositID + "/dismiss"
	assert.JSONEq(t, `{"deposit_id":"`+b.DepositID+`","result":"DISMISSED"}`, control(t, s, 200, "POST", dismiss, ""))
	wantError(t, mockserver.CodeUnmatchedNotFound, control(t, s, 404, "POST", dismiss, ""))
	wantError(t, mockserver.CodeMethodNotAllowed, control(t, s, 405, "GET", dismiss, ""))
	assert.JSONEq(t, `{"unmatched":[],"dropped":0}`, control(t, s, 200, "GET", "/unmatched", ""))
}
