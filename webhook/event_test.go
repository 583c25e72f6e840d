package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

func TestEventHeaders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		webhookID, retryCount string
		wantID                string
		wantCount             int
	}{
		"as sent":         {"evt-1", "0", "evt-1", 0},
		"last attempt":    {"evt-1", "9", "evt-1", 9},
		"absent":          {"-", "-", "", -1},
		"negative":        {"e", "-1", "e", -1},
		"plus":            {"e", "+1", "e", -1},
		"spaces":          {"e", " 1", "e", -1},
		"words":           {"e", "many", "e", -1},
		"fraction":        {"e", "1.5", "e", -1},
		"six digits":      {"e", "999999", "e", 999999},
		"seven digits":    {"e", "1000000", "e", -1},
		"huge":            {"e", strings.Repeat("9", 5000), "e", -1},
		"other digits":    {"e", "１", "e", -1},
		"line breaks":     {"e\r\nlevel=ERROR msg=x\x00\x1b[31m\x7f", "1", "e??level=ERROR msg=x??[31m?", 1},
		"not ASCII":       {"é\xff\u202e", "1", "???", 1},
		"long":            {strings.Repeat("a", 5000), "1", strings.Repeat("a", 128), 1},
		"quotes survive":  {`"},{"`, "1", `"},{"`, 1},
		"cut in a letter": {strings.Repeat("a", 127) + "é", "1", strings.Repeat("a", 127) + "?", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHandler(t, webhook.Config{})
			id := uuid.New()
			r := named(id)
			if test.webhookID != "-" {
				r.Header["X-Webhook-Id"] = []string{test.webhookID}
				r.Header["X-Retry-Count"] = []string{test.retryCount}
			}
			serve(h, r)
			require.Len(t, h.seen.all(), 1)
			e := h.seen.last(t)
			assert.Equal(t, test.wantID, e.WebhookID)
			assert.Equal(t, test.wantCount, e.RetryCount)
			assert.Equal(t, id, e.PaymentID)
			assert.Equal(t, http.StatusTooManyRequests, e.Status)
			assert.Equal(t, "192.0.2.1", e.Source.String())
		})
	}
}

// TestLogInjection: a request is one line of the log, whatever it contains, without its body.
func TestLogInjection(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := newHandler(t, webhook.Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	r := delivery(`{"payment_id":"body-text"}`)
	r.Header["X-Webhook-Id"] = []string{"a\nlevel=ERROR msg=forged"}
	r.Header["X-Retry-Count"] = []string{"1\nmsg=forged"}
	r.Header["X-Forwarded-For"] = []string{"x\nmsg=forged"}
	r.RemoteAddr = "y\nmsg=forged"
	r.URL.Path = "/z\nmsg=forged"
	serve(h, r)
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
	assert.NotContains(t, out.String(), "body-text")
	assert.Contains(t, out.String(), "outcome=malformed status=400")
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	p := newPayment()
	var out bytes.Buffer
	h := newHandler(t, webhook.Config{
		Client: newService(p),
		Logger: slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	level := func(r *http.Request) string {
		out.Reset()
		serve(h, r)
		var record struct{ Level string }
		require.NoError(t, json.Unmarshal(out.Bytes(), &record))
		return record.Level
	}
	assert.Equal(t, "DEBUG", level(named(p.ID)))
	assert.Equal(t, "DEBUG", level(delivery(`{}`)))
	assert.Equal(t, "DEBUG", level(named(uuid.New())), "strangers can cause it at any rate")

	lost := webhook.Config{
		Client: confirmerFunc(func(context.Context, uuid.UUID) (payments.Payment, error) {
			return payments.Payment{}, payments.ErrAmbiguous
		}),
		Logger: slog.New(slog.NewJSONHandler(&out, nil)),
	}
	h = newHandler(t, lost)
	assert.Equal(t, "ERROR", level(named(p.ID)), "the payment may be complete and come no more")
	lost.Ledger = &ledger{}
	h = newHandler(t, lost)
	assert.Equal(t, "WARN", level(named(p.ID)), "the ledger has the id, and confirms it again")
	lost.Ledger = &ledger{state: webhook.StateExpected, hintErr: errTest}
	h = newHandler(t, lost)
	assert.Equal(t, "ERROR", level(named(p.ID)), "the ledger could not write the loss down")
}

// TestTokenFailsIsLoggedSparsely: without a valid token one delivery an hour is logged as an error.
func TestTokenFailsIsLoggedSparsely(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"refused":            payments.ErrTokenRefused,
		"source":             fmt.Errorf("vault: %w", payments.ErrTokenSource),
		"refused after lost": errors.Join(payments.ErrAmbiguous, payments.ErrTokenRefused),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				service := newService()
				service.during = func(context.Context, uuid.UUID) error { return failure }
				h := newHandler(t, webhook.Config{Client: service, Ledger: &ledger{}, Logger: slog.New(slog.NewTextHandler(&out, nil))})
				for range 3 {
					for range 60 {
						serve(h, named(uuid.New()))
						<-time.After(time.Minute)
					}
				}
				require.EqualValues(t, 180, service.calls.Load())
				require.Equal(t, 3, strings.Count(out.String(), "level=ERROR"))
			})
		})
	}
}

func TestHookPanics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newPayment()
	h := newHandler(t, webhook.Config{
		Client:     newService(p),
		OnDelivery: func(webhook.Event) { panic("hook") },
		Logger:     slog.New(slog.NewTextHandler(&out, nil)),
	})
	assert.Equal(t, http.StatusOK, serve(h, named(p.ID)).Code)
	assert.Contains(t, out.String(), "Config.OnDelivery panicked: hook")
	assert.Contains(t, out.String(), "stack=")
}
