// Package payments is the typed client of a service that confirms bank deposits. Create a
// payment, send the customer to its checkout page, and find out by polling or by webhook
// when it is paid.
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
// A Client starts no goroutine and needs no Close. It is safe for concurrent use; create
// one for each application token.
//
// # Receiving payments
//
// [Client.Next] is a poll: each call completes one waiting payment and returns it. It is a
// destructive read without an acknowledgement, so store the payment before you call Next
// again. Package poller does that in a loop.
//
// [Client.Confirm] verifies the payment that a webhook named. The webhook itself is
// unsigned and proves nothing. Package webhook provides the HTTP handler.
//
// # Money
//
// An [Amount] is exact. Before granting anything, compare PaidAmount with the amount due by
// [Amount.Cmp] or ==. A completed payment of amount 0 occurs; it is not money.
//
// # Errors
//
// Every failed call returns an [*Error] with operation, code, message and HTTP status, or a
// [*ValidationError] if the request is invalid and was not sent. Test errors with errors.Is
// and [SafeToRetry]:
//
//	p, err := client.Next(ctx)
//	switch {
//	case err == nil:
//		keep(p)
//	case errors.Is(err, payments.ErrNoProcessedPayment):
//		// no payment is waiting
//	case errors.Is(err, payments.ErrAmbiguous):
//		// a completed payment may be lost: confirm the ids you know
//	}
//
// Automatic retries:
//
//	                        Create  Next  Confirm  WebhookStatus  ResendWebhook
//	request not sent        yes     yes   yes      yes            yes
//	429, 503 + Retry-After  yes     yes   yes      yes            yes
//	response may be lost    no      no    yes      yes            no
//
// The last row covers timeouts, resets, truncated bodies and other 5xx. Where it says "no",
// the call returns [ErrAmbiguous] at once. The client also prevents net/http from re-sending
// a GET. Proxies between this process and the service may still repeat a GET; set BaseURL to
// an address that bypasses them.
//
// # Secrets
//
// To replace the token while the program runs, use [Config.TokenSource].
//
// The client adds the API token to a request below Config.Middleware, so errors, logs,
// middleware and traces never see it, and redacts it from anything the service echoes.
// Config.Transport does see the token; put instrumentation into Config.Middleware.
//
// # Section references
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package payments
