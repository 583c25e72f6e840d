// Package torture tests the promises of package inbox with real processes: a service that
// injects faults by seed, customers who pay, strangers who forge and flood webhooks, and
// merchants who are killed, paused and cut off from their database. When the time is over,
// the faults stop, the merchants restart, and the ledgers are compared. The code is in the
// tests; "make torture" runs a campaign, and "make test" runs a short one.
//
//	make torture SEED=7 MINUTES=10 DB=postgres PUBLISH="docs/guarantees.md README.md"
//
// # Processes
//
// The service is package mockserver and runs in the campaign's own process: it must survive,
// because the ledgers are compared with it. Each merchant is a process (this test binary
// again) with an inbox, the webhook receiver and the poller. On SQLite there is one merchant,
// on PostgreSQL there are four, of which one polls. Merchants reach PostgreSQL through package
// pgwire, which cuts and stalls connections. The handler writes one row into a table of
// effects through the transaction it gets, and sometimes is slow, fails or panics. Customers
// order through the merchant (Inbox.Create) or buy in the game store; they pay at the checkout
// page or directly, pay too little, or do not pay.
//
// # Seed
//
// The seed decides every kill, pause, database restart, cut or stalled connection, clock step,
// time without webhooks and phase of faults, with its time, and what each customer does. The
// plan depends only on the seed and the length; see TestPlan. Handler failures are random, and
// the operating system schedules the processes, so a seed repeats the faults but not the
// interleaving.
//
// # Verdict
//
//	lost            the service completed the payment, but it has no effect and is not
//	                ambiguous; or running merchants leave it unfinished
//	doubled         the payment has more than one effect
//	unverified      it has an effect, but was not paid, or differs from what was paid
//	unreported      the response to a poll was lost and nobody was told
//	false positive  a loss was reported although the poll's response arrived
//	late            a paid payment with a known id waited longer than a minute while the
//	                database was available; see longest
//
// All six must be 0. The campaign does not trust the merchants about polls: a witness in front
// of the service sees each of them. A poll whose response was lost may take a payment whose id
// nobody can know: bought in the store and not yet named by a webhook. If that poll is
// reported, the payment counts as ambiguous; see explain.
//
// # Soak
//
// "make soak" runs the same merchants for hours against a service with occasional faults and
// without kills. It samples what the processes hold (memory, descriptors, goroutines, the
// database's log, the age of the oldest waiting payment) and compares the ledgers at the end.
package torture
