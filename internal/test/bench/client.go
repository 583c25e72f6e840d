//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/payments"
)

const (
	benchToken    = "test_bench"
	clientGoal    = 1.25
	clientAllocs  = 25
	poolGoal      = 1.15
	stubCalls     = 20_000
	loopbackCalls = 6_000
	callers       = 8
	manyCallers   = 64
)

var (
	benchID     = uuid.MustParse("7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c01")
	benchRecord = `{"id":"` + benchID.String() + `","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":10000,` +
		`"verified_ts":"2023-05-01T12:30:00Z","metadata":{"items":[{"name":"Sword","price":7000,"count":1},{"name":"Potion","price":1500,"count":2}]}}`
	benchCreated = `{"payToken":"` + benchID.String() + `"}`
)

func cannedAnswer(path string) string {
	if path == "/payments" {
		return benchCreated
	}
	return benchRecord
}

// stub answers in-process: what is left is the client's own cost.
type stub struct{}

func (stub) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	body := cannedAnswer(r.URL.Path)
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader([]byte(body))), Request: r,
	}, nil
}

// sdkCalls are the operations through the SDK.
func sdkCalls(c *payments.Client) map[string]func() error {
	req := payments.CreateRequest{
		Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000),
		Items: []payments.Item{
			{Name: "Sword", Price: payments.NewAmount(7000), Count: 1},
			{Name: "Potion", Price: payments.NewAmount(1500), Count: 2},
		},
	}
	ctx := context.Background()
	return map[string]func() error{
		"Create":  func() error { _, err := c.Create(ctx, req); return err },
		"Confirm": func() error { _, err := c.Confirm(ctx, benchID); return err },
		"Next":    func() error { _, err := c.Next(ctx); return err },
	}
}

func rawCalls(h *handwritten) map[string]func() error {
	return map[string]func() error{"Create": h.create, "Confirm": h.confirm, "Next": h.next}
}

func benchClient(rounds int) ([]result, error) {
	server, err := startServer("bare", 0)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	var results []result
	for _, where := range []struct {
		name           string
		base           string
		transport      func() http.RoundTripper
		calls, callers int
	}{
		{"stub", "http://127.0.0.1", func() http.RoundTripper { return stub{} }, stubCalls, 1},
		{"loopback, 1 caller", server.base, func() http.RoundTripper { return transport.NewPool() }, loopbackCalls, 1},
		{"loopback, 8 callers", server.base, func() http.RoundTripper { return transport.NewPool() }, loopbackCalls, callers},
	} {
		sdk, err := payments.New(payments.Config{BaseURL: where.base, Token: benchToken, Transport: where.transport()})
		if err != nil {
			return nil, err
		}
		raw := &handwritten{http: &http.Client{Transport: where.transport(), Timeout: 10 * time.Second}, base: where.base, token: benchToken}
		for _, op := range []string{"Create", "Confirm", "Next"} {
			ours, theirs, err := pair(rounds, where.calls, where.callers, sdkCalls(sdk)[op], rawCalls(raw)[op])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", op, err)
			}
			results = append(results, clientResult(op+", "+where.name, ours, theirs)...)
		}
	}
	return results, nil
}

func clientResult(name string, ours, theirs []cost) []result {
	more := mean(ours, byAllocs) - mean(theirs, byAllocs)
	return []result{
		{
			name: name + ": CPU a call ÷ hand-written", ratios: ratios(ours, theirs, byCPU), goal: clientGoal,
			note: fmt.Sprintf("%.1f µs against %.1f", mean(ours, byCPU)/1000, mean(theirs, byCPU)/1000),
		},
		{
			name: name + ": allocations more", ratios: []float64{more}, goal: clientAllocs,
			note: fmt.Sprintf("%.0f against %.0f", mean(ours, byAllocs), mean(theirs, byAllocs)),
		},
	}
}

// benchPool compares the default pool with one sized for the callers, and shows what
// net/http's own default would cost.
func benchPool(rounds int) ([]result, error) {
	server, err := startServer("bare", 0)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	client := func(rt http.RoundTripper) (func() error, error) {
		c, err := payments.New(payments.Config{BaseURL: server.base, Token: benchToken, Transport: rt})
		if err != nil {
			return nil, err
		}
		return sdkCalls(c)["Confirm"], nil
	}
	sized := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http's own
	sized.Proxy = nil
	sized.MaxIdleConnsPerHost = manyCallers
	netHTTP := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // net/http's own
	netHTTP.Proxy = nil
	var results []result
	for _, c := range []struct {
		name string
		ours http.RoundTripper
		goal float64
	}{
		{"64 callers: default pool ÷ pool sized for them", nil, poolGoal},
		{"64 callers: net/http's default ÷ the same (for comparison)", netHTTP, 99},
	} {
		a, err := client(c.ours)
		if err != nil {
			return nil, err
		}
		b, err := client(sized)
		if err != nil {
			return nil, err
		}
		ours, theirs, err := pair(rounds, 2*loopbackCalls, manyCallers, a, b)
		if err != nil {
			return nil, err
		}
		results = append(results, result{
			name: c.name + ": time a call", ratios: ratios(ours, theirs, byWall), goal: c.goal,
			note: fmt.Sprintf("%.1f µs against %.1f", mean(ours, byWall)/1000, mean(theirs, byWall)/1000),
		})
	}
	return results, nil
}
