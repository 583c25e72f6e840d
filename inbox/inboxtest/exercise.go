// Package inboxtest is the suite that every database of package inbox must pass. It is
// exported for those who bring another driver or another server:
//
//	func TestMyDriver(t *testing.T) {
//		inboxtest.Exercise(t, func(t *testing.T) inboxtest.Database {
//			db := openMine(t)
//			return inboxtest.Database{DB: db, Ledger: db}
//		})
//	}
//
// It is for tests: it imports package testing and the mock of the service.
package inboxtest

import (
	"database/sql"
	"testing"

	"github.com/depositpay/depositpay-go/inbox"
)

// Database is a fresh, empty database.
type Database struct {
	// DB or SQLite is what inbox.Config takes.
	DB     *sql.DB
	SQLite *inbox.SQLite
	// Ledger is where the handlers' effects are read: DB or SQLite.Writer.
	Ledger *sql.DB
}

// Exercise runs the suite. open is called for each test, at once from several, and
// cleans up by itself.
func Exercise(t *testing.T, open func(t *testing.T) Database) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open func(t *testing.T) Database)
	}{
		{"Accept", testAccept},
		{"AcceptAtOnce", testAcceptAtOnce},
		{"AcceptAfterClose", testAcceptAfterClose},
		{"BothChannels", testBothChannels},
		{"HostileText", testHostileText},
		{"Orders", testOrders},
		{"OrderSurvivesInterruptedCreate", testInterruptedCreate},
		{"RefusedCreateLeavesNoOrder", testRefusedCreate},
		{"LongIdentifier", testLongIdentifier},
		{"Receipts", testReceipts},
		{"TakenOrderStaysTaken", testTakenOrder},
		{"RecordBeforeRegistration", testRecordBeforeRegistration},
		{"Catalogue", testCatalogue},
		{"AcceptUnknown", testAcceptUnknown},
		{"NotBefore", testNotBefore},
		{"SecondRecordRevivesReview", testSecondRecord},
		{"HandlerRollsBack", testHandlerRollsBack},
		{"HandlerFailsThenSucceeds", testHandlerFails},
		{"HandlerPanics", testHandlerPanics},
		{"HandlerGivesUp", testHandlerGivesUp},
		{"Cancel", testCancel},
		{"Snooze", testSnooze},
		{"HandlerTimesOut", testHandlerTimesOut},
		{"CrashingPaymentIsParked", testCrashingPayment},
		{"SerializeByIdentifier", testSerializeByIdentifier},
		{"ApproveRejectRetry", testManual},
		{"Rejected", testRejected},
		{"HintIsConfirmed", testHint},
		{"ForgedHintBeforePaying", testForgedHint},
		{"HintsAreBounded", testHintsBounded},
		{"HintInDoubt", testDoubt},
		{"HintsInDoubtStay", testDoubtfulHints},
		{"FloodIsNoLoss", testFloodIsNoLoss},
		{"Reconcile", testReconcile},
		{"ReconcileWithoutAnswer", testReconcileWithoutAnswer},
		{"PollJournal", testPollJournal},
		{"UncleanPoller", testUncleanPoller},
		{"RawPollAfterCrash", testRawPoll},
		{"UnreadablePoll", testUnreadablePoll},
		{"PollWithoutStore", testPollWithoutStore},
		{"Status", testStatus},
		{"List", testList},
		{"Retention", testRetention},
		{"Shutdown", testShutdown},
		{"Migrations", testMigrations},
		{"SlowHandlerHoldsUpNobody", testSlowHandler},
		{"ManyPayments", testManyPayments},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open)
		})
	}
}
