package inbox_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// hostile are texts that mean something to a database, a format or a log.
var hostile = []string{
	`'; DROP TABLE depositpay_payments; --`, `" OR 1=1 --`, `\'; DELETE FROM effects; --`, `{p}payments`, `{now}`, `{skip}`,
	`?1`, `$1`, `$$; COMMIT; $$`, `%s%n`, `%_%`, "x\nlevel=ERROR msg=forged", "\x1b[31mred", `</script><script>alert(1)</script>`,
}

// TestHostileTexts: what people and the service write is data, in every place that takes a text, on
// both databases: it comes back as it was, nothing else is changed, and a line in the log
// stays one line.
func TestHostileTexts(t *testing.T) {
	each2(t, func(t *testing.T, pg bool) {
		var log bytes.Buffer
		s := newStand(t, pg, func(c *inbox.Config) {
			c.AcceptUnknown = false // all go to review, with a line in the log
			c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		stop := running(t, s.box)
		var keys []string
		for n, text := range hostile {
			p := nthPayment(n)
			p.Identifier, p.Method = text, payments.Method(text)
			p.Metadata.GameProduct = text
			require.NoError(t, s.box.Webhook().Accept(t.Context(), p))
			awaitStage(t, s.box, p.ID.String(), inbox.StageReview)
			keys = append(keys, p.ID.String())
		}
		stop()
		for n, text := range hostile {
			e := s.entry(keys[n])
			require.Equal(t, text, e.Payment.Identifier)
			found := 0
			for e, err := range s.box.List(t.Context(), inbox.Filter{Identifier: text}) {
				require.NoError(t, err)
				require.Equal(t, keys[n], e.Key)
				found++
			}
			require.Equal(t, 1, found, text)
			_, err := s.box.Get(t.Context(), text)
			require.ErrorIs(t, err, inbox.ErrNotFound)
			require.Error(t, s.box.Approve(t.Context(), text, inbox.Decision{Actor: "a", Reason: "b"}))
			require.NoError(t, s.box.Reject(t.Context(), keys[n], inbox.Decision{Actor: text, Reason: text}))
			lines, err := s.box.Audit(t.Context(), keys[n])
			require.NoError(t, err)
			require.Equal(t, []string{text, text}, []string{lines[0].Decision.Actor, lines[0].Decision.Reason})
		}
		b := books{t, s.ledger}
		require.Equal(t, len(hostile), b.number(`SELECT count(*) FROM {p}payments WHERE stage = {dead}`))
		require.Zero(t, b.number(`SELECT count(*) FROM effects`))
		require.Equal(t, len(hostile), strings.Count(log.String(), "\n"), "a line each: %s", log.String())
	})
}

// TestNoSecretAtRest: the token and the secret of the webhook's path are in no file that the
// ledger leaves, whatever happened: creations, polls, webhooks, losses, and refusals by a service
// that echoes what it was sent.
func TestNoSecretAtRest(t *testing.T) {
	t.Parallel()
	const path = "secret-of-the-path-0123456789"
	const token = "test_cAnArY-at-rest-0123456789"
	mock := mockserver.RunT(t, mockserver.Config{Applications: []mockserver.Application{{Token: token}}})
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // what a poll returns is kept as it came
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprintf(w, `{"error":%q,"error_msg":%q}`, token, "the token "+token+" is unknown")
	}))
	t.Cleanup(echo.Close)
	dir := t.TempDir()
	for n, base := range []string{mock.URL(), echo.URL} {
		client, err := payments.New(payments.Config{BaseURL: base, Token: token, MaxRetries: -1})
		require.NoError(t, err)
		t.Cleanup(client.CloseIdleConnections)
		db := openLedger(t, filepath.Join(dir, fmt.Sprint(n, ".db")))
		createEffects(t, db.Writer)
		box, err := inbox.Open(t.Context(), inbox.Config{SQLite: db, Client: client, Handler: grant, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = box.Close() })
		hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook(), PathSecrets: []string{path}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)

		if created, err := box.Create(t.Context(), payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(5)}); err == nil {
			_, err = mock.Deposit(created.PayToken.String(), mockserver.Deposit{})
			require.NoError(t, err)
		}
		journal := box.Poller().Begin()
		run, err := journal.BeforePoll(t.Context())
		require.NoError(t, err)
		p, pollErr := client.Next(run)
		if pollErr == nil {
			require.NoError(t, box.Poller().Accept(t.Context(), p))
		}
		for _, id := range []uuid.UUID{p.ID, uuid.New()} {
			r := httptest.NewRequest(http.MethodPost, "/"+path, strings.NewReader(`{"payment_id":"`+id.String()+`"}`))
			r.Header.Set("Content-Type", "application/json")
			hook.ServeHTTP(httptest.NewRecorder(), r)
		}
		require.NoError(t, journal.PollLost(run, fmt.Errorf("lost: %w", pollErr)))
		require.NoError(t, journal.Close(run))
		_, err = box.Reconcile(t.Context())
		require.NoError(t, err)
		require.Positive(t, books{t, db.Writer}.number(`SELECT (SELECT count(*) FROM depositpay_payments) + (SELECT count(*) FROM depositpay_polls)`))
	}
	read := 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, _ error) error {
		content, err := os.ReadFile(name)
		if err == nil {
			read++
			assert.False(t, bytes.Contains(content, []byte("cAnArY")), "the token is in %s", name)
			assert.False(t, bytes.Contains(content, []byte(path)), "the path's secret is in %s", name)
		}
		return nil
	}))
	require.Greater(t, read, 8, "ledgers, intake files, and what belongs to them")
}
