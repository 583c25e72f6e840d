package mutants_test

// exactMutants break the ledger in ways that a random model may miss: an exact test
// notices each.
var exactMutants = []mutant{
	{
		"a line of the intake file counts before its commit", "inbox/store_sqlite.go",
		"if err := tx.Commit(); err != nil {\n\t\treturn err\n\t}\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.remember(n, ops)\n\treturn nil",
		"s.mu.Lock()\n\tdefer s.mu.Unlock()\n\ts.remember(n, ops)\n\treturn tx.Commit()",
		"./inbox", "TestAcknowledgedAfterAFailedCommit$",
	},
	{
		"the intake file drops one line too many", "inbox/store_sqlite.go",
		"ExecContext(ctx, folded); err", "ExecContext(ctx, folded+1); err",
		"./inbox", "TestIntakeForgetsNoLineTooMany$",
	},
	{
		"a start passes over one line too many", "inbox/store_sqlite.go",
		"ORDER BY n`, s.folded)", "ORDER BY n`, s.folded+1)",
		"./inbox", "TestIntakeForgetsNoLineTooMany$",
	},
	{
		"a fold drops one line too many", "inbox/store_sqlite.go",
		"s.waiting[len(batch):]...)", "s.waiting[min(len(batch)+1, len(s.waiting)):]...)",
		"./inbox", "TestIntakeForgetsNoLineTooMany$",
	},
	{
		"a fold passes over one line too many", "inbox/store_sqlite.go",
		"if line.n <= position {", "if line.n <= position+1 {",
		"./inbox", "TestIntakeForgetsNoLineTooMany$",
	},
	{
		"what a dead poller received counts as taken in although it was refused", "inbox/pollrecovery.go",
		"errs = append(errs, err)\n\t\t\tcontinue // the others must not wait for it", "errs = append(errs, err)",
		"./inbox", "TestRecoveryFailsOnce$/^pg=false",
	},
	{
		"an order is given to two payments at once", "inbox/orders.go",
		"err != nil || n != 1 {\n\t\treturn errors.Join(err, errOrderTaken)", "err != nil || n > 1 {\n\t\treturn errors.Join(err, errOrderTaken)",
		"./inbox", "TestOneOrderForTwoPayments$",
	},
	{
		"retention erases what is in review", "inbox/retention.go",
		"WHERE stage = {done} AND record <> '' AND done_at <", "WHERE (stage = {done} OR stage = {review}) AND record <> '' AND coalesce(done_at, ready_at) <",
		"./inbox", "TestRetentionSparesWhatWaitsForAPerson$/^pg=false",
	},
	{
		"retention erases what is dead", "inbox/retention.go",
		"WHERE stage = {done} AND record <> '' AND done_at <", "WHERE (stage = {done} OR stage = {dead}) AND record <> '' AND coalesce(done_at, ready_at) <",
		"./inbox", "TestRetentionSparesWhatWaitsForAPerson$/^pg=false",
	},
	{
		"retention erases what is ready", "inbox/retention.go",
		"WHERE stage = {done} AND record <> '' AND done_at <", "WHERE (stage = {done} OR stage = {ready}) AND record <> '' AND coalesce(done_at, ready_at) <",
		"./inbox", "TestRetentionSparesWhatWaitsForAPerson$/^pg=false",
	},
	{
		"retention passes over what is too young", "inbox/retention.go",
		"WHERE receipt_id < coalesce((SELECT min(receipt_id) FROM next WHERE at >= {now} - ?2), 9223372036854775807)", "WHERE at < {now} - ?2",
		"./inbox", "TestRetentionPassesNothingOver$/^pg=false",
	},
	{
		"a receipt of the future stops retention until then", "inbox/retention.go",
		"UPDATE {p}receipts SET at = {now} WHERE at > {now}", "UPDATE {p}receipts SET at = {now} WHERE at < 0",
		"./inbox", "TestRetentionAfterAClockAhead$/^pg=false",
	},
	{
		"what a clock ahead had dated waits for the clock", "inbox/clock.go",
		"if ahead {", "if ahead && w == nil {",
		"./inbox", "TestClockSetBackAndPaymentsWait$/^pg=false",
	},
	{
		"what a clock ahead had dated comes before what it had not", "inbox/clock.go",
		"WHEN m.ready_at - ?1 > m.last THEN m.ready_at - ?1 ELSE m.last END", "ELSE m.ready_at - ?1 END",
		"./inbox", "TestClockSetBackBetweenPayments$/^pg=false",
	},
	{
		"what a clock ahead had dated overtakes a payment in its handler", "inbox/clock.go",
		" AND m.held <= 0", "",
		"./inbox", "TestClockSetBackUnderAHandler$",
	},
	{
		"a dead poller that a clock ahead had dated lives until then", "inbox/clock.go",
		"return false, w.moveBeatsBack(ctx)", "return false, nil",
		"./inbox", "TestDeadPollerAndClockSetBack$",
	},
	{
		"retention gives up while a handler writes", "inbox/retention.go",
		"ctx, cancel := b.store.ledger().bound(ctx)", "ctx, cancel := context.WithTimeout(ctx, b.d.limit)",
		"./inbox", "TestRetentionWaitsForTheWriter$",
	},
	{
		"a list of a large ledger ends with an error", "inbox/read.go",
		"b.store.reader().queryLong(ctx, query, args...)", "b.store.reader().QueryContext(ctx, query, args...)",
		"./inbox", "TestListIsNotBounded$",
	},
	{
		"nothing checks whether the clock was set back", "inbox/inbox.go",
		"\tloops.Go(func() { b.loop(ctx, \"clock\", clockEvery, (&clockWatch{b: b.core}).look) })\n", "",
		"./inbox", "TestRunSeesTheClockSetBack$/^pg=false",
	},
	{
		"a lease that a clock ahead has dated lasts", "inbox/claim.go",
		"(p.leased <= {now} OR p.leased > {now} + 2 * p.wait)", "p.leased <= {now}",
		"./inbox", "TestClockSetBackEndsLeases$/^pg=false",
	},
	{
		"a clock that was set back ends waits", "inbox/claim.go",
		"run_at = {now} + ?4, wait = ?4,", "run_at = {now} + ?4, wait = 0 * ?4,",
		"./inbox", "TestClockSetBackKeepsWaits$/^pg=false",
	},
	{
		"the alarm does not see a clock that was ahead", "inbox/read.go",
		"max(abs({now} - c.ready_at))", "max({now} - c.ready_at)",
		"./inbox", "TestClockSetBackAndPaymentsWait$/^pg=false",
	},
	{
		"the status counts without a limit", "inbox/read.go",
		"WHERE %s LIMIT ?1) AS c", "WHERE ?1 > 0 AND %s) AS c",
		"./inbox", "TestStatusIsBounded$/^pg=false",
	},
	{
		"reconciliation reads every link that was never paid", "inbox/reconcile.go",
		"WHERE stage = {expected} AND own = 1 AND first_seen", "WHERE stage + 0 = {expected} AND own = 1 AND first_seen",
		"./inbox", "TestStatusIsBounded$/^pg=false",
	},
	{
		"a proof reads and sorts every link that was never paid", "inbox/loss.go",
		"WHERE stage = {expected} AND own = 1 AND first_seen", "WHERE stage + 0 = {expected} AND own = 1 AND first_seen",
		"./inbox", "TestStatusIsBounded$/^pg=false",
	},
}
