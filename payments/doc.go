// Package payments is the typed client of a service that confirms bank deposits:
// create a payment, send the customer to its checkout page, and learn that it was
// paid, by polling or by webhook.
//
// # First use
//
//	client, err := payments.New(payments.Config{
//		BaseURL:     "https://pay.example.com/api",
//		CheckoutURL: "https://pay.example.com/checkout",
//		Token:       os.Getenv("DEPOSITPAY_TOKEN"),
//	})
//	created, err := client.Create(ctx, payments.CreateRequest{
//		Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000),
//	})
//	link, err := client.CheckoutURL(created.PayToken)
//
// A Client starts no goroutine and needs no closing. It is safe for concurrent use;
// one for each application token is enough.
//
// # Two ways to learn of a payment
//
// [Client.Next] is a poll: each call completes one waiting payment and returns it.
// It is a destructive read without an acknowledgement, so what it returns must be
// kept before it is called again. Package poller does that in a loop.
//
// [Client.Confirm] verifies the payment that a webhook named. The webhook itself is
// unsigned and proves nothing. Package webhook is the receiving handler.
//
// # Money
//
// An [Amount] is exact. Compare PaidAmount with what was asked for, with
// [Amount.Cmp] or ==, before granting anything; a completed payment of amount 0
// occurs and is not money.
//
// # Errors
//
// Every failed call returns an [*Error] with operation, code, message and HTTP
// status, or a [*ValidationError] if nothing was sent because the request itself is
// wrong. Ask behaviour with errors.Is and [SafeToRetry]:
//
//	p, err := client.Next(ctx)
//	switch {
//	case err == nil:
//		keep(p)
//	case errors.Is(err, payments.ErrNoProcessedPayment):
//		// nothing waits
//	case errors.Is(err, payments.ErrAmbiguous):
//		// a payment may be complete that nobody holds: confirm the ids you know
//	}
//
// What is tried again, by itself, and what never:
//
//	                        Create  Next  Confirm  WebhookStatus  ResendWebhook
//	surely not sent         yes     yes   yes      yes            yes
//	429, 503 + Retry-After  yes     yes   yes      yes            yes
//	answer may be lost      no      no    yes      yes            no
//
// The last row is a timeout, a reset, a cut body or another 5xx. A "no" gives
// [ErrAmbiguous] at once. net/http's own silent re-sending of a GET is kept off.
// Intermediaries between this process and the service may still repeat a GET; point
// BaseURL past those that do.
//
// # Secrets
//
// The token can be replaced while the program runs: see [Config.TokenSource].
//
// The API token is added to a request below the line that errors, logs, middleware
// and traces can see, and taken out of anything a peer may echo. Config.Transport is
// below that line; put instrumentation into Config.Middleware.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package payments
