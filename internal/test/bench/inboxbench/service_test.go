package inboxbench_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
)

const (
	recordHead = `{"id":"`
	recordTail = `","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":10000,` +
		`"verified_ts":"2023-05-01T12:30:00Z","metadata":{"items":[{"name":"Sword","price":10000,"count":1}]}}`
	idLength = len("00000000-0000-0000-0000-000000000000")
)

// confirms is a bare handler in the service's place: whatever id it is asked for is paid.
func confirms(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, rest, found := bytes.Cut(body, []byte(`"payToken":"`))
	if !found || len(rest) < idLength {
		http.Error(w, "no payToken", http.StatusBadRequest)
		return
	}
	answer := make([]byte, 0, len(recordHead)+idLength+len(recordTail))
	answer = append(append(append(answer, recordHead...), rest[:idLength]...), recordTail...)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// newService returns a client of the bare handler.
func newService(t *testing.T) *payments.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(confirms))
	t.Cleanup(server.Close)
	client, err := payments.New(payments.Config{BaseURL: server.URL, Token: "test_bench"})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	p, err := client.Confirm(t.Context(), uuid.New())
	require.NoError(t, err)
	require.Equal(t, record(p.ID).PaidAmount, p.PaidAmount)
	return client
}
