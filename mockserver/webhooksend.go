package mockserver

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// webhookUserAgent identifies the sender (interface §6.2).
const webhookUserAgent = "DepositPay-Payments-Webhook/1.0"

// maxFailure is how many bytes of a transport's error are kept.
const maxFailure = 300

// outcome is how an attempt ended. Without a failure it has succeeded.
type outcome struct {
	status            int // 0: no answer
	failure, response string
}

// send posts the webhook and returns what the receiver made of it.
func (s *Server) send(ctx context.Context, by http.RoundTripper, a Attempt) outcome {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	body := strings.NewReader(`{"payment_id":"` + a.PaymentID + `"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, body)
	if err != nil {
		return outcome{failure: "the webhook URI is unusable"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", webhookUserAgent)
	req.Header.Set("X-Webhook-ID", a.WebhookID)
	req.Header.Set("X-Retry-Count", strconv.Itoa(a.RetryCount))
	// The transport itself, not an http.Client: a redirect is an answer that is
	// not 200, and is not followed.
	resp, err := by.RoundTrip(req)
	if err != nil {
		return outcome{failure: s.log.tokens.First(err.Error(), maxFailure)}
	}
	defer func() { _ = resp.Body.Close() }()
	end := outcome{status: resp.StatusCode, response: s.readResponse(resp.Body, stop)}
	if end.status != http.StatusOK {
		end.failure = fmt.Sprintf("answered HTTP %d, only 200 counts", end.status)
	}
	return end
}
