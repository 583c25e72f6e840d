// Package webhook receives the service's webhooks (interface §6).
//
// A webhook is unsigned and carries nothing but a payment id, so it is a hint and
// never a proof. [Handler] reads the id strictly, verifies it with the service
// (POST /payments/confirm, §4.3), hands the verified payment to a [Sink], and only
// then answers 200. Whatever goes wrong on the way is answered with another status,
// so that the service delivers again (§6.4).
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
// The service waits 10 s for an answer (§6.5). The Handler answers within
// [Config.Budget], 8 s by default, even if the body, the Client or the Sink hangs.
//
// # Who may send
//
// Anyone who knows the address can send, and the customer knows the payment id. That
// is safe as it is: a forged webhook leads to a confirm that says "not paid", and a
// negative confirm is never remembered, so the real webhook still counts. To keep
// strangers out altogether set [Config.PathSecrets] and, where the service's
// addresses are known, [Config.AllowedSources]. [Config.ConfirmRate] and
// [Config.MaxConcurrent] bound what a flood can cost.
//
// # Answers
//
//	200  the payment is in the Sink, now or from before
//	400  the body is not the one of §6.1
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
//	the payment is handled already, or was confirmed and accepted      200
//	the service refuses the id: not known, not paid, another payment   429
//	the service cannot be reached, fails, or refuses the API token     429
//	the answer to the confirm was lost or cannot be read               429
//	the service was still being asked when the budget ended            429
//	ConfirmRate, MaxConcurrent, RefusedInterval or ErrFull             429
//	Sink.Handled, Ledger.Standing, Ledger.Note or Sink.Accept failed   503
//	the Sink was still at work when the budget ended                   503
//	the same, in Doubting.Unconfirmed                                  429
//
// A 5xx always means that this process could not store. Proxies count 5xx and take a
// server out that answers a few of them (nginx proxy_next_upstream, HAProxy observe
// layer7, Envoy outlier detection), so nobody must be able to cause one by inventing ids,
// and a service that is down must not take the merchant's pages down. The service repeats
// after any answer but 200 (§6.4), so after a 429 the payment is only later.
//
// All answers of one status are alike, byte for byte. What a sender can still tell:
//
//   - that a payment is COMPLETE: 200;
//   - by the time that an answer takes, whether the service was asked.
//
// This does not help guess ids (random UUIDs); anyone who has one already has the checkout
// link, and learns nothing of other payments.
//
// # After a confirm
//
// The service may stop delivering once a payment is COMPLETE (§6.5), and a confirm
// may complete it. So a Sink that fails after the confirm may not be asked again.
// Use a durable Sink whose Accept only writes the payment down; and watch
// [Config.OnHandOverFailed], which is given every such payment.
//
// # Stopping
//
// Stop the HTTP server (http.Server.Shutdown), then call [Handler.Wait]: work whose
// sender was answered at the budget may still be running.
//
// # Errors
//
// The sender learns nothing but the status. [Config.OnDelivery] and [Config.Logger]
// are given the cause; errors of payments.Client hold no token.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package webhook
