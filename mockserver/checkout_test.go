package mockserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestGivePayer(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	fixed, free := create(t, s, `"amount":300`), create(t, s, "")
	p, err := s.GivePayer(fixed, "  김철수 ", 0)
	require.NoError(t, err)
	assert.Equal(t, mockserver.Payment{
		ID: fixed, Application: "Application 1", Identifier: "order-1", Title: "T", Status: mockserver.StatusWaiting,
		Amount: 300, Payer: "김철수", CreatedAt: start,
	}, p)
	assert.Equal(t, int64(300), p.AmountDue())

	_, err = s.GivePayer(free, "Kim", 70)
	require.NoError(t, err)
	p, err = s.GivePayer(free, "Lee", 80)
	require.NoError(t, err, "it may be corrected")
	assert.Equal(t, "Lee", p.Payer)
	assert.Equal(t, int64(80), p.PayerAmount)
	assert.Equal(t, int64(80), p.AmountDue())

	p, err = s.Deposit(free, mockserver.Deposit{})
	require.NoError(t, err, "the amount that the payer gave is due")
	assert.Equal(t, int64(80), p.PaidAmount)
	assert.Equal(t, "Lee", p.Payer)
	p, err = s.Deposit(fixed, mockserver.Deposit{Payer: "Choi"})
	require.NoError(t, err)
	assert.Equal(t, "Choi", p.Payer, "the bank knows better")
	_, err = s.GivePayer(free, "Kim", 70)
	wantCode(t, mockserver.CodePaymentAlreadyPaid, err)
}

func TestGivePayerRefuses(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	fixed, free := create(t, s, `"amount":300`), create(t, s, "")
	for _, c := range []struct {
		id, payer string
		amount    int64
		mentions  string
	}{
		{fixed, "", 0, `"payer" is required`},
		{fixed, " \t ", 0, `"payer" is required`},
		{fixed, strings.Repeat("가", 41), 0, "40 characters"},
		{fixed, "a\xffb", 0, "UTF-8"},
		{fixed, "a\nb", 0, "control"},
		{fixed, "a\u0085b", 0, "control"},
		{fixed, "Kim", 300, "fixed price"},
		{fixed, "Kim", -1, "fixed price"},
		{free, "Kim", 0, "at least 1"},
		{free, "Kim", -1, "at least 1"},
	} {
		_, err := s.GivePayer(c.id, c.payer, c.amount)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		require.ErrorContains(t, err, c.mentions)
	}
	_, err := s.GivePayer("nobody", "Kim", 1)
	wantCode(t, mockserver.CodePaymentNotFound, err)
	for _, p := range s.Payments() {
		assert.Equal(t, mockserver.StatusCreated, p.Status)
		assert.Empty(t, p.Payer)
	}
	_, err = s.GivePayer(fixed, strings.Repeat("가", 40), 0)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = s.GivePayer(free, "Kim", 1)
	wantCode(t, mockserver.CodeServerClosed, err)
}

func TestAccount(t *testing.T) {
	t.Parallel()
	assert.Equal(t, mockserver.Account{Bank: "Mock Bank", Number: "000-1234-5678", Holder: "Mock Service"}, stopped(t).Account())
	s := stopped(t, func(c *mockserver.Config) { c.Account.Number = "1-2-3" })
	assert.JSONEq(t, `{"bank":"Mock Bank","number":"1-2-3","holder":"Mock Service"}`, control(t, s, 200, "GET", "/account", ""))
	_, err := mockserver.New(mockserver.Config{Account: mockserver.Account{Holder: "a\x07"}})
	require.ErrorContains(t, err, "Config.Account.Holder: must not hold control characters")
}

func TestPaymentShowsWhatWasCreated(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	id := create(t, s, `"icon":"https://i.example/p.png","items":[{"name":"Sword \"S\" 검","price":9007199254740993,"count":2,"icon":"https://i.example/s.png"},{"name":"b","price":0}]`)
	p, ok := s.Payment(id)
	require.True(t, ok)
	assert.Equal(t, "https://i.example/p.png", p.Icon)
	assert.Equal(t, []mockserver.Item{
		{Name: `Sword "S" 검`, Price: 9007199254740993, Count: 2, Icon: "https://i.example/s.png"}, {Name: "b", Count: 1},
	}, p.Items)
	p.Items[0].Name = "changed"
	again, _ := s.Payment(id)
	assert.Equal(t, `Sword "S" 검`, again.Items[0].Name, "it is a copy")
	deposit(t, s, id, 1)
	assert.NotContains(t, poll(t, s), "icon", "records carry no icons (interface §2.2)")
	_, ok = s.Payment("nobody")
	assert.False(t, ok)
}

func TestStatusNames(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) {
		c.Lifetime = 1e9
		c.StatusNames = map[mockserver.Status]string{
			mockserver.StatusCreated: "READY", mockserver.StatusWaiting: "PENDING_1", mockserver.StatusExpired: "GONE",
		}
	})
	id := create(t, s, `"amount":1`)
	status := func() string { return control(t, s, 200, "GET", "/payments/"+id+"/record", "") }
	assert.Contains(t, status(), `"status":"READY"`)
	_, err := s.GivePayer(id, "Kim", 0)
	require.NoError(t, err)
	assert.Contains(t, status(), `"status":"PENDING_1"`)
	s.Advance(1e9)
	assert.Contains(t, status(), `"status":"GONE"`)
	assert.Equal(t, mockserver.StatusExpired, s.Payments()[0].Status, "in Go a status is one of the constants")
	paid := create(t, s, `"amount":1`)
	deposit(t, s, paid, 1)
	assert.Contains(t, control(t, s, 200, "GET", "/payments/"+paid+"/record", ""), `"status":"PROGRESS"`)
	assert.Contains(t, poll(t, s), `"status":"COMPLETE"`)

	for _, names := range []map[mockserver.Status]string{
		{mockserver.StatusProgress: "X"},
		{mockserver.StatusComplete: "X"},
		{"OTHER": "X"},
		{mockserver.StatusCreated: ""},
		{mockserver.StatusCreated: "ready"},
		{mockserver.StatusWaiting: "PROGRESS"},
		{mockserver.StatusExpired: "COMPLETE"},
	} {
		_, err := mockserver.New(mockserver.Config{StatusNames: names})
		require.ErrorContains(t, err, "mockserver: Config.StatusNames:", "%v", names)
	}
}

func TestConfirmKeepsState(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)), func(c *mockserver.Config) { c.ConfirmKeepsState = true })
	id := create(t, s, "")
	deposit(t, s, id, 7)
	s.Advance(1e9)
	want := `{"id":"` + id + `","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":7,"verified_ts":"2025-03-01T12:00:01Z"}`
	assert.Equal(t, want, confirm(t, s, id))
	p, _ := s.Payment(id)
	assert.Equal(t, mockserver.StatusProgress, p.Status)
	s.Advance(10e9)
	assert.Len(t, onlyDelivery(t, s).Attempts, 2, "the webhook goes on")
	assert.Equal(t, want, confirm(t, s, id), "the same record again")
	p, _ = s.Payment(id)
	assert.Equal(t, 1, p.Completions, "a repeat is nothing new")
	assert.Equal(t, want, poll(t, s), "the poll returns it as well")
	p, _ = s.Payment(id)
	assert.Equal(t, mockserver.StatusComplete, p.Status)
	assert.Equal(t, 2, p.Completions)
	wantError(t, mockserver.CodeNoProcessedPayment, poll(t, s))
	assert.Equal(t, want, confirm(t, s, id))
	s.Advance(1000 * 3600e9)
	assert.Len(t, onlyDelivery(t, s).Attempts, 2, "and stops once the payment is COMPLETE")
}
