// Package inbox is a durable ledger of payments: what the service said is written down
// before anything else happens, once a payment, over both channels, and the
// merchant's code runs from there until it succeeds.
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
// and the merchant's code is
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
// # What is promised
//
// A payment whose record was accepted is durable, and is handed over until the handler
// succeeds or the payment is set aside for a person; code never drops it. What the
// handler writes through tx happens exactly once, also if the process is killed at any
// instruction, or stopped beyond its lease while another one takes over: the
// transaction begins with a fence that must touch one row. What the handler does
// outside tx may happen more than once; the payment id is its idempotency key.
//
// Not covered: an answer of a poll that is lost between the service and this process.
// It is reported (see Report.PossibleLosses), and every id that is known is asked for. If
// that proves that nothing was lost, the report settles itself (see Config.OnlyCreated).
//
// # Stages
//
//	expected → hint → ready → done
//	                    ↘ review (a person decides)   ↘ dead (the handler gave up)
//
// A payment is expected when it was created through Create, a hint when a webhook named
// it, ready when its record is held, and done when its handler has succeeded. A payment
// that does not match its order goes to review with a Reason, and never to the handler:
// Approve and Reject decide. A negative answer of the service is never final.
//
// # On one machine and on many
//
// On SQLite one process has the file. A handler's transaction is the file's one writer,
// so acceptances go to a file of their own first and wait for nobody. On PostgreSQL any
// number of processes share the tables; there is no leader, and no state that can stick.
//
// # What arrived, and when
//
// Receipts has everything that was received for a payment, and each run of its handler
// that did not succeed, in order and with the number of the attempt; Audit has what
// people decided, and how a possible loss was proven empty. Bodies are dropped after Config.KeepBodies, the lines and the
// payment's row never.
//
// # Operating
//
// Watch Status: OldestReady (is the handler keeping up), review and dead (a person is
// needed). LastReport has the last reconciliation; a cron job may call Reconcile itself.
// Each payment that is granted is one line at info level (Config.GrantLevel). Everything at
// error level needs a person; an open possible loss is told once.
//
// # Errors
//
// Accept returns nil once the record is durable; after any other error it may be called
// again. Open's errors are ErrUnsafe, ErrSchema or name the field of Config. Cancel and
// Snooze are for handlers.
package inbox
