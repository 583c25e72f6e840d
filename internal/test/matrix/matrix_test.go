package matrix_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/banks"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// TestEveryDialect: every operation of the SDK works with every dialect.
func TestEveryDialect(t *testing.T) {
	t.Parallel()
	for _, d := range mockserver.Dialects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, d, everything)
		})
	}
}

// TestServiceAtItsEnd: a client classifies an error that may be a 5xx.
func TestServiceAtItsEnd(t *testing.T) {
	t.Parallel()
	for _, d := range few(t) {
		inBubble(t, d, full, func(c *mockserver.Config) { c.MaxPayments = 1 })
	}
}

// few returns the presets and the dialects that differ from the default in one option.
func few(t *testing.T) []mockserver.Dialect {
	t.Helper()
	texts := []string{"default", "old", "rest", "codes", "noisy", "noisy,envelope=old,errors=object,status=4xx"}
	for _, o := range mockserver.DialectOptions() {
		for _, value := range o.Values[1:] {
			texts = append(texts, o.Name+"="+value)
		}
	}
	list := make([]mockserver.Dialect, len(texts))
	for i, text := range texts {
		var err error
		list[i], err = mockserver.ParseDialect(text)
		require.NoError(t, err)
	}
	return list
}

// TestDialectsOverLoopback: the same over real connections, where somebody must mark the end
// of a body.
func TestDialectsOverLoopback(t *testing.T) {
	t.Parallel()
	for i, d := range few(t) {
		t.Run(fmt.Sprint(i, " ", d), func(t *testing.T) {
			t.Parallel()
			everything(t, overLoopback(t, d))
		})
	}
}

// everything runs the whole suite for one service.
func everything(t *testing.T, s *service) {
	t.Helper()
	unpaid(t, s)
	refusals(t, s)
	byPoll(t, s)
	byConfirm(t, s)
	byWebhook(t, s)
	drain(t, s)
	bankPhone(t, s)
}

// failed requires the exact error of the service.
func failed(t *testing.T, err error, op, code string, status int) {
	t.Helper()
	e, ok := errors.AsType[*payments.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, op, e.Op)
	assert.Equal(t, code, e.Code)
	assert.Equal(t, status, e.HTTPStatus)
	assert.Greater(t, len(e.Message), 20, "the text for people comes along")
	assert.Empty(t, e.Raw, "it was understood")
	require.NotErrorIs(t, err, payments.ErrUndecodable)
}

// plain requires a rejection without effect.
func plain(t *testing.T, err error, op, code string, status int) {
	t.Helper()
	failed(t, err, op, code, status)
	assert.NotErrorIs(t, err, payments.ErrAmbiguous)
	assert.NotErrorIs(t, err, payments.ErrTokenRefused)
	assert.True(t, payments.SafeToRetry(err))
}

// unpaid checks all operations on an unpaid payment.
func unpaid(t *testing.T, s *service) {
	t.Helper()
	nothing(t, s)
	id := s.create(t, payments.CreateRequest{Title: "T", Identifier: "unpaid"})
	assert.EqualValues(t, 4, id.Version())
	_, err := s.client.Confirm(t.Context(), id)
	plain(t, err, "Confirm", "PAYMENT_NOT_PAID", s.status(409))
	_, err = s.client.WebhookStatus(t.Context(), id)
	plain(t, err, "WebhookStatus", "WEBHOOK_NOT_FOUND", s.status(404))
	_, err = s.client.ResendWebhook(t.Context(), id)
	plain(t, err, "ResendWebhook", "PAYMENT_NOT_PAID", s.status(409))
	nothing(t, s)
}

// nothing requires a poll without a payment.
func nothing(t *testing.T, s *service) {
	t.Helper()
	p, err := s.client.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrNoProcessedPayment)
	require.NotErrorIs(t, err, payments.ErrAmbiguous)
	require.NotErrorIs(t, err, payments.ErrUndecodable)
	assert.Zero(t, p)
	e, ok := errors.AsType[*payments.Error](err)
	require.True(t, ok)
	want := map[string]struct {
		code   string
		status int
	}{
		"NO_PROCESSED_PAYMENT": {"NO_PROCESSED_PAYMENT", s.status(404)},
		"NO_PROGRESS_PAYMENTS": {"NO_PROGRESS_PAYMENTS", s.status(404)},
		"204":                  {"", 204},
		"null":                 {"", 200}, "{}": {"", 200}, "nothing": {"", 200},
	}[s.dialect["empty"]]
	assert.Equal(t, want.code, e.Code)
	assert.Equal(t, want.status, e.HTTPStatus)
}

func refusals(t *testing.T, s *service) {
	t.Helper()
	unknown := uuid.New()
	_, err := s.client.Confirm(t.Context(), unknown)
	plain(t, err, "Confirm", "PAYMENT_NOT_FOUND", s.status(404))
	_, err = s.client.WebhookStatus(t.Context(), unknown)
	plain(t, err, "WebhookStatus", "PAYMENT_NOT_FOUND", s.status(404))
	_, err = s.client.ResendWebhook(t.Context(), unknown)
	plain(t, err, "ResendWebhook", "PAYMENT_NOT_FOUND", s.status(404))

	stranger := s.clientWith(t, "test_stranger") // is answered in the default dialect
	for op, call := range map[string]func() error{
		"Create":        func() error { _, err := stranger.Create(t.Context(), order("x")); return err },
		"Next":          func() error { _, err := stranger.Next(t.Context()); return err },
		"Confirm":       func() error { _, err := stranger.Confirm(t.Context(), unknown); return err },
		"WebhookStatus": func() error { _, err := stranger.WebhookStatus(t.Context(), unknown); return err },
		"ResendWebhook": func() error { _, err := stranger.ResendWebhook(t.Context(), unknown); return err },
	} {
		err := call()
		failed(t, err, op, "INVALID_TOKEN", 200)
		require.ErrorIs(t, err, payments.ErrTokenRefused)
		require.NotErrorIs(t, err, payments.ErrAmbiguous)
	}
}

func order(identifier string) payments.CreateRequest {
	return payments.CreateRequest{
		Title: "Sword \"1\"", Identifier: identifier, Amount: payments.NewAmount(math.MaxInt64),
		Items: []payments.Item{{Name: "검 }]\u0001", Price: payments.NewAmount(9_007_199_254_740_993), Count: 3}, {Name: "b"}},
	}
}

// recorded returns the record of an order that was paid in full.
func recorded(id uuid.UUID, identifier string) payments.Payment {
	return payments.Payment{
		ID: id, Identifier: identifier, Status: payments.StatusComplete, Method: payments.MethodDeposit,
		PaidAmount: payments.NewAmount(math.MaxInt64), VerifiedAt: start,
		Metadata: payments.Metadata{Items: []payments.Item{
			{Name: "검 }]\u0001", Price: payments.NewAmount(9_007_199_254_740_993), Count: 3}, {Name: "b", Count: 1},
		}},
	}
}

// sameRecord compares all fields of a record exactly.
func sameRecord(t *testing.T, s *service, want, got payments.Payment) {
	t.Helper()
	if s.is("extra", "yes") {
		assert.Equal(t, map[string]json.RawMessage{
			"server": json.RawMessage(`{"zone":"a","tags":["}",-0.0]}`), "fee": json.RawMessage("1e2"), "note": json.RawMessage("null"),
		}, got.Extra, "unknown fields are kept as they came")
		got.Extra = nil
	}
	assert.Equal(t, want, got)
}

// polled returns p as a poll returns it: the format of before 2025-05 has no id and no time.
func (s *service) polled(p payments.Payment) payments.Payment {
	if s.is("envelope", "old") {
		p.ID, p.VerifiedAt = uuid.Nil, time.Time{}
	}
	return p
}

func byPoll(t *testing.T, s *service) {
	t.Helper()
	first, second := s.create(t, order("주문 \"1\"")), s.create(t, order("order-2"))
	s.deposit(t, first, mockserver.Deposit{})
	s.deposit(t, second, mockserver.Deposit{})
	got, err := s.client.Next(t.Context())
	require.NoError(t, err)
	sameRecord(t, s, s.polled(recorded(first, "주문 \"1\"")), got)
	got, err = s.client.Next(t.Context())
	require.NoError(t, err)
	sameRecord(t, s, s.polled(recorded(second, "order-2")), got)
	nothing(t, s)
	got, err = s.client.Confirm(t.Context(), first) // complete already, and may be asked again
	require.NoError(t, err)
	sameRecord(t, s, recorded(first, "주문 \"1\""), got)
}

func byConfirm(t *testing.T, s *service) {
	t.Helper()
	id := s.create(t, order("order-3"))
	s.deposit(t, id, mockserver.Deposit{})
	for range 2 {
		got, err := s.client.Confirm(t.Context(), id)
		require.NoError(t, err)
		sameRecord(t, s, recorded(id, "order-3"), got)
	}
	nothing(t, s)
	for _, step := range []struct {
		read func(context.Context, uuid.UUID) (payments.Delivery, error)
		want payments.DeliveryStatus
	}{
		{s.client.WebhookStatus, payments.DeliveryPending},   // the receiver was not there
		{s.client.ResendWebhook, payments.DeliveryDelivered}, // COMPLETE, so nothing is sent (§6.5)
		{s.client.WebhookStatus, payments.DeliveryDelivered},
	} {
		got, err := step.read(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, id, got.PaymentID)
		assert.NotEmpty(t, got.WebhookID)
		assert.EqualValues(t, 1, got.Attempts)
		assert.Equal(t, start, got.LastAttemptAt)
		assert.Equal(t, step.want, got.Status)
	}
}

// grants records what a merchant's handler received.
type grants struct {
	list   []payments.Payment
	review []error
}

func (g *grants) sink(t *testing.T) *webhook.Memory {
	t.Helper()
	m, err := webhook.NewMemory(func(_ context.Context, p payments.Payment) error {
		g.list = append(g.list, p)
		return nil
	}, &webhook.MemoryOptions{OnReview: func(_ payments.Payment, why error) { g.review = append(g.review, why) }})
	require.NoError(t, err)
	return m
}

// byWebhook: the webhook arrives, the handler confirms, and the goods are granted once even
// if the webhook is repeated.
func byWebhook(t *testing.T, s *service) {
	t.Helper()
	var g grants
	hook, err := webhook.New(webhook.Config{Client: s.client, Sink: g.sink(t), Logger: quiet})
	require.NoError(t, err)
	s.hooks.Handler = hook
	id := s.create(t, order("order-4"))
	s.deposit(t, id, mockserver.Deposit{})
	_, err = s.client.ResendWebhook(t.Context(), id)
	require.NoError(t, err)
	s.mock.Advance(0)
	require.Len(t, g.list, 1)
	sameRecord(t, s, recorded(id, "order-4"), g.list[0])
	got, err := s.client.WebhookStatus(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, payments.DeliveryDelivered, got.Status)

	voucher := s.create(t, order("order-5"))
	s.deposit(t, voucher, mockserver.Deposit{Failed: true})
	assert.Len(t, g.list, 1)
	assert.Equal(t, []error{webhook.ErrNoMoney}, g.review, "a failed voucher is not money")
}

// drain: a poller hands over every waiting payment once. A record without an id is moved to
// review.
func drain(t *testing.T, s *service) {
	t.Helper()
	s.hooks.Handler = http.NotFoundHandler()
	var ids []uuid.UUID
	for i := range 3 {
		id := s.create(t, order(fmt.Sprint("drain-", i)))
		ids = append(ids, id)
		s.deposit(t, id, mockserver.Deposit{})
	}
	var g grants
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p, err := poller.New(poller.Config{Client: untilEmpty{s.client, stop}, Sink: g.sink(t), Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, p.Run(ctx))
	if s.is("envelope", "old") {
		assert.Empty(t, g.list)
		assert.Equal(t, []error{webhook.ErrNoID, webhook.ErrNoID, webhook.ErrNoID}, g.review)
		return
	}
	require.Len(t, g.list, 3)
	for i, id := range ids {
		sameRecord(t, s, recorded(id, fmt.Sprint("drain-", i)), g.list[i])
	}
	assert.Empty(t, g.review)
}

// bankPhone checks the calls of the mobile app.
func bankPhone(t *testing.T, s *service) {
	t.Helper()
	list, err := s.banks.List(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(list), 10)
	assert.Equal(t, "com.kbstar.kbbank", list[0].Package)
	assert.False(t, list[0].Detailed)
	detailed, err := s.banks.ListDetailed(t.Context())
	require.NoError(t, err)
	require.Len(t, detailed, len(list))
	assert.True(t, detailed[0].Detailed && detailed[0].Status && detailed[0].ID == 1)

	n := banks.Notification{Package: "com.example.game", Title: "t", Text: "x"}
	answer, err := s.banks.UploadDeposit(t.Context(), n)
	require.NoError(t, err)
	assert.Equal(t, banks.UploadIgnored, answer.Result)

	misnamed, err := banks.New(banks.Config{
		BaseURL: s.mock.URL(), Token: token, Transport: s.by, Fields: banks.FieldNames{Package: "app"}, MaxRetries: -1,
	})
	require.NoError(t, err)
	defer misnamed.CloseIdleConnections()
	_, err = misnamed.UploadDeposit(t.Context(), n)
	e, ok := errors.AsType[*banks.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "INVALID_PARAMETER", e.Code)
	assert.Contains(t, e.Message, `"package"`)
	assert.Equal(t, s.status(400), e.HTTPStatus)
	assert.NotErrorIs(t, err, banks.ErrAmbiguous)
}

// full: the error of a full service is ambiguous as a 5xx, since a client cannot know who
// sent it; its code is kept anyway.
func full(t *testing.T, s *service) {
	t.Helper()
	s.create(t, order("order-1"))
	_, err := s.client.Create(t.Context(), order("order-2"))
	e, ok := errors.AsType[*payments.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "STORAGE_FULL", e.Code)
	assert.Equal(t, s.status(507), e.HTTPStatus)
	assert.Equal(t, s.is("status", "4xx"), errors.Is(err, payments.ErrAmbiguous))
	assert.Equal(t, s.is("status", "200"), payments.SafeToRetry(err))
}
