package payments_test

import (
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

// dropper is a service with three payments. It completes one at each poll and spoils the
// response of the second one afterwards.
type dropper struct {
	completed []uuid.UUID
	spoil     func(answer []byte) rawserver.Action
}

func (d *dropper) handle(n int, _ rawserver.Request) rawserver.Action {
	id := []uuid.UUID{id1, id2, id3}[n-1]
	d.completed = append(d.completed, id)
	answer := rawserver.JSON(200, record(id))
	if n == 2 {
		return d.spoil(answer)
	}
	return rawserver.Action{Bytes: answer}
}

// TestReplay: a poll whose reused connection dies is not re-sent and is reported as
// ambiguous. net/http itself re-sends such a GET, which would silently lose the second
// payment.
func TestReplay(t *testing.T) {
	t.Parallel()
	end := func(e rawserver.End, k int) func([]byte) rawserver.Action {
		return func(answer []byte) rawserver.Action { return rawserver.Action{Bytes: answer[:k], End: e} }
	}
	whole := rawserver.JSON(200, record(id2))
	type spoiled struct {
		name  string
		cause error
		spoil func([]byte) rawserver.Action
	}
	var cases []spoiled
	// Every k: nothing at all, inside the status line, the headers, the body.
	for k := range whole {
		cases = append(cases,
			spoiled{fmt.Sprintf("FIN after %d bytes", k), nil, end(rawserver.FIN, k)},
			spoiled{fmt.Sprintf("RST after %d bytes", k), nil, end(rawserver.RST, k)})
	}
	cases[0].cause, cases[1].cause = io.EOF, syscall.ECONNRESET
	cases[len(cases)-2].cause = io.ErrUnexpectedEOF

	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := &dropper{spoil: tc.spoil}
			c, s := connect(t, payments.Config{}, d.handle)

			p, err := c.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, id1, p.ID)

			_, err = c.Next(t.Context())
			require.ErrorIs(t, err, payments.ErrAmbiguous)
			require.False(t, payments.SafeToRetry(err))
			if tc.cause != nil {
				require.ErrorIs(t, err, tc.cause)
			}
			e := asError(t, err)
			require.Equal(t, "Next", e.Op)

			p, err = c.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, id3, p.ID)

			requests := s.Requests()
			require.Len(t, requests, 3, "no request may be sent again")
			require.Equal(t, 1, requests[1].Conn, "the second poll must have met a warm connection")
			require.Len(t, d.completed, 3)
		})
	}
}

// TestReplayKeepsWhatArrived: the error holds the received bytes of a truncated body.
func TestReplayKeepsWhatArrived(t *testing.T) {
	t.Parallel()
	body := record(id2)
	for k := range body {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			whole := rawserver.JSON(200, body)
			cut := whole[:len(whole)-len(body)+k]
			c, s := connect(t, payments.Config{}, always(rawserver.Action{Bytes: cut, End: rawserver.FIN}))
			_, err := c.Next(t.Context())
			require.ErrorIs(t, err, payments.ErrAmbiguous)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			e := asError(t, err)
			require.Equal(t, body[:k], string(e.Raw))
			require.Len(t, s.Requests(), 1)
		})
	}
}

// TestSealedRequest: sealing is not visible on the wire.
func TestSealedRequest(t *testing.T) {
	t.Parallel()
	c, s := connect(t, payments.Config{}, always(rawserver.Action{Bytes: rawserver.JSON(200, noPayment)}))
	for range 2 {
		_, err := c.Next(t.Context())
		require.ErrorIs(t, err, payments.ErrNoProcessedPayment)
	}
	for _, r := range s.Requests() {
		require.Equal(t, "GET", r.Method)
		require.Equal(t, "/callback/rest", r.Path)
		require.Equal(t, "token="+testToken, r.Query)
		require.Empty(t, r.Body)
		require.NotContains(t, r.Header, "Content-Length")
		require.NotContains(t, r.Header, "Transfer-Encoding")
		require.NotContains(t, r.Header, "Idempotency-Key")
		require.NotContains(t, r.Header, "Accept-Encoding")
		require.Equal(t, 1, r.Conn, "the connection is kept")
	}
}

// TestEmptyAnswerThatMayBeCut: an empty body without a length does not mean "no payment".
func TestEmptyAnswerThatMayBeCut(t *testing.T) {
	t.Parallel()
	c, _ := connect(t, payments.Config{}, always(rawserver.Action{Bytes: []byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), End: rawserver.FIN}))
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, payments.ErrAmbiguous)
	require.NotErrorIs(t, err, payments.ErrNoProcessedPayment)
}
