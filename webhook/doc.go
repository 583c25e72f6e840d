// Package webhook receives the service's webhooks (interface §6).
//
// A webhook is unsigned and carries only a payment id, so it is a hint and never a
// proof. [Handler] reads the id strictly, verifies it with the service
// (POST /payments/confirm, §4.3), hands the verified payment to a [Ledger] or [Sink], and
// only then answers 200. After any failure it answers with another status, so that the
// service delivers again (§6.4).
//
// # First use
//
//	box, err := webhook.NewMemory(grant, nil) // for a trial; see Memory
//	…
//	hook, err := webhook.New(webhook.Config{Client: client, Sink: box})
//	…
//	mux.Handle("/hooks/deposit/", hook)
//	server := &http.Server{
//		Addr:              ":8080",
//		Handler:           mux,
//		ReadHeaderTimeout: 5 * time.Second,
//		ReadTimeout:       8 * time.Second,
//		WriteTimeout:      15 * time.Second, // more than Config.Budget
//		IdleTimeout:       time.Minute,
//		MaxHeaderBytes:    16 << 10,
//	}
//
// The service waits 10 s for a response (§6.5). The Handler responds within
// [Config.Budget], 8 s by default, even if the body, the Client or the Sink hangs.
//
// # Who may send
//
// Anyone who knows the address can send, and the customer knows the payment id. That
// is safe: a forged webhook leads to a confirm that the service rejects as not paid, and a
// rejection is never final, so the real webhook still counts. To keep strangers out
// altogether set [Config.PathSecrets] and, if you know the service's addresses,
// [Config.AllowedSources]. [Config.ConfirmRate] and [Config.MaxConcurrent] limit the cost
// of a flood.
//
// # Answers
//
//	200  the payment is in the Sink
//	400  the body is not that of §6.1
//	403  the source is not in Config.AllowedSources
//	404  Config.PathSecrets is set and the path has none of them
//	405  not a POST
//	408  the body did not arrive within the budget
//	413  the body is longer than 4 KiB
//	415  the content type is not application/json
//	429  not confirmed, or a limit is reached; Retry-After
//	503  the Sink failed or was too slow; Retry-After
//
// In detail, for a request with a well-formed body:
//
//	the payment is handled already, or was confirmed and accepted       200
//	the service rejects the id: not known, not paid, another payment    429
//	the service cannot be reached, fails, or refuses the API token      429
//	the response to the confirm was lost or cannot be read              429
//	the confirm was still under way when the budget ended               429
//	ConfirmRate, MaxConcurrent, RefusedInterval or ErrFull              429
//	Sink.Handled, Ledger.State, Ledger.RecordHint or Accept failed      503
//	one of them was still running when the budget ended                 503
//	Ledger.ConfirmFailed was still running when the budget ended        429
//
// A 5xx always means that this process could not store. Proxies count 5xx and take a
// server out of service after a few of them (nginx proxy_next_upstream, HAProxy observe
// layer7, Envoy outlier detection). So made-up ids must not be able to cause one, and a
// service that is down must not take the merchant's pages down. The service repeats after
// any status but 200 (§6.4), so a 429 only delays the payment.
//
// All responses of one status are alike, byte for byte. A sender can still learn:
//
//   - that a payment is COMPLETE, from the 200;
//   - whether the service was asked, from the time that the response takes.
//
// This does not help guess ids (random UUIDs); anyone who has one already has the checkout
// link, and learns nothing of other payments.
//
// # After a confirm
//
// The service may stop delivering once a payment is COMPLETE (§6.5), and a confirm
// may complete it. So after a failed Accept there may be no other delivery. Use a durable
// Sink whose Accept only stores the payment, and watch [Config.OnHandOverFailed], which is
// given every payment that could not be stored.
//
// # Stopping
//
// Stop the HTTP server (http.Server.Shutdown), then call [Handler.Wait]: the work for a
// delivery that was answered at the budget may still be running.
//
// # Errors
//
// The sender sees only the status. [Config.OnDelivery] and [Config.Logger] get the cause;
// errors of payments.Client contain no token.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package webhook
