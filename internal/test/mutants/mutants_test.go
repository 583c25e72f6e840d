package mutants_test

import "slices"

// mutant is one break: in file, from is replaced by to, and test of pkg must fail. Write a
// subtest as "TestA$/^B".
type mutant struct {
	name     string
	file     string
	from, to string
	pkg      string
	test     string
}

var mutants = []mutant{
	{
		"net/http may re-send the poll", "internal/transport/inner.go",
		"out.Body, out.GetBody = sealed{}, nil", "out.Body, out.GetBody = nil, nil",
		"./payments", "TestReplay",
	},
	{
		"a poll is retried after a lost response", "internal/transport/retry.go",
		"return k.op.Class.resendable() &&", "return true ||",
		"./payments", "TestRetryTable",
	},
	{
		"a lost response counts as unsent", "internal/transport/retry.go",
		"case err != nil && k.maybeSent():", "case err != nil && k.maybeSent() && k == nil:",
		"./payments", "TestRetryTable",
	},
	{
		"a lost attempt is forgotten when the next one fails differently", "internal/transport/retry.go",
		"k.lost = true", "k.lost = false",
		"./payments", "TestMixedAttempts",
	},
	{
		"a middleware may send a poll twice", "internal/transport/call.go",
		"if !k.op.Class.resendable() {\n\t\t\treturn errSentTwice", "if k == nil {\n\t\t\treturn errSentTwice",
		"./payments", "TestMiddlewareThatRetries",
	},
	{
		"a foreign transport counts as unsent", "internal/transport/pool.go",
		"return rt, false", "return rt, true",
		"./payments", "TestForeignTransport",
	},
	{
		"a poll abandoned while dialing counts as sent", "internal/transport/call.go",
		"if !k.state.CompareAndSwap(dialing, onWire) && k.state.Load() == abandoned {", "if k.state.Store(onWire); info.Conn == nil {",
		"./payments", "TestNextLeftAsTheConnectionComes",
	},
	{
		"the caller's transport keeps HTTP/2", "internal/transport/pool.go",
		"t.TLSClientConfig.NextProtos = nil", "_ = t.TLSClientConfig.NextProtos",
		"./payments", "TestCallersTransportIsHardened",
	},
	{
		"an empty envelope hides a record next to it", "internal/wire/answer.go",
		"case t.emptyEnvelope && !t.other && !t.unread:", "case t.emptyEnvelope:",
		"./payments", "TestPaidRecordIsNeverSwallowed",
	},
	{
		"a record under an error status is forgotten", "internal/api/call.go",
		"if once && (a.Result ||", "if once && false && (a.Result ||",
		"./payments", "TestPaidRecordIsNeverSwallowed",
	},
	{
		"no payment is believed next to a record under a 4xx", "internal/api/call.go",
		"if once && c.deniesAPayment(a) {", "if once && o.Status == 200 && c.deniesAPayment(a) {",
		"./payments", "TestDeniedPaymentUnderAnyStatus",
	},
	{
		"a denied record is granted", "internal/wire/answer.go",
		"return string(t.success) == \"false\" ||", "return",
		"./payments", "TestPaidRecordIsNeverSwallowed",
	},
	{
		"response headers show the token to a middleware", "internal/transport/inner.go",
		"i.clean(resp)", "_ = resp",
		"./payments", "TestTokenCanary",
	},
	{
		"Retry-After is honored without a cap", "internal/transport/retry.go",
		"return min(max(wait, low), high)", "return wait",
		"./payments", "TestRetryAfterCap",
	},
	{
		"canceling aborts a poll on the wire", "internal/transport/call.go",
		"context.WithTimeout(context.WithoutCancel(parent), k.client.cfg.LongTimeout)", "context.WithTimeout(parent, k.client.cfg.LongTimeout)",
		"./payments", "TestNextOnTheWireIsNotAborted",
	},
	{
		"a poll uses the short timeout", "internal/transport/call.go",
		"context.WithTimeout(context.WithoutCancel(parent), k.client.cfg.LongTimeout)", "context.WithTimeout(context.WithoutCancel(parent), k.client.cfg.Timeout)",
		"./payments", "TestNextWaitsForASlowAnswer",
	},
	{
		"network errors keep the token", "internal/secret/cause.go",
		"text: r.String(err.Error())", "text: err.Error()",
		"./payments", "TestTokenCanary",
	},
	{
		"the response to an upload may hold the token", "banks/uploaded.go",
		"raw = redact(raw)", "_ = redact(raw)",
		"./banks", "TestTokenCanary",
	},
	{
		"only the unquoted token is redacted", "internal/secret/secret.go",
		"text.WriteString(spellings(r))", "text.WriteString(regexp.QuoteMeta(string(r)))",
		"./payments", "TestTokenCanary",
	},
	{
		"a replaced token is no longer redacted", "internal/secret/secret.go",
		"fresh := newPattern(token, r.added)", "fresh := newPattern(token, r.added)\n\tknown = nil",
		"./payments", "TestEveryTokenIsRedacted",
	},
	{
		"a call with a lost response is repeated with another token", "internal/api/call.go",
		"!failure.TokenRefused || !failure.SafeToRetry() ||", "!failure.TokenRefused ||",
		"./payments", "TestTokenSourceAfterALostAnswer",
	},
	{
		"a lost response is forgotten when the token is rejected", "internal/api/call.go",
		"|| o.Lost && f.TokenRefused", "",
		"./payments", "TestTokenSourceAfterALostConfirm",
	},
	{
		"a lost response is forgotten when another token is tried", "internal/transport/outcome.go",
		"return o.after(first.Lost || first.Kind == Unknown)", "return o",
		"./payments", "TestTokenSourceAfterALostConfirm",
	},
	{
		"the response's request shows the token", "internal/transport/inner.go",
		"resp.Request = r\n", "_ = r\n",
		"./payments", "TestTokenCanary",
	},
	{
		"an empty response that may be truncated means no payment", "internal/api/call.go",
		"case a.Empty && !o.Whole &&", "case false &&",
		"./payments", "TestEmptyAnswerThatMayBeCut",
	},
	{
		"confirm believes a record of another payment", "payments/records.go",
		"case op == opConfirm && p.ID != asked:", "case false:",
		"./payments", "TestVerification",
	},
	{
		"an incomplete payment counts as verified", "payments/records.go",
		"case p.Status != StatusComplete:", "case false:",
		"./payments", "TestVerification",
	},
	{
		"the last of two amounts wins", "payments/decode.go",
		"case !seen.add(f):", "case !seen.add(f) && false:",
		"./payments", "TestUndecodable",
	},
	{
		"an amount that is too large wraps around", "payments/amount.go",
		"e > maxScale, e > 0 && a.coef > math.MaxInt64/pow10[e]:", "e > maxScale:",
		"./payments", "TestAmountsExponentAtTheBorder",
	},
	{
		"the largest amount of an exponent is refused", "payments/amount.go",
		"a.coef > math.MaxInt64/pow10[e]", "a.coef >= math.MaxInt64/pow10[e]",
		"./payments", "TestAmountsExponentAtTheBorder",
	},
	{
		"an upload is sent twice", "banks/deposit.go",
		"Class: transport.Once", "Class: transport.Idempotent",
		"./banks", "TestRetryTable",
	},
	{
		"an upload with an id is sent twice although the service keeps duplicates", "banks/config.go",
		"uploadByID: uploadOp(hasToken, cfg.DropsRepeatsByID)", "uploadByID: uploadOp(hasToken, true)",
		"./banks", "TestUploadByID",
	},
	{
		"a negative confirm is answered as handled", "webhook/deliver.go",
		"return answer{http.StatusTooManyRequests, OutcomeUnconfirmed, err}", "return answer{http.StatusOK, OutcomeAccepted, nil}",
		"./webhook", "TestForgedBeforePaying",
	},
	{
		"a forged webhook is answered 503", "webhook/deliver.go",
		"return answer{http.StatusTooManyRequests, OutcomeUnconfirmed, err}", "return answer{http.StatusServiceUnavailable, OutcomeUnconfirmed, err}",
		"./webhook", "TestAnswers",
	},
	{
		"a service that hangs is answered 503", "webhook/deliver.go",
		"c.confirming.Store(true)", "_ = c",
		"./webhook", "TestAnswers",
	},
	{
		"a failed hand-over is answered 200", "webhook/deliver.go",
		"return answer{http.StatusServiceUnavailable, OutcomeSinkFailed, err}\n\t}\n\treturn answer{http.StatusOK", "_ = err\n\t}\n\treturn answer{http.StatusOK",
		"./webhook", "TestHandOverFails",
	},
	{
		"one payment runs the handler many times at once", "webhook/memory.go",
		"if r := m.runs[id]; r != nil {", "if r := m.runs[id]; r != nil && r.err == nil {",
		"./webhook", "TestMemorySingleFlight",
	},
	{
		"a payment that the sink refuses is forgotten", "poller/handover.go",
		"if p.err == nil {", "if p.err == nil || p.attempts > 1 {",
		"./poller", "TestNothingIsLost",
	},
	{
		"unhanded payments close the journal", "poller/poller.go",
		"return errors.Join(err, unhanded)", "r.closeJournal(ctx)\n\t\treturn errors.Join(err, unhanded)",
		"./inbox", "TestUnhandedByAPoller$",
	},
	{
		"an error of the ledger names a method of the sink", "webhook/handler.go",
		"stateMethod: \"Ledger.State\"", "stateMethod: \"Sink.Handled\"",
		"./webhook", "TestSinkDown",
	},
	{
		"an ambiguous poll is reported as a plain error", "poller/run.go",
		"case errors.Is(err, payments.ErrAmbiguous):", "case false:",
		"./poller", "TestAmbiguous",
	},
	{
		"a refused token ends the poller", "poller/run.go",
		"return r.cfg.StopOnTokenRefused &&", "return",
		"./poller", "TestMockGatewayRefuses",
	},
	{
		"a rejected token logs an error at every poll", "poller/refusal.go",
		"time.Since(f.logged) < remindEvery", "time.Since(f.logged) < 0",
		"./poller", "TestTokenRefusedIsLoggedSparsely",
	},
	{
		"Run forgets that the previous Run's token was rejected", "poller/poller.go",
		"refusal: &p.refusal", "refusal: &refusal{}",
		"./poller", "TestTokenRefusedOverTwoRuns",
	},
	{
		"a failing token source is only a warning", "internal/api/failure.go",
		"errors.Is(err, ErrTokenRefused) || errors.Is(err, ErrTokenSource)", "errors.Is(err, ErrTokenRefused)",
		"./poller", "TestTokenSourceFails",
	},
	{
		"a webhook's refused token is not logged", "webhook/event.go",
		"if api.TokenFails(e.Err) {", "if false && api.TokenFails(e.Err) {",
		"./webhook", "TestTokenFailsIsLoggedSparsely",
	},
	{
		"every delivery with a refused token is an error line", "webhook/handler.go",
		"tokenFails: rate.Sometimes{Interval: time.Hour},", "tokenFails: rate.Sometimes{Every: 1},",
		"./webhook", "TestTokenFailsIsLoggedSparsely",
	},
	{
		"the inbox does not log a rejected token", "inbox/confirm.go",
		"b.logToken(ctx, err)", "_ = err",
		"./inbox", "TestTokenFailsIsLoggedOnce",
	},
	{
		"a lost response that is not stored is only a warning", "webhook/event.go",
		"h.cfg.Ledger != nil && e.Status != http.StatusServiceUnavailable", "h.cfg.Ledger != nil",
		"./webhook", "TestLogLevels",
	},
	{
		"a ledger that hangs after a lost response is answered 429", "webhook/deliver.go",
		"c.confirming.Store(false)\n\t\trecordErr", "recordErr",
		"./webhook", "TestAnswers",
	},
	{
		"a source's error quotes a token that is too long", "internal/transport/token.go",
		"err = nil // it may quote", "_ = err // it may quote",
		"./payments", "TestTokenSourceFails",
	},
	{
		"a stopped poller keeps reporting a rejected token", "poller/refusal.go",
		"*r.refusal = refusal{}\n\tr.refusedSince(time.Time{})", "",
		"./poller", "TestTokenRefusedEndsWithTheRun",
	},
	{
		"OnEvent reports a working token before Stats does", "poller/refusal.go",
		"r.refusedSince(time.Time{})\n\t\tr.emit(ctx, Event{Kind: KindTokenAccepted})", "r.emit(ctx, Event{Kind: KindTokenAccepted})\n\t\tr.refusedSince(time.Time{})",
		"./poller", "TestTokenRefusedOverTwoRuns",
	},
	{
		"the mock polls a payment that was confirmed", "mockserver/applications.go",
		"if p.Status == StatusProgress {", "if p.Status != \"\" {",
		"./mockserver", "TestConfirmLifeCycle",
	},
	{
		"the mock's ninth wait is an hour short", "mockserver/delivery.go",
		"20 * time.Hour,", "19 * time.Hour,",
		"./mockserver", "TestScheduleIsExactOverASocket",
	},
	{
		"a resend after COMPLETE sends", "mockserver/sender.go",
		"if p.Status == StatusComplete {", "if p.Status == StatusComplete && d == nil {",
		"./mockserver", "TestResendOfACompletePaymentSendsNothing",
	},
	{
		"a dependency against the layers is not counted", "internal/test/layers/main.go",
		"known && alsoKnown && to > from", "known && alsoKnown && to > from+1",
		"./internal/test/layers", "TestUpwardArrowIsCounted",
	},
}

func all() []mutant {
	return slices.Concat(mutants, inboxMutants, exactMutants, pageMutants, modelMutants)
}
