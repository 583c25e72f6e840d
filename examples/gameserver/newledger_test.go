package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

const hookSecret = "0123456789abcdefghijklmnopqrstuv"

// TestNewLedger: who has bought something before this ledger was made does not get it again
// by a webhook.
func TestNewLedger(t *testing.T) {
	t.Parallel()
	mock := mockserver.RunT(t, mockserver.Config{Clock: mockserver.NewStoppedClock(time.Now().Add(-time.Hour))})
	pack, err := mock.SaveProduct(mockserver.Product{Name: "Sword", Price: 1000})
	require.NoError(t, err)
	player, err := mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1001", Name: "Steve"})
	require.NoError(t, err)
	old := purchase(t, mock, pack, player)
	takeBefore(t, mock, old)

	s := servingWith(t, settings{
		URL: mock.URL(), Ledger: filepath.Join(t.TempDir(), "payments.db"), Town: "127.0.0.1:0", Listen: "127.0.0.1:0", HookSecret: hookSecret,
		Catalogue: []grant.Product{{ID: pack.ID, Name: "Sword", Price: payments.NewAmount(1000), Lines: []grant.Line{{Item: "sword"}}}},
	})
	require.Equal(t, http.StatusNotFound, hook(t, s, "/hook", old))
	require.Equal(t, http.StatusNotFound, hook(t, s, "/hook/wrong", old))
	require.Equal(t, http.StatusOK, hook(t, s, "/hook/"+hookSecret, old))
	awaitTooOld(t, s, old)

	mock.Advance(time.Hour) // what is bought now is given
	bought := purchase(t, mock, pack, player)
	require.Eventually(t, func() bool {
		units, err := s.book.OfPayment(t.Context(), bought)
		return err == nil && len(units) == 1
	}, 20*time.Second, 5*time.Millisecond)
}

// takeBefore is the integration of before, which polled the payment and gave the item.
func takeBefore(t *testing.T, mock *mockserver.Server, id string) {
	t.Helper()
	client, err := payments.New(payments.Config{BaseURL: mock.URL(), Token: mock.Token()})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	p, err := client.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, uuid.MustParse(id), p.ID)
}

// hook is a webhook that anybody could send.
func hook(t *testing.T, s *server, path, id string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.ln.Addr().String()+path, strings.NewReader(`{"payment_id":"`+id+`"}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestRestoredLedger: an older copy of the ledger does not know what was given since.
func TestRestoredLedger(t *testing.T) {
	t.Parallel()
	mock, pack, player := shopFloor(t)
	cfg := settings{URL: mock.URL(), Ledger: filepath.Join(t.TempDir(), "payments.db"), Town: "127.0.0.1:0", Listen: "127.0.0.1:0"}
	restored := time.Now().Add(time.Hour)
	require.NoError(t, json.Unmarshal([]byte(`{"not_before":"`+restored.Format(time.RFC3339)+`"}`), &cfg))
	cfg.Catalogue = []grant.Product{{ID: pack.ID, Name: "Pack", Price: payments.NewAmount(9000), Lines: []grant.Line{{Item: "sword"}}}}
	s := servingWith(t, cfg)
	awaitTooOld(t, s, purchase(t, mock, pack, player))
	s.cfg.NotBefore = restored.Add(-24 * time.Hour)
	require.Equal(t, s.book.Born().Add(-clocksDiffer), s.notBefore(), "the later of the two")
}

// awaitTooOld waits until a payment is kept for a person, and wants no unit of it.
func awaitTooOld(t *testing.T, s *server, payment string) {
	t.Helper()
	require.Eventually(t, func() bool {
		e, err := s.box.Get(t.Context(), payment)
		return err == nil && e.Stage == inbox.StageReview && e.Reason == string(inbox.ReasonTooOld)
	}, 20*time.Second, 5*time.Millisecond)
	units, err := s.book.OfPayment(t.Context(), payment)
	require.NoError(t, err)
	require.Empty(t, units)
}
