package inbox_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// disk is the intake file of a ledger, which the test makes full and gives room again.
type disk struct {
	t  *testing.T
	db *sql.DB
}

func onDisk(t *testing.T) (*inbox.SQLite, *disk) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	ledger := openLedger(t, path)
	db, err := sql.Open("sqlite", "file:"+path+"-intake?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return ledger, &disk{t, db}
}

func (d *disk) full(full bool) {
	d.t.Helper()
	statement := `DROP TRIGGER refuse`
	if full {
		statement = `CREATE TRIGGER refuse BEFORE INSERT ON intake BEGIN SELECT RAISE(ABORT, 'no room'); END`
	}
	_, err := d.db.ExecContext(context.Background(), statement)
	require.NoError(d.t, err)
}

// logged is what a logger has written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// TestPaidWhileTheDiskIsFull: a payment whose confirm was the last before the failure was noticed
// is stored from memory, without another confirm; the next one is not confirmed while the disk is full; both are
// granted when there is room again, with nothing done by hand and no webhook sent again.
func TestPaidWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	ledger, disk := onDisk(t)
	m := newMerchant(t, inbox.Config{SQLite: ledger, ReconcileEvery: -1}, webhook.Config{}, mockserver.Config{})
	kept, refused := m.create(1), m.create(2)
	_, err := m.box.Reconcile(t.Context()) // the one of the start is over, or has nothing to ask
	require.NoError(t, err)
	before := confirmsOf(m, kept)
	m.deposit(kept)
	m.deposit(refused)
	disk.full(true)
	require.Equal(t, http.StatusServiceUnavailable, m.post(kept))
	require.Equal(t, mockserver.StatusComplete, m.statusOf(kept))
	require.Equal(t, http.StatusServiceUnavailable, m.post(refused))
	require.Equal(t, mockserver.StatusProgress, m.statusOf(refused), "nothing can hold it: it must not be confirmed")
	disk.full(false)
	books := books{t, ledger.Writer}
	books.awaitDone(2)
	require.Equal(t, 1, books.effects(kept))
	require.Equal(t, 1, books.effects(refused))
	require.Equal(t, 1, confirmsOf(m, kept)-before, "it was kept, and did not have to be asked for")
}

func confirmsOf(m *merchant, id uuid.UUID) (n int) {
	for _, r := range m.mock.Requests() {
		if r.Path == "/payments/confirm" && strings.Contains(r.Body, id.String()) {
			n++
		}
	}
	return n
}

// TestKeptWithoutRun: where nothing but webhooks uses the inbox, the next webhook finds the store
// working again, and what was kept is stored.
func TestKeptWithoutRun(t *testing.T) {
	t.Parallel()
	ledger, disk := onDisk(t)
	box := accepting(t, inbox.Config{SQLite: ledger})
	disk.full(true)
	p := nthPayment(1)
	err := box.Webhook().Accept(t.Context(), p)
	require.ErrorContains(t, err, p.ID.String())
	require.ErrorContains(t, err, "kept in memory")
	require.ErrorContains(t, err, "no room")
	_, err = box.Webhook().State(t.Context(), uuid.New())
	require.ErrorContains(t, err, "the store is down")
	disk.full(false)
	state, err := box.Webhook().State(t.Context(), uuid.New())
	require.NoError(t, err)
	require.Equal(t, webhook.StateUnknown, state)
	state, err = box.Webhook().State(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.StateHandled, state)
}

// TestKeptAtTheEnd: Close stores what is kept, and names in the log and in its error what it cannot store.
func TestKeptAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		ledger, disk := onDisk(t)
		var log logged
		box, err := inbox.Open(t.Context(), inbox.Config{SQLite: ledger, Client: nobody{}, Handler: grant, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		disk.full(true)
		ids := []string{nthPayment(1).ID.String(), nthPayment(2).ID.String()}
		for n := range ids {
			require.ErrorContains(t, box.Webhook().Accept(t.Context(), nthPayment(n+1)), "no room")
		}
		if !full {
			disk.full(false)
		}
		err = box.Close()
		if !full {
			require.NoError(t, err)
			box = accepting(t, inbox.Config{SQLite: ledger})
			for n := range ids {
				state, err := box.Webhook().State(t.Context(), nthPayment(n+1).ID)
				require.NoError(t, err)
				require.Equal(t, webhook.StateHandled, state, "%d", n)
			}
			continue
		}
		require.ErrorIs(t, err, inbox.ErrUnstored)
		require.ErrorContains(t, err, "2 of them")
		for _, id := range ids {
			require.Equal(t, 1, log.count("level=ERROR msg=\"depositpay: a confirmed payment is not stored; the next start asks the service for it again\" payment_id="+id))
		}
		require.ErrorIs(t, box.Webhook().Accept(t.Context(), nthPayment(3)), inbox.ErrClosed)
	}
}

// complete is a service where all is paid.
type complete struct{ inbox.Client }

func (complete) Confirm(_ context.Context, id uuid.UUID) (payments.Payment, error) {
	return paymentOf(id, record{"kim", "500"}), nil
}

// TestReconcileThatCannotStore: a payment that the service calls COMPLETE and that is not stored
// is Failed, and Reconcile's error names it. It is not StillUnpaid.
func TestReconcileThatCannotStore(t *testing.T) {
	t.Parallel()
	expect := func(t *testing.T, box *inbox.Inbox) uuid.UUID {
		id := uuid.New()
		require.NoError(t, box.Expect(t.Context(), id, request(record{"kim", "500"})))
		return id
	}
	t.Run("DiskFull", func(t *testing.T) {
		t.Parallel()
		ledger, disk := onDisk(t)
		box := accepting(t, inbox.Config{SQLite: ledger, Client: complete{}})
		ids := expect(t, box).String() + expect(t, box).String() + expect(t, box).String()
		require.NoError(t, inbox.Fold(box))
		disk.full(true)
		report, err := box.Reconcile(t.Context())
		require.Equal(t, []int{1, 0, 0, 1}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed}, "none is asked about after the first")
		require.ErrorContains(t, err, "no room")
		_, named, _ := strings.Cut(err.Error(), "payment ")
		require.Contains(t, ids, named[:36])
		disk.full(false)
		report, err = box.Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int{2, 2, 0, 0}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed}, "the first was kept")
	})
	t.Run("RefusedByPostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.New(t)
		var log logged
		box := accepting(t, inbox.Config{DB: db.DB, Client: complete{}, ReconcileEvery: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		refused := expect(t, box)
		for _, statement := range []string{
			`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.stage = {ready} AND NEW.payment_id = '` + refused.String() + `' THEN RAISE EXCEPTION 'poison' USING ERRCODE = 'check_violation'; END IF;
				RETURN NEW; END $$`,
			`CREATE TRIGGER poison BEFORE UPDATE ON depositpay_payments FOR EACH ROW EXECUTE FUNCTION refuse()`,
		} {
			books{t, db.DB}.do(statement)
		}
		other := expect(t, box)
		report, err := box.Reconcile(t.Context())
		require.Equal(t, []int{2, 1, 0, 1}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed})
		require.ErrorContains(t, err, "payment "+refused.String()+" is confirmed and not stored; the database refuses its record")
		require.ErrorContains(t, err, "poison")
		require.NotContains(t, err.Error(), other.String())
		kept, err := box.LastReport(t.Context())
		require.NoError(t, err)
		require.Equal(t, report, kept)
		require.Zero(t, log.count("level=ERROR"), "the error is the caller's to log")
	})
}

// TestUnwrittenLossIsReported: a possible loss that could not be stored is in the next report,
// whether the poller goes on, ends, or the process ends while nothing can be stored.
func TestUnwrittenLossIsReported(t *testing.T) {
	t.Parallel()
	record := &payments.Error{Op: "Next", Raw: []byte(`{"id":"0c9`)} // what arrived is to be kept for review
	for _, end := range []string{"GoesOn", "Ends", "EndsInTheOutage"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			ledger, disk := onDisk(t)
			box := accepting(t, inbox.Config{SQLite: ledger})
			ctx, journal := t.Context(), box.Poller().Begin()
			_, err := journal.BeforePoll(ctx)
			require.NoError(t, err)
			disk.full(true)
			ended, cancel := context.WithCancel(ctx)
			cancel() // as when the poller stops
			require.ErrorContains(t, journal.PollLost(ended, record), "no room")
			switch end {
			case "GoesOn":
				_, err := journal.BeforePoll(ctx)
				require.ErrorContains(t, err, "a possible loss is not stored")
				disk.full(false)
				_, err = journal.BeforePoll(ctx)
				require.NoError(t, err)
			case "Ends":
				disk.full(false)
				require.NoError(t, journal.Close(ctx))
			case "EndsInTheOutage":
				require.ErrorContains(t, journal.Close(ctx), "a possible loss is not stored")
				disk.full(false)
				require.NoError(t, box.Close())
				box = accepting(t, inbox.Config{SQLite: ledger})
			}
			report, err := box.Reconcile(t.Context())
			require.NoError(t, err)
			require.Len(t, report.PossibleLosses, 1)
		})
	}
}

// TestKeptInOrder: of two different records of a payment that are kept in memory, the first to
// arrive is the payment's record.
func TestKeptInOrder(t *testing.T) {
	t.Parallel()
	const n = 20
	ledger, disk := onDisk(t)
	box := accepting(t, inbox.Config{SQLite: ledger})
	disk.full(true)
	for range n {
		id := uuid.New()
		for _, identifier := range []string{"first", "second"} {
			require.ErrorContains(t, box.Webhook().Accept(t.Context(), paymentOf(id, record{identifier, "500"})), "no room")
		}
	}
	disk.full(false)
	_, err := box.Webhook().State(t.Context(), uuid.New())
	require.NoError(t, err)
	require.NoError(t, inbox.Fold(box))
	var first int
	require.NoError(t, ledger.Writer.QueryRow(`SELECT count(*) FROM depositpay_payments WHERE identifier = 'first'`).Scan(&first))
	require.Equal(t, n, first)
}
