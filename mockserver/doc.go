// Package mockserver is the whole payment service in memory, for tests and for
// trying a merchant's code by hand. It keeps payments, moves them through the
// states of the interface, sends webhooks on the real schedule, and has one clock
// that a test can move.
//
// # First use
//
// In a test, one line starts a server on a loopback port and cleans it up:
//
//	mock := mockserver.RunT(t)
//	// point the code under test at mock.URL() with the token mock.Token()
//	mock.Deposit(payToken, mockserver.Deposit{Payer: "Kim", Amount: 10000})
//
// Outside a test use [New], [Server.Start] and [Server.Close]; inside a
// testing/synctest bubble use [New] and [Server.Transport], which needs no socket.
//
// # What it answers
//
// The endpoints are those of interface §4. Every answer has HTTP status 200, also
// an error, which is {"error":"CODE","error_msg":"text"}; see [Code] for the
// codes. Records are flat, amounts are whole numbers, timestamps are RFC 3339 in
// UTC with whole seconds. That is the default [Dialect]; each application may have
// another. Fields that the interface does not name are ignored; a repeated field is
// refused.
//
//	POST /payments                 creates a payment, answers {"payToken":"…"}
//	GET  /callback/rest?token=     completes the oldest payment in PROGRESS
//	POST /payments/confirm         completes a named payment; may be repeated
//	GET  /mobile/banks             lists the banks; ?details=true for more fields
//	POST /mobile/deposit           takes a bank notification and looks for its payment
//	GET  /callback/webhook/status  tells how the delivery of a webhook stands
//	POST /callback/webhook/resend  sends the webhook again
//
// # Playing the payer and the clock
//
// [Server.Deposit] recognises a deposit; before it, [Server.GivePayer] is what the
// customer enters on the checkout page. [Server.Advance] and
// [Server.JumpToNextAttempt] move the clock, and with it the ten webhook attempts of
// interface §6.4, without any waiting; [Server.DeliverNow] and [Server.Resend] send
// without the clock. With [NewStoppedClock] every attempt is exact.
//
// [Server.SaveProduct], [Server.SaveStoreUser] and [Server.Buy] are the game store
// (interface §1.5). [Server.SaveApplication] adds applications beside those of
// [Config.Applications].
//
// # Looking at what happened
//
// [Server.Payment], [Server.Payments], [Server.Deliveries] and [Server.Requests] show
// how things stand, [Server.Timeline] how a payment came there. At the end of a test,
// [Server.CheckCompletedOnce], [Server.CheckDelivered], [Server.CheckStatus] and
// [Server.CheckNothingWaiting] fail with the timeline in the message:
//
//	mock.Advance(0) // lets webhooks in flight end
//	mock.CheckCompletedOnce(t, payToken)
//	mock.CheckNothingWaiting(t)
//
// # The control API
//
// Tests in another language, and people, have the same over HTTP under /_mock. Bodies
// and answers are JSON; an error has a 4xx status and the shape of the service's. A
// payment is shown with all that is known of it, except where a record is named. No
// answer holds a token. What is in [brackets] may be left out.
//
//	GET    /applications                  {"applications":[…]}
//	PUT    /applications                  {"token",["name","webhook_url","game_field","dialect"]}: saves one
//	PUT    /webhook                       {"token","url"}: sets the webhook URI, "" removes it
//	GET    /account                       {"bank","number","holder"}: where customers pay to
//	GET    /payments                      {"payments":[record, …]}
//	GET    /payments/{payToken}           the payment
//	GET    /payments/{payToken}/timeline  {"events":[{"ts","kind","text"}, …]}
//	PUT    /payments/{payToken}/payer     {"payer",["amount"]}: the checkout page; the payment
//	POST   /payments/{payToken}/deposit   [{"payer","amount","method"}]: a deposit; the record
//	POST   /payments/{payToken}/deliver   sends the waiting webhook attempt at once; {}
//	POST   /payments/{payToken}/resend    sends the webhook again; {}
//	GET    /products                      {"products":[…]}
//	PUT    /products                      {["id","application"],"name",["icon"],"price"}: saves one
//	DELETE /products/{id}                 {}
//	GET    /users                         {"users":[…]}
//	PUT    /users                         {["id"],"name"}: saves a user of the game store
//	POST   /buy                           {"product","user"}: buys in the game store; the payment
//	GET    /deliveries                    {"deliveries":[…]} with every attempt
//	GET    /requests                      {"requests":[…]}, oldest first
//	GET    /unmatched                     {"unmatched":[…],"dropped"}: deposits that match no payment
//	POST   /unmatched/{id}/resolve        {"payToken",["amount"]}: gives one to a payment; the record
//	POST   /unmatched/{id}/dismiss        {"deposit_id","result"}
//	GET    /faults                        the rules of [Server.Faults] and what they did
//	POST   /faults                        a [Fault] as JSON: adds one
//	DELETE /faults                        clears them
//	GET    /clock                         {"now","mode","factor"}
//	POST   /clock/advance                 {"duration":"5m"}: moves the clock, and expires payments
//	POST   /clock/next                    moves the clock to the next webhook attempt
//
// # Choices
//
// Where the interface is silent, [Config] chooses: how long an unpaid payment lives
// ([Config.Lifetime]), whether a late deposit counts, how the open stages are spelled,
// and whether a confirmation changes the stored state. The defaults are the simplest:
// for ever, no, the names of the constants, yes.
//
// # Safety
//
// A token of the mock begins with "test_", the server listens on loopback and
// sends to loopback unless [Config.AllowRemote] says otherwise, and no token
// appears in the request log. Memory is bounded by the caps of [Config] and by
// those of applications (100), products and store users (10,000 each).
//
// # Errors
//
// Methods that refuse something return an [*Error]; its Code is the same as on
// the wire.
package mockserver
