package inbox

// Statement is a query with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Statements of the operating path, with the arguments that they usually have.
func Statements(b *Inbox) map[string]Statement {
	list := func(stages ...Stage) Statement {
		query, args := b.pageQuery(Filter{Stages: stages}, 0, "", 200)
		return Statement{query, args}
	}
	return map[string]Statement{
		"claim":            {b.dispatcher.sqlClaim(), []any{8, b.cfg.lease().Microseconds()}},
		"clock":            {b.d.sql(sqlLookAhead), []any{0, clockWindow}},
		"hints":            {b.d.sql(sqlHintsAhead), []any{0, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never}},
		"created ids":      {b.d.sql(sqlHintsAhead), []any{1, confirmLease.Microseconds(), hintMin.Microseconds(), hintMax.Microseconds(), never}},
		"owed":             {b.d.sql(sqlOwed), []any{confirmBatch, confirmLease.Microseconds(), 1}},
		"outstanding":      {b.d.sql(sqlOutstanding), []any{b.cfg.OutstandingFor.Microseconds()}},
		"long outstanding": {b.d.sql(sqlLongOutstanding), []any{b.cfg.OutstandingFor.Microseconds(), maxLongOutstanding + 1}},
		"count hints":      {b.d.sql(sqlCountHints), nil},
		"status":           {b.d.sql(sqlStatus), []any{CountLimit}},
		"losses":           {b.d.sql(sqlLosses), nil},
		"review":           list(StageReview),
		"failed":           list(StageReview, StageDead),
		"waiting":          list(StageReady, StageReview),
		"bodies":           {b.d.sql(sqlOldReceipts), []any{0, b.cfg.KeepBodies.Microseconds(), retentionBatch}},
		"records":          {b.d.sql(sqlDropRecords), []any{b.cfg.KeepBodies.Microseconds(), retentionBatch}},
	}
}
