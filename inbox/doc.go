// Package inbox is a durable ledger of payments. Each payment is stored once, whichever channel
// reports it, before anything else happens; your handler then runs until it succeeds.
//
// # First use
//
//	db, err := sqlite.Open("/var/lib/shop/payments.db", nil) // or a PostgreSQL pool in Config.DB
//	…
//	box, err := inbox.Open(ctx, inbox.Config{SQLite: db, Client: client, Handler: grant})
//	…
//	hook, err := webhook.New(webhook.Config{Client: client, Ledger: box.Webhook()})
//	poll, err := poller.New(poller.Config{Client: client, Ledger: box.Poller()})
//	created, err := box.Create(ctx, req) // creates the payment and registers the order
//	err = box.Run(ctx)                   // until ctx ends
//
// and the handler is
//
//	func grant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
//		result, err := tx.ExecContext(ctx, `UPDATE orders SET paid = true WHERE id = $1 AND NOT paid`, p.Identifier)
//		if err != nil {
//			return err
//		}
//		if n, _ := result.RowsAffected(); n != 1 {
//			return inbox.Cancel(errors.New("no unpaid order")) // a person decides
//		}
//		return nil
//	}
//
// # Guarantees
//
// An accepted payment is durable. Its handler runs until it succeeds or the payment waits for a
// person; code never drops it. What the handler writes through tx happens exactly once, even if the
// process is killed at any instruction, or stopped beyond its lease while another one takes over:
// every transaction starts with a fencing check that must update one row. What the handler does
// outside tx may happen more than once; use the payment id as its idempotency key.
//
// Not covered: the response of a poll that is lost between the service and this process. It is
// reported (see Report.PossibleLosses), and every known id is confirmed. If that proves that nothing
// was lost, the report settles itself (see Config.OnlyCreated).
//
// # Stages
//
//	expected → hint → ready → done
//	                    ↘ review (a person decides)   ↘ dead (the handler gave up)
//
// A payment is expected once Create has created it, a hint once a webhook has named it, ready once
// its record is stored, and done once its handler has succeeded. A payment that does not match its
// order goes to review with a Reason instead of to the handler; Approve and Reject decide. A rejected
// confirm is never final.
//
// # Glossary
//
// The names on the left are used here for what queues and databases call
//
//	hand over        dispatch: a worker claims the payment and runs the handler
//	dead             dead letter; StageDead is the dead-letter list, Retry is redrive
//	review           quarantine, decided by a person
//	hint             unverified id, to be confirmed
//	possible loss    ambiguous poll: its response may have held a payment
//	poll journal     write-ahead record of the pollers; its lines have a heartbeat (beat)
//	claim, lease     visibility timeout; the fence is a fencing token (the attempt)
//	fold             checkpoint of the intake log into the ledger (SQLite)
//	promote          move a stored payment to ready, as its record arrived
//	receipt          one line of a payment's event log
//	SerializeByIdentifier   sequence, FIFO group
//
// # On one machine and on many
//
// An SQLite file belongs to one process. A handler's transaction is the file's only writer, so
// acceptances go to a separate file first and wait for nobody. On PostgreSQL any number of processes
// share the tables; there is no leader, and no payment can get stuck in a state.
//
// # What arrived, and when
//
// Receipts lists everything received for a payment and each attempt of its handler that failed, in
// order; Audit lists what people decided, and how a possible loss was proven empty. Bodies are dropped
// after Config.KeepBodies; the lines and the payment's row stay.
//
// # Operating
//
// Watch Status: OldestReady (does the handler keep up), review and dead (a person is needed).
// LastReport has the last reconciliation; a cron job may call Reconcile itself. Each granted payment
// is one log line at info level (Config.GrantLevel). Everything at error level needs a person; an open
// possible loss is logged once.
//
// # Errors
//
// Open's errors wrap ErrUnsafe, ErrSchema or ErrPooler, or name the field of Config. Handlers return
// Cancel and Snooze.
package inbox
