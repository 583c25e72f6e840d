package mutants_test

// modelMutants break what the failpoints, the model and the histories of many goroutines
// are to notice.
var modelMutants = []mutant{
	{
		"a failpoint that no test reaches", "inbox/core.go",
		"\tfailpoints                    // how", "\tstepNew\n\tfailpoints                    // how",
		"./inbox", "TestFailpoints$",
	},
	{
		"a fold ignores the ledger's position", "inbox/store_sqlite.go",
		"if line.n <= position {", "if line.n <= position && false {",
		"./inbox", "TestFailpoints$/^SQLite$/^Folded$/^Webhook$/^error",
	},
	{
		"unfolded lines are forgotten at startup", "inbox/store_sqlite.go",
		"if err := s.load(ctx); err != nil {", "if err := error(nil); err != nil {",
		"./inbox", "TestFailpoints$/^SQLite$/^Acknowledged$/^Webhook$/^kill",
	},
	{
		"an id is not stored before it is confirmed", "webhook/deliver.go",
		"if err := h.recordHint(ctx, id); errors.Is", "if err := error(nil); errors.Is",
		"./inbox", "TestFailpoints$/^SQLite$/^Confirmed$/^Webhook$/^kill",
	},
	{
		"a poll's response is not stored before it is decoded", "payments/journal.go",
		"return keep(context.WithoutCancel(ctx), raw)", "_ = keep\n\treturn nil",
		"./inbox", "TestFailpoints$/^SQLite$/^Journaled$/^Polled$/^kill",
	},
	{
		"a late handler grants what another process has granted", "inbox/claim.go",
		"reason = '' WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}", "reason = '' WHERE payment_id = ?1 AND ?2 > 0",
		"./inbox", "TestFailpoints$/^PostgreSQL$/^Claimed$/^Webhook$/^delay",
	},
	{
		"a second registration leaves an open order", "inbox/store.go",
		"AND EXISTS (SELECT 1 FROM {p}orders q WHERE q.payment_id = ?2) {skip}", "AND p.order_id = ?2 {skip}",
		"./inbox", "TestExpectTwice$",
	},
	{
		"a snooze counts as an attempt", "inbox/claim.go",
		"back, outcome = 1, OutcomeSnoozed", "back, outcome = 0, OutcomeSnoozed",
		"./inbox", "ExampleSnooze",
	},
	{
		"a decision by hand leaves the old tries", "inbox/decisions.go",
		"SET stage = {ready}, run_at = {now}, wait = 0, tries = 0 WHERE payment_id = ?1 AND stage = {dead}", "SET stage = {ready}, run_at = {now}, wait = 0 WHERE payment_id = ?1 AND stage = {dead}",
		"./inbox/inboxtest", "TestSQLite$/^HandlerGivesUp",
	},
	{
		"SQLite takes another order of records than PostgreSQL", "inbox/store.go",
		"case stage >= StageReady && stage != StageReview:\n\t\treturn OutcomeDiffers, nil", "case stage >= StageReady && stage != StageReview:\n\t\treturn OutcomeRepeat, nil",
		"./inbox", "TestDiffersFromWhatIsHandedOver$",
	},
	{
		"a payment is unknown while it is folded", "inbox/read.go",
		"if held && waiting.Kind", "if id, err := uuid.Parse(key); err == nil {\n\t\twaiting, held = b.store.unfolded(id)\n\t}\n\tif held && waiting.Kind",
		"./inbox", "TestGetWhileFolding$",
	},
	{
		"a late handler moves another process's payment to review", "inbox/claim.go",
		"reason = ?3 WHERE payment_id = ?1 AND attempt = ?2 AND stage + 0 = {ready}`\n)", "reason = ?3 WHERE payment_id = ?1 AND ?2 > 0`\n)",
		"./inbox", "TestLinearizable$",
	},
	{
		"a decision ignores the payment's stage", "inbox/decisions.go",
		"approved = 1, run_at = {now}, wait = 0, tries = 0\n\t\tWHERE payment_id = ?1 AND stage = {review} AND", "approved = 1, run_at = {now}, wait = 0, tries = 0\n\t\tWHERE payment_id = ?1 AND stage > {done} AND",
		"./inbox", "TestLinearizable$",
	},
}
