// Package torture is a campaign against the promises of package inbox, with real
// processes: a service that makes trouble by seed, customers who pay, strangers who forge
// and flood, and merchants who are killed, stopped and cut off from their database all the
// while. When the time is over all is made well again and the books are compared. The
// code is in the tests; "make torture" runs it, and make test runs a short slice.
//
//	make torture SEED=7 MINUTES=10 DB=postgres PUBLISH="docs/guarantees.md README.md"
//
// # Who takes part
//
// The service is package mockserver, in the campaign's own process: it must survive, for
// it is what the books are compared with. Each merchant is a process of its own (this test
// binary again) with an inbox, the webhook receiver and the poller; on SQLite there is
// one, on PostgreSQL there are four, of which one polls. They reach PostgreSQL through
// package pgwire, which cuts connections and lets them stall. The handler writes one row into a
// table of effects, through the transaction that it is given, and is slow, fails and
// panics now and then. Customers order through the merchant (Inbox.Create) or buy in the
// game store, pay at the checkout page or directly, pay too little, or not at all.
//
// # What the seed decides
//
// Every kill, pause, restart of the database, cut or stalled connection, step of the clock,
// time without webhooks and phase of faults, with its time; and what each customer does. The plan is a function of
// the seed and the length alone, see TestPlan. How handlers fail is chance, and when the
// operating system runs which process is not in the plan, so a seed repeats the trouble and
// not the schedule.
//
// # The verdict
//
//	lost        the service completed it, and it has no effect, and is not ambiguous;
//	            or merchants who go on leave it lying
//	doubled     it has more than one effect
//	unverified  it has an effect and was not paid, or not what was asked for, or not so
//	silent      the answer of a poll is lost, and nobody was told of it
//	groundless  somebody was told of a loss, and the poll had its answer
//	late        it is paid and known, and waited longer than a minute while the database
//	            was there; see longest
//
// All six must be 0. What happened to polls is not taken from the merchants: a witness
// stands before the service and sees each of them. A poll whose answer is lost may take a
// payment whose id nobody can know: bought in the store, and not yet named by a webhook.
// Such payments are counted as ambiguous, if that very poll is reported; see explain.
//
// # The soak
//
// "make soak" lets the same merchants run on for hours with a service that fails now and
// then, kills nobody, and looks at what the processes hold: memory, descriptors,
// goroutines, the log of the database, the age of what waits. It ends with the same books.
package torture
