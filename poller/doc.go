// Package poller fetches completed payments by polling (interface §4.2) and hands
// them to a [Ledger] or a [Sink].
//
// GET /callback/rest completes one payment and returns it, without an acknowledgement: the
// service does not return that record again. So a [Poller] takes one payment at a time,
// gives it to the Sink before it polls again, and keeps a payment that the Sink rejects
// until the Sink takes it or [Poller.Run] returns it.
//
// # First use
//
//	p, err := poller.New(poller.Config{Client: client, Sink: box})
//	…
//	err = p.Run(ctx) // returns soon after ctx ends
//
// Run polls until no payment waits, then waits 3 to 5 seconds (§8), and so on.
//
// # One poller per token
//
// Run one Poller per API token, over all processes. A poll takes the payment that it
// returns, so each of two Pollers receives a part of the payments. If both write to one
// ledger (two replicas with one PostgreSQL behind package inbox), nothing is lost and
// nothing is granted twice; the second Poller only adds load. If each writes to a ledger
// of its own, payments reach a ledger that did not create them: those go to review there,
// and with inbox.Config.AcceptUnknown both ledgers may grant them. See docs/guide/replicas.md
// for code that elects one replica.
//
// A webhook.Handler with the same Sink may run next to a Poller. Several tokens need several
// Pollers. An inbox.Inbox confirms with its one client, so give each token an Inbox of its own:
// on PostgreSQL with its own TablePrefix, on SQLite in its own file.
//
// # When something fails
//
// If a response may have been lost ([payments.ErrAmbiguous]), a payment may be complete
// that nobody has. Each such poll is counted, given to [Config.OnEvent] and logged, and
// polling goes on after a backoff. Then confirm the ids you know of; a [Ledger] does so
// itself. The error is a *payments.Error whose Raw has the bytes that arrived.
//
// A record that is not COMPLETE ([payments.ErrNotComplete]) never reaches the Sink.
// It is given to OnEvent as [KindUnverified], and logged.
//
// A poll with a refused token ([payments.ErrTokenRefused]: HTTP 401, HTTP 403 with an error of
// the service, or a code such as INVALID_TOKEN) takes no payment, and neither does a poll for
// which payments.Config.TokenSource gave no token ([payments.ErrTokenSource]). Polling goes on
// every [Config.BackoffMax], since a gateway or a rotation of the token may be the cause. Each
// such poll is a [KindTokenRefused] event, and an error in the log at once and then once an
// hour; [KindTokenAccepted] ends it. With [Config.StopOnTokenRefused] Run returns
// ErrTokenRefused instead.
//
// A Sink that fails is called again with backoff while polling goes on, until
// [Config.MaxPending] payments wait for it; then polling stops until there is room.
//
// # Stopping
//
// End the context of Run. No further poll starts, and Run waits for a poll under way,
// because interrupting it could lose a payment. Payments that still wait get one last
// attempt, all within [Config.ShutdownTimeout].
//
// # Errors
//
// Run returns nil after a clean stop. [UnhandedError] holds the payments that the
// Sink did not take: save them, nobody else has them. [payments.ErrTokenRefused] comes
// only with Config.StopOnTokenRefused. Test with errors.Is and errors.As: one error may be
// both.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package poller
