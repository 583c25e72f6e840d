package inbox_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// logbook keeps what is logged, a line "LEVEL message key=value …" each, without ids, times
// and durations.
type logbook struct {
	slog.Handler // for the methods that nobody calls

	mu    sync.Mutex
	lines []string
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "loss", "payment_id":
			_, err := uuid.Parse(a.Value.String())
			line += fmt.Sprintf(" %s=%t", a.Key, err == nil)
		case "at", "took":
		default:
			line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// take returns the lines, and forgets them.
func (l *logbook) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// meddler is a client of the service that does something else meanwhile.
type meddler struct {
	*payments.Client
	creating, confirming, decoding func()
	never                          uuid.UUID          // says no to it
	code                           string             // of the no
	confirmed                      map[uuid.UUID]bool // if not nil: says no to these, and confirms the others once
}

func (m *meddler) Confirm(ctx context.Context, id uuid.UUID) (payments.Payment, error) {
	if m.confirming != nil {
		m.confirming()
	}
	if id == m.never || m.confirmed[id] {
		return payments.Payment{}, &payments.Error{Op: "Confirm", Code: cmp.Or(m.code, "PAYMENT_NOT_PAID"), PayToken: id, Attempts: 1}
	}
	if m.confirmed != nil {
		m.confirmed[id] = true
	}
	return m.Client.Confirm(ctx, id)
}

func (m *meddler) Create(ctx context.Context, req payments.CreateRequest) (payments.Created, error) {
	if m.creating != nil {
		m.creating()
	}
	return m.Client.Create(ctx, req)
}

func (m *meddler) Decode(raw []byte) (payments.Payment, error) {
	if m.decoding != nil {
		m.decoding()
	}
	return m.Client.Decode(raw)
}

// lossStand is a merchant whose every payment is created here.
type lossStand struct {
	*stand
	log     *logbook
	meddler *meddler
}

func newLossStand(t *testing.T, pg bool, change func(*inbox.Config)) *lossStand {
	s := &lossStand{log: &logbook{}, meddler: &meddler{}}
	s.stand = newStand(t, pg, func(c *inbox.Config) {
		s.meddler.Client = c.Client.(*payments.Client)
		c.Client, c.Logger, c.AcceptUnknown, c.OnlyCreated = s.meddler, slog.New(s.log), false, true
		if change != nil {
			change(c)
		}
	})
	return s
}

// complete is a payment that is done.
func (s *lossStand) complete() uuid.UUID {
	s.t.Helper()
	id := s.create("order-0")
	s.pay(id)
	p, err := s.client.Next(s.t.Context())
	require.NoError(s.t, err)
	require.NoError(s.t, s.box.Poller().Accept(s.t.Context(), p))
	claims := s.claim()
	require.Len(s.t, claims, 1)
	inbox.Handle(s.box, &claims[0])
	s.log.take()
	return id
}

func (s *lossStand) create(identifier string) uuid.UUID {
	s.t.Helper()
	created, err := s.box.Create(s.t.Context(), orderOf(identifier))
	require.NoError(s.t, err)
	return created.PayToken
}

func orderOf(identifier string) payments.CreateRequest {
	return payments.CreateRequest{Title: "Sword", Identifier: identifier, Amount: payments.NewAmount(1000)}
}

func (s *lossStand) fault(operation, kind string, bytes int) {
	s.t.Helper()
	f := mockserver.Fault{Operation: operation, Kind: kind, Bytes: bytes, First: 1}
	if kind == "status-before" {
		f.Status = 502
	}
	require.NoError(s.t, s.mock.AddFault(f))
}

// lose is a poll whose answer ends after some bytes.
func (s *lossStand) lose(bytes int) {
	s.t.Helper()
	s.fault("next", "cut", bytes)
	_, err := s.client.Next(s.t.Context())
	require.ErrorIs(s.t, err, payments.ErrAmbiguous)
	require.NoError(s.t, s.box.Poller().Begin().PollLost(s.t.Context(), err))
}

func (s *lossStand) pay(id uuid.UUID) {
	s.t.Helper()
	_, err := s.mock.Deposit(id.String(), mockserver.Deposit{})
	require.NoError(s.t, err)
}

// notYoung makes all creations older than a reconciliation waits for.
func (s *lossStand) notYoung() {
	s.t.Helper()
	require.NoError(s.t, inbox.Fold(s.box))
	s.do(`UPDATE depositpay_orders SET created_at = created_at - 60000000`)
}

func (s *lossStand) requireOpen(why string) {
	s.t.Helper()
	report := s.reconcile()
	require.Len(s.t, report.PossibleLosses, 1)
	require.Empty(s.t, report.Settled)
	require.Equal(s.t, why, report.PossibleLosses[0].Unproven)
}

func (s *lossStand) requireSettled() inbox.Report {
	s.t.Helper()
	report := s.reconcile()
	require.Empty(s.t, report.PossibleLosses)
	require.Len(s.t, report.Settled, 1)
	return report
}

// TestLossProvenEmpty: a lost poll of a merchant whose every payment is created here is
// settled by the reconciliation that follows it, with the proof, and nobody is called.
func TestLossProvenEmpty(t *testing.T) {
	t.Parallel()
	each2(t, func(t *testing.T, pg bool) {
		s := newLossStand(t, pg, nil)
		s.complete()
		s.pay(s.create("order-1"))
		s.create("order-2")
		s.lose(0)
		s.log.take()
		report := s.requireSettled()
		require.Equal(t, []int{2, 1, 1, 0}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed})
		audit, err := s.box.Audit(t.Context(), report.Settled[0].ID)
		require.NoError(t, err)
		require.Len(t, audit, 1)
		assert.Equal(t, "settle loss", audit[0].Action)
		assert.Equal(t, inbox.Decision{Actor: "inbox", Reason: "proven empty: every payment is created here (Config.OnlyCreated), and the service " +
			"has answered for all that were outstanding after the loss: 2 asked, 1 recovered, 1 not paid (PAYMENT_NOT_PAID), 0 without an answer"}, audit[0].Decision)
		lines := s.log.take()
		require.Len(t, lines, 2)
		assert.Equal(t, "INFO depositpay: reconciliation took in payments recovered=1 asked=2 still_unpaid=1 failed=0", lines[0])
		assert.Contains(t, lines[1], "INFO depositpay: a possible loss is settled: it is proven empty loss=true reason=ambiguous: payments: Next: ")
		assert.Less(t, len(lines[1]), 400)
		require.ErrorIs(t, s.box.SettleLoss(t.Context(), report.Settled[0].ID, inbox.Decision{Actor: "kim", Reason: "again"}), inbox.ErrStage)

		require.Empty(t, s.reconcile().Settled)
		require.Empty(t, s.log.take(), "it is told once")
	})
}

// TestLossNotProven: whatever leaves room for a payment that nobody asked for keeps the loss
// open, and says what it is.
func TestLossNotProven(t *testing.T) {
	t.Parallel()
	const noID = "the answer to the creation of 1 payments is not here, so their ids are not known"
	for name, test := range map[string]func(*testing.T, *lossStand, bool){
		"ConfirmsOnce": func(_ *testing.T, s *lossStand, _ bool) {
			s.create("order-1")
			s.lose(3)
			s.requireOpen("no payment is done yet by which to see that the service confirms a complete payment again")
			id := s.complete()
			s.meddler.never = id
			s.requireOpen("the service says no to payment " + id.String() + ", which is complete (\"PAYMENT_NOT_PAID\"): its no to others proves nothing")
			s.meddler.never = uuid.Nil
			s.fault("confirm", "status-before", 0)
			s.requireOpen("1 of 1 outstanding payments got no answer, or could not be stored")
			require.NoError(s.t, s.mock.AddFault(mockserver.Fault{Operation: "confirm", Kind: "drop-after", Nth: 2}))
			s.requireOpen("payment " + id.String() + ", which is complete, got no answer")
			s.requireSettled()
		},
		"ConfirmsOnceAndRecovered": func(_ *testing.T, s *lossStand, _ bool) {
			done, lost := s.complete(), s.create("order-1")
			s.pay(lost)
			s.lose(0)
			s.meddler.confirmed = map[uuid.UUID]bool{done: true, lost: true} // by the polls
			s.pay(s.create("order-2"))                                       // the reconciliation recovers this one
			s.requireOpen("the service says no to payment " + done.String() + ", which is complete (\"PAYMENT_NOT_PAID\"): its no to others proves nothing")
		},
		"ConfirmsOnceAfterThePoll": func(t *testing.T, s *lossStand, _ bool) {
			done := s.complete()
			s.meddler.confirmed = map[uuid.UUID]bool{}
			s.pay(s.create("order-1"))
			s.lose(0)
			s.fault("confirm", "drop-after", 0)
			s.requireOpen("1 of 1 outstanding payments got no answer, or could not be stored")
			s.requireOpen("the service says no to payment " + done.String() + ", which is complete (\"PAYMENT_NOT_PAID\"): its no to others proves nothing")
		},
		"UnknownCode": func(t *testing.T, s *lossStand, _ bool) {
			s.complete()
			lost := s.create("order-1")
			s.create("order-2")
			s.pay(lost)
			s.lose(0)
			s.meddler.never, s.meddler.code = lost, "RATE_LIMITED" // with HTTP 200
			s.requireOpen("the service refused payment " + lost.String() + ` with "RATE_LIMITED", which Config.NotPaidCodes does not name`)
			s.meddler.never = uuid.Nil
			report := s.requireSettled()
			require.Equal(t, []int{2, 1, 1, 0}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed})
		},
		"NoAnswer": func(_ *testing.T, s *lossStand, _ bool) {
			s.complete()
			s.create("order-1")
			s.create("order-2")
			s.lose(3)
			s.fault("confirm", "status-before", 0)
			s.requireOpen("1 of 2 outstanding payments got no answer, or could not be stored")
			s.requireSettled()
		},
		"NotStored": func(t *testing.T, s *lossStand, pg bool) {
			if !pg {
				return // the intake file of SQLite refuses no payment by itself
			}
			s.complete()
			s.pay(s.create("order-1"))
			s.create("order-2")
			s.lose(3)
			s.do(`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.identifier = 'order-1' AND NEW.stage = {ready} THEN RAISE 'no' USING ERRCODE = '22000'; END IF; RETURN NEW; END $$`)
			s.do(`CREATE TRIGGER no BEFORE INSERT OR UPDATE ON depositpay_payments FOR EACH ROW EXECUTE FUNCTION no()`)
			report, _ := s.box.Reconcile(t.Context()) // its error is another test's
			require.Equal(t, []int{2, 0, 1, 1}, []int{report.Asked, report.Recovered, report.StillUnpaid, report.Failed})
			require.Len(t, report.PossibleLosses, 1)
			require.Equal(t, "1 of 2 outstanding payments got no answer, or could not be stored", report.PossibleLosses[0].Unproven)
		},
		"CreationLost": func(t *testing.T, s *lossStand, _ bool) {
			s.fault("create", "drop-after", 0)
			_, err := s.box.Create(t.Context(), orderOf("order-1"))
			require.ErrorIs(t, err, payments.ErrAmbiguous)
			s.notYoung()
			s.lose(3)
			s.requireOpen(noID)
			s.requireOpen(noID)
			s.do(`UPDATE depositpay_orders SET created_at = 1`) // longer ago than OutstandingFor
			s.requireSettled()
		},
		"OrdersUnreadable": func(t *testing.T, s *lossStand, _ bool) {
			s.complete()
			s.create("order-1")
			s.lose(3)
			require.NoError(t, inbox.Fold(s.box))
			s.do(`ALTER TABLE depositpay_orders RENAME COLUMN created_at TO elsewhere`)
			report := s.reconcile()
			require.Equal(t, 1, report.Asked)
			require.Len(t, report.PossibleLosses, 1)
			require.Regexp(t, `^the orders without a payment could not be read: .*created_at`, report.PossibleLosses[0].Unproven)
			s.do(`ALTER TABLE depositpay_orders RENAME COLUMN elsewhere TO created_at`)
			s.requireSettled()
		},
		"CreationUnderWay": func(t *testing.T, s *lossStand, _ bool) {
			// The payment has its id only after the list of ids was read.
			s.complete()
			s.create("order-1")
			s.lose(3)
			creating, goOn, created := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s.meddler.creating = func() { close(creating); <-goOn }
			go func() {
				defer close(created)
				s.pay(s.create("order-2"))
			}()
			<-creating
			s.meddler.confirming = func() {
				s.meddler.confirming = nil
				close(goOn)
				<-created
			}
			report := s.requireSettled()
			require.Equal(t, []int{2, 1, 1}, []int{report.Asked, report.Recovered, report.StillUnpaid})
		},
		"OlderThanOutstandingFor": func(t *testing.T, s *lossStand, _ bool) {
			s.pay(s.create("order-1"))
			s.reconcileAged(t)
			s.lose(3)
			report := s.requireSettled()
			require.Equal(t, 1, report.Recovered, "for a proof it is asked for, however old")
		},
		"CameMeanwhile": func(t *testing.T, s *lossStand, _ bool) {
			s.pay(s.create("order-1"))
			s.pollAndDie(s.box)
			s.crash()
			var once sync.Once
			s.meddler.decoding = func() {
				once.Do(func() { require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), errors.New("cut"))) })
			}
			report := s.reconcile()
			require.Len(t, report.Settled, 1, "the dead poller's")
			require.Len(t, report.PossibleLosses, 1)
			require.Equal(t, "it came while the reconciliation was going on", report.PossibleLosses[0].Unproven)
			s.requireSettled()
		},
		"PollerMayGoOn": func(t *testing.T, s *lossStand, pg bool) {
			if !pg { // the file's lock says that its process is dead
				s.pay(s.create("order-1"))
				s.pollAndDie(s.box)
				s.box = s.open()
				s.requireSettled()
				return
			}
			_, err := s.box.Poller().Begin().BeforePoll(t.Context())
			require.NoError(t, err)
			s.do(`UPDATE depositpay_polls SET beat_at = beat_at - 180000000`) // 3 minutes
			s.box = s.open()
			s.requireOpen("what the poller had received is not taken in for good: it may go on for a while")
			s.do(`UPDATE depositpay_polls SET beat_at = beat_at - 3600000000`)
			s.requireSettled()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each2(t, func(t *testing.T, pg bool) { test(t, newLossStand(t, pg, nil), pg) })
		})
	}
}

// reconcileAged makes all payments older than OutstandingFor, and sees that they are asked
// for no more.
func (s *lossStand) reconcileAged(t *testing.T) {
	t.Helper()
	require.NoError(t, inbox.Fold(s.box))
	s.do(`UPDATE depositpay_payments SET first_seen = first_seen - 8 * 86400000000`)
	require.Zero(t, s.reconcile().Asked)
}

// TestLossIsToldOnce: an open possible loss is one line at error level, once, whatever
// reconciles, and whichever process.
func TestLossIsToldOnce(t *testing.T) {
	t.Parallel()
	each2(t, func(t *testing.T, pg bool) {
		s := newLossStand(t, pg, func(c *inbox.Config) { c.OnlyCreated = false })
		for n := range 2 {
			s.lose(3)
			report := s.reconcile()
			require.Len(t, report.PossibleLosses, n+1)
			lines := s.log.take()
			require.Len(t, lines, 1, "%q", lines)
			assert.Contains(t, lines[0], "ERROR depositpay: a possible loss is open: compare with the service's list, then call SettleLoss loss=true reason=ambiguous: payments: Next: ")
			assert.Less(t, len(lines[0]), 400)
		}
		s.reconcile()
		s.box = s.open()
		s.reconcile()
		require.Empty(t, s.log.take())

		for range 15 {
			require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), errors.New("cut")))
		}
		s.reconcile()
		lines := s.log.take()
		require.Len(t, lines, 11)
		assert.Equal(t, "ERROR depositpay: more possible losses are open; LastReport has them more=5", lines[10])
	})
}

// TestLossBecomesAnError: one that waits for its proof is a warning, and an error once it has
// waited for too long.
func TestLossBecomesAnError(t *testing.T) {
	t.Parallel()
	each2(t, func(t *testing.T, pg bool) {
		s := newLossStand(t, pg, nil)
		s.fault("create", "drop-after", 0)
		_, err := s.box.Create(t.Context(), orderOf("order-1"))
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		s.notYoung()
		require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), errors.New("cut")))
		s.log.take()
		s.reconcile()
		s.reconcile()
		require.Equal(t, []string{"WARN depositpay: a possible loss is not proven empty yet loss=true reason=ambiguous: cut " +
			"unproven=the answer to the creation of 1 payments is not here, so their ids are not known"}, s.log.take())
		s.do(`UPDATE depositpay_polls SET beat_at = beat_at - 3601000000`)
		s.reconcile()
		s.reconcile()
		require.Equal(t, []string{"ERROR depositpay: a possible loss is open: compare with the service's list, then call SettleLoss " +
			"loss=true reason=ambiguous: cut"}, s.log.take())
	})
}

// TestPageIsNoReview: a cut answer that holds nothing of a record is a possible loss, and
// nothing for a person to read. A part of a record is.
func TestPageIsNoReview(t *testing.T) {
	t.Parallel()
	each2(t, func(t *testing.T, pg bool) {
		s := newLossStand(t, pg, nil)
		s.lose(47) // {"error":"NO_PROCESSED_PAYMENT","error_msg":"no …
		s.fault("next", "html", 0)
		_, err := s.client.Next(t.Context())
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), err))
		s.fault("next", "status-before", 0)
		_, err = s.client.Next(t.Context())
		require.ErrorIs(t, err, payments.ErrAmbiguous)
		require.NoError(t, s.box.Poller().Begin().PollLost(t.Context(), err))
		require.Len(t, s.reconcile().Settled, 3)
		require.Empty(t, inReview(t, s.box))

		s.pay(s.create("order-1"))
		s.lose(20)
		s.reconcile()
		kept := inReview(t, s.box)
		require.Len(t, kept, 1)
		require.Len(t, kept[0].Unreadable, 20)
		require.True(t, strings.HasPrefix(kept[0].Unreadable, `{"id":"`), kept[0].Unreadable)
	})
}

// TestGrantIsLogged: one line for each payment that is granted, at the level that was asked
// for, and nothing above it.
func TestGrantIsLogged(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{slog.LevelInfo: "INFO", slog.LevelDebug: "DEBUG"} {
		s := newLossStand(t, false, func(c *inbox.Config) {
			c.GrantLevel = level
			first := true
			c.Handler = func(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
				if first { // a run that fails grants nothing
					first = false
					return errors.New("not yet")
				}
				return grant(ctx, tx, p)
			}
			c.BackoffMin = time.Millisecond
		})
		id := s.create("order-1")
		s.pay(id)
		stop := running(t, s.box)
		awaitStage(t, s.box, id.String(), inbox.StageDone)
		stop()
		lines := slices.DeleteFunc(s.log.take(), func(l string) bool { return !strings.Contains(l, "granted") })
		require.Equal(t, []string{want + " depositpay: granted payment_id=true identifier=order-1 paid_amount=1000 attempt=2"}, lines)
	}
}

// TestOnlyCreatedContradicted: a merchant who grants what was not created here does not
// create all.
func TestOnlyCreatedContradicted(t *testing.T) {
	t.Parallel()
	for _, cfg := range []inbox.Config{
		{OnlyCreated: true, AcceptUnknown: true},
		{OnlyCreated: true, Catalogue: map[string]inbox.Product{"gem": {Price: payments.NewAmount(1)}}},
	} {
		cfg.Client, cfg.Handler, cfg.DB = nobody{}, grant, &sql.DB{}
		_, err := inbox.Open(t.Context(), cfg)
		require.EqualError(t, err, "inbox: Config.OnlyCreated: says that every payment is created here, and AcceptUnknown or Catalogue that some are not; unset one")
	}
}

// TestNotPaidCodes: they are the merchant's to say, and a refusal without a code is not one.
func TestNotPaidCodes(t *testing.T) {
	t.Parallel()
	each2(t, func(t *testing.T, pg bool) {
		s := newLossStand(t, pg, func(c *inbox.Config) { c.NotPaidCodes = []string{"UNPAID", "EXPIRED"} })
		s.complete()
		id := s.create("order-1")
		s.lose(3)
		s.requireOpen("the service refused payment " + id.String() + ` with "PAYMENT_NOT_PAID", which Config.NotPaidCodes does not name`)
		s.meddler.never, s.meddler.code = id, "EXPIRED"
		s.requireSettled()
	})
	_, err := inbox.Open(t.Context(), inbox.Config{Client: nobody{}, Handler: grant, DB: &sql.DB{}, NotPaidCodes: []string{""}})
	require.EqualError(t, err, "inbox: Config.NotPaidCodes: has an empty code")
}

// TestUnprovenIsTriedAgain: a loss that is not proven yet is tried again within minutes, also
// where nothing else reconciles by itself; otherwise it would never be an error.
func TestUnprovenIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newLossStand(t, false, func(c *inbox.Config) { c.ReconcileEvery = -1 })
	s.create("order-1")
	s.lose(3)
	require.True(t, inbox.Unproven(s.reconcile()), "no payment is done yet")
	for n, most := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 3: 4 * time.Minute, 9: 15 * time.Minute, 90: 15 * time.Minute} {
		wait, scheduled := inbox.UntilNext(s.box, n)
		require.True(t, scheduled)
		require.LessOrEqual(t, wait, most)
		require.Positive(t, wait)
	}
	s.do(`UPDATE depositpay_polls SET beat_at = beat_at - 3601000000`)
	require.False(t, inbox.Unproven(s.reconcile()), "it is an error now, and nothing is tried for it")
	_, scheduled := inbox.UntilNext(s.box, 0)
	require.False(t, scheduled)
}
