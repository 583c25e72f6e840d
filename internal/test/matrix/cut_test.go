package matrix_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// TestCutAnswers: in every dialect, no beginning of "no payment" may hold a part of a record,
// and a record leaves a trace from the first byte of its first value on.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	for _, d := range mockserver.Dialects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := direct(t, d)
				defer s.close()
				empty := s.next(t)
				for n := range len(empty) + 1 {
					assert.False(t, (&payments.Error{Raw: []byte(empty[:n])}).MayHoldRecord(), "%q", empty[:n])
				}
				s.deposit(t, s.create(t, payments.CreateRequest{Title: "T", Identifier: "player", Amount: payments.NewAmount(7)}), mockserver.Deposit{})
				record := s.next(t)
				first := strings.Index(record, `player`)
				for _, name := range []string{`"id":"`, `"method":"`, `"paidAmount":`, `"paid_amount":`, `"status":"`, `"verified_ts":"`} {
					if at := strings.Index(record, name); at >= 0 {
						first = min(first, at+len(name))
					}
				}
				require.Positive(t, first, record)
				for n := first + 1; n <= len(record); n++ {
					assert.True(t, (&payments.Error{Raw: []byte(record[:n])}).MayHoldRecord(), "%q", record[:n])
				}
			})
		})
	}
}

// next is the body of a poll, as it was sent.
func (s *service) next(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.mock.URL()+"/callback/rest?token="+token, nil)
	require.NoError(t, err)
	resp, err := s.by.RoundTrip(req)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(body)
}
