package mutants_test

// inboxMutants break the promises of the ledger. Most are caught on SQLite, which needs
// no server.
var inboxMutants = []mutant{
	{
		"an acceptance waits for a handler's row", "inbox/store_postgres.go",
		"WHERE NOT EXISTS (SELECT 1 FROM {p}payments q WHERE q.payment_id = d.id)\n\tON CONFLICT", "ON CONFLICT",
		"./inbox/inboxtest", "TestPostgreSQL$/^SlowHandlerHoldsUpNobody",
	},
	{
		"one op that is refused fails its group", "inbox/intake.go",
		"err != nil && len(ops) > 1 && refusedData(err)", "false",
		"./inbox", "TestPoisonPostgreSQL$",
	},
	{
		"only some of what a dead poller received is taken in", "inbox/pollrecovery.go",
		"ORDER BY receipt_id LIMIT 200", "ORDER BY receipt_id DESC LIMIT 1",
		"./inbox", "TestSeveralRawPolls$",
	},
	{
		"the fence lets an old claim through", "inbox/claim.go",
		"reason = '' WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}", "reason = '' WHERE payment_id = ?1 AND ?2 > 0 AND stage + 0 = {ready}",
		"./inbox", "TestStopped$/^BeforeTheFence$/^ClaimedAgain",
	},
	{
		"the fence does not look at the stage", "inbox/claim.go",
		"reason = '' WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}", "reason = '' WHERE payment_id = ?1 AND attempt = ?2",
		"./inbox", "TestStopped$/^BeforeTheFence$/^SetAside",
	},
	{
		"a claim does not raise the fence", "inbox/claim.go",
		"attempt = attempt + 1, tries", "tries",
		"./inbox/inboxtest", "TestSQLite$/^Cancel",
	},
	{
		"a claim is no lease", "inbox/claim.go",
		"AND (p.leased <= {now} OR p.leased > {now} + 2 * p.wait) ", "",
		"./inbox", "TestStopped$/^BeforeTheFence$/^ClaimedAgain",
	},
	{
		"what came before order mattered is not put in order", "inbox/inbox.go",
		"if b.cfg.SerializeByIdentifier {", "if false {",
		"./inbox/inboxtest", "TestPostgreSQL$/^SerializeByIdentifier",
	},
	{
		"a claim that is tried again has the rows of both tries", "inbox/pool.go",
		"all, err = collect(rows, scan) // replaces the rows of a failed try",
		"got, err := collect(rows, scan)\n\t\tall = append(all, got...)",
		"./inbox", "TestClaimCutAfterItsRows$",
	},
	{
		"transactions have the isolation that the database gives by default", "inbox/pool.go",
		"Isolation: sql.LevelReadCommitted, ", "",
		"./inbox", "TestDefaultIsolation$",
	},
	{
		"acceptances have the isolation that the database gives by default", "inbox/connections.go",
		"BEGIN ISOLATION LEVEL READ COMMITTED; ", "BEGIN; ",
		"./inbox", "TestDefaultIsolation$",
	},
	{
		"a deadlock counts as a try", "inbox/handle.go",
		"	return isDeadlock(err) && !cancelled", "	return false && !cancelled",
		"./inbox", "TestDeadlockIsNoTry$",
	},
	{
		"a pool without a free connection counts as a try", "inbox/claim.go",
		"SET leased = 0, run_at = {now} + ?3, wait = ?3, tries = tries - 1,", "SET leased = 0, run_at = {now} + ?3, wait = ?3,",
		"./inbox", "TestNoConnectionIsNoTry$",
	},
	{
		"what one transaction sets stays in the session", "inbox/connections.go",
		"SET LOCAL enable_seqscan", "SET enable_seqscan",
		"./inbox/inboxtest", "TestPostgreSQL$/^Accept$",
	},
	{
		"prepared statements behind a transaction pooler are not found out", "inbox/schema.go",
		"return poolerError(runHeld(ctx, b, query, func() error { return runHeld(ctx, a, query, nil) }))", "return nil",
		"./inbox", "TestPgBouncer$/^transaction$",
	},
	{
		"a pool whose limit cannot be seen is taken for large enough", "inbox/connections.go",
		"conns, err := r.take(ctx, keep+spare, wait)", "spare = 0\n\tconns, err := r.take(ctx, keep+spare, wait)",
		"./inbox", "TestSmallPgxpool$",
	},
	{
		"each inbox keeps connections of its own", "inbox/connections.go",
		"r := reservations.of[db]\n", "var r *reservation\n",
		"./inbox", "TestSeveralInboxesOnOnePool$",
	},
	{
		"commits that standbys do not have pass for safe", "inbox/schema.go",
		"if value == \"local\" && !allowUnsafe {", "if false {",
		"./inbox", "TestRefusals$/^PostgreSQL$/^LocalCommit$",
	},
	{
		"a ledger of another shape is opened", "inbox/inbox.go",
		"return d.probeError(err)", "return nil",
		"./inbox", "TestLedgerOfAnotherShape$",
	},
	{
		"a run of a poller takes the line of another run", "inbox/polls.go",
		"\tif r.isOpen() {\n", "\tfor _, line := range r.open {\n\t\tr.line = line\n\t}\n\tif r.isOpen() {\n",
		"./inbox", "TestTwoPollersShareAnInbox$/^pg=false",
	},
	{
		"a possible loss that could not be stored is forgotten", "inbox/polls.go",
		"b.unwritten = append(b.unwritten, unwrittenLoss{id, lost})", "_ = id",
		"./inbox", "TestUnwrittenLossIsReported$",
	},
	{
		"tries are not counted when they begin", "inbox/claim.go",
		", tries = tries + 1", "",
		"./inbox/inboxtest", "TestSQLite$/^CrashingPaymentIsParked",
	},
	{
		"an acceptance is answered before the commit", "inbox/intake.go",
		"err := g.commit(values)", "var err error\n\t\tdefer func() { _ = g.commit(values) }()",
		"./inbox", "TestIntakeRefuses",
	},
	{
		"the position of the fold is not written", "inbox/store_sqlite.go",
		"\"folded \"+s.file, last)", "\"folded\", last)",
		"./inbox/inboxtest", "TestSQLite$/^Accept",
	},
	{
		"the position of the fold is written before the fold", "inbox/store_sqlite.go",
		"tx, err := s.db.Writer.BeginTx(ctx, nil)",
		"_, _ = s.db.Writer.ExecContext(ctx, s.d.sql(sqlSetMeta), \"folded \"+s.file, strconv.FormatInt(batch[len(batch)-1].n, 10))\n\ttx, err := s.db.Writer.BeginTx(ctx, nil)",
		"./inbox", "TestFoldIsOneTransaction",
	},
	{
		"a rejection by the service deletes the hint", "inbox/confirm.go",
		"`UPDATE {p}payments SET run_at = ?3 + CASE WHEN ?4 = 1 THEN 0 ELSE {now} END,\n" +
			"\tasked_at = CASE WHEN own = 1 OR ?5 = 0 THEN {now} ELSE asked_at END,\n" +
			"\tconfirm = CASE WHEN own = 1 THEN confirm WHEN ?5 = 0 THEN {unknown} WHEN confirm = {asked} THEN {rejected} ELSE confirm END\n\tWHERE",
		"`DELETE FROM {p}payments WHERE ?3 > 0 AND ?4 < 2 AND ?5 < 2 AND",
		"./inbox/inboxtest", "TestSQLite$/^ForgedHintBeforePaying",
	},
	{
		"a rejection by the service is final", "inbox/confirm.go",
		"if o.expected && unpaid {", "if unpaid {",
		"./inbox/inboxtest", "TestSQLite$/^ForgedHintBeforePaying",
	},
	{
		"a hint counts as handled", "inbox/state.go",
		"case l.stage >= StageReady:", "case l.stage >= StageHint:",
		"./inbox/inboxtest", "TestSQLite$/^ForgedHintBeforePaying",
	},
	{
		"the newest hints are given up first", "inbox/hints.go",
		"ORDER BY q.stage, q.first_seen\n", "ORDER BY q.stage, q.first_seen DESC\n",
		"./inbox/inboxtest", "TestSQLite$/^HintsAreBounded",
	},
	{
		"a running confirm does not mark a hint unresolved", "inbox/confirm.go",
		"confirm = ` + confirmBegins + `{asked} END", "confirm = CASE WHEN own = 1 OR confirm = {rejected} THEN confirm ELSE {unknown} END",
		"./inbox/inboxtest", "TestSQLite$/^HintInDoubt",
	},
	{
		"a repeated webhook does not mark a hint unresolved", "inbox/store.go",
		"confirm = ` + confirmBegins + `{named} END", "confirm = CASE WHEN own = 1 OR confirm = {rejected} THEN confirm ELSE {unknown} END",
		"./inbox", "TestNoDoubtIsGivenUp$/^pg=false",
	},
	{
		"two concurrent webhooks do not mark a hint unresolved", "inbox/store.go",
		"confirm = ` + confirmBegins + `{named} END", "confirm = CASE WHEN own = 1 THEN confirm ELSE {named} END",
		"./inbox", "TestNoDoubtIsGivenUp$/^pg=false",
	},
	{
		"a webhook during a confirm does not mark a hint unresolved", "inbox/confirm.go",
		"confirm = ` + confirmBegins + `{asked} END", "confirm = CASE WHEN own = 1 THEN confirm ELSE {asked} END",
		"./inbox", "TestNoDoubtIsGivenUp$/^pg=false",
	},
	{
		"a rate limit counts as a rejection", "inbox/confirm.go",
		"e.HTTPStatus != http.StatusTooManyRequests &&", "",
		"./inbox/inboxtest", "TestSQLite$/^ReconcileWithoutAnswer",
	},
	{
		"a retried confirm counts as the first attempt", "inbox/confirm.go",
		"e.Attempts <= 1", "e.Attempts < 9",
		"./inbox/inboxtest", "TestSQLite$/^HintInDoubt",
	},
	{
		"a hint that was given up while it was asked about is forgotten", "inbox/confirm.go",
		"return b.put(ctx, op{Kind: opHint, ID: o.id})", "return nil",
		"./inbox/inboxtest", "TestSQLite$/^HintInDoubt",
	},
	{
		"the webhook's own confirms do not count", "inbox/store.go",
		"err = do(sqlNo, `[\"`+o.ID+`\"]`)", "",
		"./inbox/inboxtest", "TestSQLite$/^FloodIsNoLoss",
	},
	{
		"a lost answer to a webhook's confirm counts as the one before", "webhook/deliver.go",
		"recordErr := h.recordHint(context.WithoutCancel(ctx), id)", "recordErr := context.Cause(context.WithoutCancel(ctx))",
		"./webhook", "TestConfirmFailed$/^lost",
	},
	{
		"any failed confirm counts as a rejection", "inbox/confirm.go",
		"return ok && refused(err) &&", "return err != nil || ok &&",
		"./inbox/inboxtest", "TestSQLite$/^HintInDoubt",
	},
	{
		"a rejection settles a later webhook", "inbox/confirm.go",
		"WHEN confirm = {asked} THEN {rejected} ELSE confirm END", "ELSE {rejected} END",
		"./inbox/inboxtest", "TestSQLite$/^HintInDoubt",
	},
	{
		"unresolved hints are evicted as well", "inbox/hints.go",
		"AND p.confirm = {rejected}\n\t\t\tAND p.payment_id IN (SELECT q.payment_id FROM {p}payments q\n\t\t\tWHERE q.stage IN ({hint}, {review}, {dead}) AND q.stage = {hint} AND q.own = 0 AND q.confirm = {rejected}\n",
		"\n\t\t\tAND p.payment_id IN (SELECT q.payment_id FROM {p}payments q\n\t\t\tWHERE q.stage IN ({hint}, {review}, {dead}) AND q.stage = {hint} AND q.own = 0\n",
		"./inbox/inboxtest", "TestSQLite$/^HintsInDoubtStay",
	},
	{
		"unknown ids are accepted without a limit", "inbox/hints.go",
		"doubts+underWay >= int64(b.cfg.MaxHints)", "doubts < 0",
		"./inbox/inboxtest", "TestSQLite$/^HintsInDoubtStay",
	},
	{
		"hints in flight do not count toward the limit", "inbox/hints.go",
		"doubts+underWay >=", "doubts+underWay-underWay >=",
		"./inbox", "TestHintsUnderWayTakePlaces$",
	},
	{
		"a handler's error counts as a person's rejection", "inbox/read.go",
		" AND 'reject' =\n\t\t(SELECT action FROM {p}audit AS a WHERE a.payment_id = {p}payments.payment_id ORDER BY audit_id DESC LIMIT 1)", "",
		"./inbox/inboxtest", "TestSQLite$/^Rejected$",
	},
	{
		"a known id is rejected", "inbox/hints.go",
		"!h.known && !known[h.id] &&", "!h.known &&",
		"./inbox/inboxtest", "TestSQLite$/^HintsInDoubtStay",
	},
	{
		"a registered payment keeps the state of its hint", "inbox/store.go",
		"items = ?5, confirm = {none}\n", "items = ?5\n",
		"./inbox", "TestRefusedHintBecomesOwn$",
	},
	{
		"a stage is a number in JSON", "inbox/stage.go",
		"func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }",
		"func (s Stage) MarshalText() ([]byte, error) { return fmt.Append(nil, int(s)), nil }",
		"./inbox", "TestWordsInJSON$",
	},
	{
		"an unresolved hint never resolves", "inbox/store.go",
		" AND asked_at >= {now} - 600000000", "",
		"./inbox", "TestDoubtEnds$",
	},
	{
		"each reconciliation begins with the youngest link", "inbox/reconcile.go",
		"ORDER BY asked_at, first_seen DESC", "ORDER BY first_seen DESC",
		"./inbox", "TestReconciliationGoesOn$",
	},
	{
		"a lost answer does not count as the last confirm", "inbox/confirm.go",
		"own = 1 OR ?5 = 0 THEN {now} ELSE asked_at END,", "own = 1 OR ?5 = 9 THEN {now} ELSE 1 END,",
		"./inbox", "TestDoubtEnds$",
	},
	{
		"a full ledger is answered 503", "webhook/deliver.go",
		"errors.Is(err, ErrFull) {\n\t\t\treturn", "false {\n\t\t\treturn",
		"./inbox/inboxtest", "TestSQLite$/^HintsInDoubtStay",
	},
	{
		"what was confirmed while the store was away is forgotten", "inbox/kept.go",
		"\tk.records[key] = o\n", "",
		"./inbox", "TestPaidWhileTheDiskIsFull$",
	},
	{
		"payments are confirmed while the store is away", "inbox/state.go",
		"if err := b.mayConfirm(ctx); err != nil {", "if err := error(nil); err != nil {",
		"./inbox", "TestPaidWhileTheDiskIsFull$",
	},
	{
		"no reconciliation starts when the store is back", "inbox/kept.go",
		"b.wakeReconcile()", "",
		"./inbox", "TestPaidWhileTheDiskIsFull$",
	},
	{
		"records kept in memory are dropped at Close", "inbox/kept.go",
		"left := b.kept.some(maxKept, true)", "left := b.kept.some(0, true)",
		"./inbox", "TestKeptAtTheEnd$",
	},
	{
		"a payment that could not be stored counts as not paid", "inbox/confirm.go",
		"return false, err // it is stored", "return true, err // it is stored",
		"./inbox", "TestReconcileThatCannotStore$/^DiskFull",
	},
	{
		"a reconciliation takes the whole rate", "inbox/core.go",
		"sweepRate = 40", "sweepRate = 1e9",
		"./inbox", "TestDueIDIsNotStarvedByReconciliation$",
	},
	{
		"a webhook is forgotten that comes when its hint is given up", "inbox/store_postgres.go",
		"AND stage + 0 = {hint} AND confirm = {rejected}\n", "AND stage + 0 = {hint} AND confirm > {unknown}\n",
		"./inbox", "TestNamedWhileGivenUp$",
	},
	{
		"an empty identifier matches an order", "inbox/orders.go",
		"c.payment.Identifier == \"\" || ", "",
		"./inbox/inboxtest", "TestSQLite$/^Orders",
	},
	{
		"less than the price is enough", "inbox/orders.go",
		"case p.PaidAmount.Cmp(e.amount) < 0:", "case false:",
		"./inbox/inboxtest", "TestSQLite$/^Orders",
	},
	{
		"an amount of 0 is enough", "inbox/orders.go",
		"case p.PaidAmount.Sign() <= 0:", "case false:",
		"./inbox/inboxtest", "TestSQLite$/^Orders",
	},
	{
		"anybody's payment fits the order", "inbox/orders.go",
		"case e.identifier != identifierKey(p.Identifier):", "case false:",
		"./inbox/inboxtest", "TestSQLite$/^Orders",
	},
	{
		"an order is given to a second payment", "inbox/store.go",
		"p.order_id = ?1 AND p.payment_id IS NULL {skip})\n", "p.order_id = ?1 {skip})\n",
		"./inbox/inboxtest", "TestSQLite$/^TakenOrderStaysTaken",
	},
	{
		"what is in review is not looked at again", "inbox/store.go",
		" OR p.stage + 0 = {review} AND p.record <> ?3)", ")",
		"./inbox/inboxtest", "TestSQLite$/^SecondRecordRevivesReview",
	},
	{
		"a possible loss is not written down", "inbox/polls.go",
		"outcome) VALUES (?1, {now}, {now}, ?2)", "outcome) SELECT ?1, {now}, {now}, ?2 WHERE 1 = 0",
		"./inbox/inboxtest", "TestSQLite$/^UnreadablePoll",
	},
	{
		"a lost poll waits for the next reconciliation", "inbox/polls.go",
		"\tdefer b.wakeReconcile()\n", "",
		"./inbox", "TestTwoPollersOneLedger",
	},
	{
		"a gateway's page is kept for a person", "inbox/polls.go",
		"ok && e.MayHoldRecord() {", "ok {",
		"./inbox", "TestPageIsNoReview$/^pg=false",
	},
	{
		"the beginning of a truncated record is not kept", "internal/wire/trace.go",
		"case in == inResult, in == inUnknown, raw", "case in == inUnknown, raw",
		"./internal/wire", "TestTraceOfRecord",
	},
	{
		"a loss is settled while the answer to a creation is lost", "inbox/loss.go",
		"if len(p.noID) > 0 {", "if len(p.noID) > 1 {",
		"./inbox", "TestLossNotProven$/^CreationLost",
	},
	{
		"a loss is settled although a creation was under way", "inbox/loss.go",
		"ids = append(ids, more...)", "_ = more",
		"./inbox", "TestLossNotProven$/^CreationUnderWay",
	},
	{
		"a loss is settled while an id got no answer", "inbox/loss.go",
		"if report.Failed > 0 && p.unproven", "if report.Failed > 1 && p.unproven",
		"./inbox", "TestLossNotProven$/^NoAnswer",
	},
	{
		"a loss is settled by the no of a service that confirms once", "inbox/loss.go",
		"if err := b.checkNo(ctx, p, report); err != nil {", "if err := error(nil); err != nil {",
		"./inbox", "TestLossNotProven$/^ConfirmsOnce",
	},
	{
		"a loss is settled by the no of a service that confirms once, since it has confirmed another payment", "inbox/loss.go",
		"if p.unproven != \"\" || report.StillUnpaid == 0 {", "if p.unproven != \"\" || report.StillUnpaid == 0 || report.Recovered > 0 {",
		"./inbox", "TestLossNotProven$/^ConfirmsOnceAndRecovered",
	},
	{
		"a payment that was polled is confirmed for the first time to see whether the service confirms again", "inbox/loss.go",
		"for range 2 {", "for range 1 {",
		"./inbox", "TestLossNotProven$/^ConfirmsOnceAfterThePoll",
	},
	{
		"a loss is settled by a refusal that does not say that nobody has paid", "inbox/loss.go",
		"case slices.Contains(notPaid, code):", "case code != \"\":",
		"./inbox", "TestLossNotProven$/^UnknownCode",
	},
	{
		"without a schedule a loss that is not proven at once is never an error", "inbox/reconcile.go",
		"if unproven > 0 {", "if unproven > 0 && scheduled {",
		"./inbox", "TestUnprovenIsTriedAgain",
	},
	{
		"a loss is settled that came after the list of ids was begun", "inbox/loss.go",
		"case !p.losses[l.ID]:", "case false:",
		"./inbox", "TestLossNotProven$/^CameMeanwhile",
	},
	{
		"a loss is settled while ids are not asked for", "inbox/loss.go",
		"all = append(all, long...)", "_ = long",
		"./inbox", "TestLossNotProven$/^OlderThanOutstandingFor",
	},
	{
		"each reconciliation reports all losses again", "inbox/loss.go",
		"l.Told = at >= 0 && before.PossibleLosses[at].Told", "l.Told = false",
		"./inbox", "TestLossIsToldOnce",
	},
	{
		"polls go on without a store", "inbox/polls.go",
		"if err := r.canStore(ctx); err != nil {", "if err := error(nil); err != nil {",
		"./inbox/inboxtest", "TestSQLite$/^PollWithoutStore",
	},
	{
		"polls go on with a store that takes nothing", "inbox/kept.go",
		"if !b.failing.Load() {", "if true {",
		"./inbox", "TestIntakeRefuses",
	},
	{
		"what a poll returned before a crash is forgotten", "inbox/pollrecovery.go",
		"if err := b.recoverRaw(ctx, id); err != nil {", "if err := error(nil); err != nil {",
		"./inbox/inboxtest", "TestSQLite$/^RawPollAfterCrash",
	},
	{
		"a decision is not written to the audit log", "inbox/decisions.go",
		"VALUES (?1, ?2, ?3, ?4, {now})", "SELECT ?1, ?2, ?3, ?4, {now} WHERE 1 = 0",
		"./inbox/inboxtest", "TestSQLite$/^ApproveRejectRetry",
	},
	{
		"a panic of the handler ends the process", "inbox/handle.go",
		"if p := recover(); p != nil {", "if p := any(nil); p != nil {",
		"./inbox/inboxtest", "TestSQLite$/^HandlerPanics",
	},
	{
		"commits that a power cut undoes pass the check", "internal/pragma/settings.go",
		"\"FULL\", within(2, 3)", "\"FULL\", within(1, 3)",
		"./internal/pragma", "TestMutants$/^synchronous=normal",
	},
	{
		"a new directory is not synced", "internal/sqlite/path.go",
		"if err := syncNames(filepath.Dir(made)); err != nil {", "if made == \"\" {\n\t\t\tvar err error",
		"./internal/sqlite", "TestNamesAreSynced",
	},
	{
		"a new file's name is not synced", "internal/sqlite/path.go",
		"errors.Join(created.Close(), syncNames(filepath.Dir(file)))", "created.Close()",
		"./internal/sqlite", "TestNamesAreSynced",
	},
	{
		"the name is synced before the file exists", "internal/sqlite/path.go",
		"created, err := os.OpenFile(file,", "early := syncNames(filepath.Dir(file))\n\tsyncNames := func(string) error { return early }\n\tcreated, err := os.OpenFile(file,",
		"./internal/sqlite", "TestNamesAreSynced",
	},
}
