package mockserver_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// bodies is a receiver without a socket that answers 500 with these bodies, in turn, and then with
// none.
func bodies(texts ...io.Reader) func(*mockserver.Config) {
	n := -1
	return func(c *mockserver.Config) {
		c.Applications = hooked
		c.WebhookTransport = roundTripFunc(func(r *http.Request) (*http.Response, error) {
			body := io.Reader(http.NoBody)
			if n++; n < len(texts) {
				body = texts[n]
			}
			return &http.Response{StatusCode: 500, Body: io.NopCloser(body), Request: r}, nil
		})
	}
}

// TestAttemptKeepsTheResponse: bounded, without tokens, and with the address it came from.
func TestAttemptKeepsTheResponse(t *testing.T) {
	t.Parallel()
	const kept = 4 << 10
	long := strings.Repeat("x", kept-5) + "test_demo" + strings.Repeat("y", 10*kept)
	s := stopped(t, bodies(strings.NewReader(`{"why":"no stock for test_demo"}`), strings.NewReader(long), strings.NewReader("")))
	paid(t, s)
	s.Advance(time.Second)
	require.NoError(t, s.SetWebhook(s.Token(), "http://127.0.0.1:9/other?token=abc"))
	s.Advance(time.Minute)
	require.NoError(t, s.Resend(s.Payments()[0].ID))
	s.Advance(0)

	attempts := onlyDelivery(t, s).Attempts
	require.Len(t, attempts, 3)
	assert.Equal(t, `{"why":"no stock for [REDACTED]"}`, attempts[0].Response)
	assert.Equal(t, strings.Repeat("x", kept-5)+"[REDACTED]", attempts[1].Response, "half a token is none")
	assert.Empty(t, attempts[2].Response)
	assert.Equal(t, []string{hookURL, hookURL, "http://127.0.0.1:9/other?token=abc"},
		[]string{attempts[0].URL, attempts[1].URL, attempts[2].URL}, "a run keeps its address")

	_, shown := call(t, s, "GET", "/_mock/deliveries", "")
	var out struct {
		Deliveries []struct {
			Attempts []struct{ URL, Response string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(shown), &out))
	assert.Equal(t, attempts[0].Response, out.Deliveries[0].Attempts[0].Response)
	assert.Equal(t, hookURL, out.Deliveries[0].Attempts[0].URL)
	assert.Equal(t, "http://127.0.0.1:9/other?token=[REDACTED]", out.Deliveries[0].Attempts[2].URL)
}

// endless is a body whose end never comes.
type endless struct{ r *http.Request }

func (e endless) Read(p []byte) (int, error) {
	<-e.r.Context().Done()
	return copy(p, "never mind"), e.r.Context().Err()
}

// TestEndlessResponseCountsByItsStatus: the status has come in time, so the receiver does not hang,
// and its success counts.
func TestEndlessResponseCountsByItsStatus(t *testing.T) {
	t.Parallel()
	for _, most := range []time.Duration{2 * time.Second, 10 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s, err := mockserver.New(mockserver.Config{
				Clock: mockserver.NewStoppedClock(start), Applications: hooked, Patience: most,
				WebhookTransport: roundTripFunc(func(r *http.Request) (*http.Response, error) {
					body := io.MultiReader(strings.NewReader("thanks, "), endless{r})
					return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r}, nil
				}),
			})
			require.NoError(t, err)
			defer func() { assert.NoError(t, s.Close()) }()
			id := paid(t, s)
			s.Advance(time.Hour)
			s.CheckDelivered(t, id)
			require.Len(t, onlyDelivery(t, s).Attempts, 1)
			assert.Equal(t, "thanks, never mind", onlyDelivery(t, s).Attempts[0].Response)
		})
	}
}

// TestResponsesOfFaultyAttempts: a response that a fault has lost, or that never came, is not shown.
func TestResponsesOfFaultyAttempts(t *testing.T) {
	t.Parallel()
	s := stopped(t, bodies(strings.NewReader("a"), strings.NewReader("b")))
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "webhook", Kind: "drop-after", Nth: 1}))
	require.NoError(t, s.AddFault(mockserver.Fault{Operation: "webhook", Kind: "dead-uri", Nth: 2}))
	paid(t, s)
	s.Advance(time.Hour)
	attempts := onlyDelivery(t, s).Attempts
	assert.Empty(t, attempts[0].Response)
	assert.Equal(t, hookURL, attempts[0].URL)
	assert.NotEqual(t, hookURL, attempts[1].URL, "it was sent elsewhere")
	assert.Equal(t, "b", attempts[2].Response)
}

// TestTokenAtTheCutIsRedacted: the token is redacted before the text is cut.
func TestTokenAtTheCutIsRedacted(t *testing.T) {
	t.Parallel()
	const token = "test_canary_canary_canary"
	s := stopped(t, func(c *mockserver.Config) {
		c.Applications = []mockserver.Application{{Token: token, WebhookURL: hookURL}}
		c.WebhookTransport = roundTripFunc(func(*http.Request) (*http.Response, error) {
			return nil, errors.New(strings.Repeat("é", 145) + token)
		})
	})
	id := create(t, s, "")
	_, err := s.Deposit(id, mockserver.Deposit{Payer: strings.Repeat("é", 30) + token, Amount: 1})
	require.NoError(t, err)
	s.Advance(0)
	events, err := s.Timeline(id)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("é", 30)+"[REDACTED] paid 1 by DEPOSIT", events[1].Text)
	assert.Equal(t, strings.Repeat("é", 145)+"[REDACTED]", onlyDelivery(t, s).Attempts[0].Err)
}
