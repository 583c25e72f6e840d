// Package mockserver is the whole payment service in memory, for tests and for
// trying a merchant's code by hand. It keeps payments, moves them through the
// states of the interface, sends webhooks on the real schedule, reads bank
// notifications, and has one clock that a test can move.
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
// Without Go, "depositpay mock" is the same server as a program.
//
// # What it answers
//
// The endpoints are those of interface §4. Every answer has HTTP status 200, also
// an error, which is {"error":"CODE","error_msg":"text"}; see [Code] for the codes.
// Records are flat, amounts are whole numbers, timestamps are RFC 3339 in UTC with
// whole seconds. Fields that the interface does not name are ignored; a repeated
// field is refused.
//
//	POST /payments                 creates a payment, answers {"payToken":"…"}
//	GET  /callback/rest?token=     completes the oldest payment in PROGRESS
//	POST /payments/confirm         completes a named payment; may be repeated
//	GET  /mobile/banks             lists the banks; ?details=true for more fields
//	POST /mobile/deposit           accepts a bank notification and finds its payment
//	GET  /callback/webhook/status  shows the state of a webhook delivery
//	POST /callback/webhook/resend  sends the webhook again
//
// Where the interface is silent, the mock makes a choice. docs/interpretation.md lists every
// choice with its evidence and the way to change it.
//
// # Pages for people
//
// The server shows pages in Korean and English that follow what happens while they
// are open, and work without scripts:
//
//	/_mock/          the dashboard: payments with their timelines, deliveries, the
//	                 bank phone, store, applications, clock, faults, requests
//	/pay/<payToken>  the checkout page, where the customer gives the payer's name
//	/store/          the game store, where users buy the products of an application
//	/openapi         the endpoints as an OpenAPI document, which is /openapi.yaml
//
// The customer's link is [Server.CheckoutURL], a slash and the payToken. Pages,
// control API and endpoints take nothing that a browser sends for another site and,
// unless Config.AllowRemote is set, answer under loopback names alone.
//
// # Applications
//
// Each [Application] is a client of the service with a token, a webhook URI, a
// [Dialect] and a game store of its own, and sees only its own payments. The first
// ones come from Config.Applications; [Server.SaveApplication] adds more and changes
// them. [Server.SaveProduct], [Server.SaveStoreUser] and [Server.Buy] are the game
// store (interface §1.5): a payment made there carries the product id in metadata,
// under [Application.GameField].
//
// # Playing the customer and the bank
//
// [Server.GivePayer] is what the customer enters on the checkout page. Then one of
// three ways leads to PROGRESS:
//
//   - [Server.Deposit] recognizes a deposit at once, whatever the name of the payer.
//   - [Server.SendNotification] plays the bank phone: it words a deposit as one of
//     the Korean banking apps does and uploads it. The server reads the text and pays
//     the one payment that waits for this payer and this amount.
//   - A phone app under test uploads to POST /mobile/deposit by itself.
//
// The server never guesses: a deposit without exactly one payment waits in
// [Server.Unmatched] for [Server.ResolveUnmatched] or [Server.DismissUnmatched].
//
// # Faults
//
// [Server.AddFault] injects faults by rule, [Server.SetFaults] also at random with a
// seed: responses that are lost after the commit, late, cut, malformed, refused with an
// HTTP status; webhooks that come twice, late, out of order, or whose response is lost.
// The same calls meet the same faults. [Server.FaultLog] lists the calls that were struck:
//
//	mock.AddFault(mockserver.Fault{Operation: "next", Kind: "drop-after", Nth: 2})
//
// # Dialects
//
// Deployments format their answers differently, and a client should read them all. A
// [Dialect] chooses envelope, form of errors, HTTP status, the answer to an empty poll
// and more, for each application; [Dialects] lists every one, for tests that cross
// them. The default is that of live deployments.
//
// # The clock
//
// Timestamps, expiry and the ten webhook attempts of interface §6.4 go by one clock.
// It is the real time, which [Server.Advance] adds to; with [NewStoppedClock] every
// attempt is exact; with [NewAcceleratedClock] the 75 hours pass in a minute, for
// people. [Server.JumpToNextAttempt] moves it to the next attempt, without any
// waiting; [Server.DeliverNow] and [Server.Resend] send without the clock.
//
// # Looking at what happened
//
// [Server.Payment], [Server.Payments], [Server.Deliveries], [Server.Notifications] and
// [Server.Requests] show the current state, [Server.Timeline] how a payment reached it.
// At the end of a test, [Server.CheckCompletedOnce], [Server.CheckDelivered],
// [Server.CheckStatus] and [Server.CheckNothingWaiting] fail with the timeline in the
// message:
//
//	mock.Advance(0) // waits for webhooks in flight
//	mock.CheckCompletedOnce(t, payToken)
//	mock.CheckNothingWaiting(t)
//
// # The control API
//
// Tests in another language, and people, do the same over HTTP under /_mock; the
// dashboard uses it too. GET /_mock/openapi.yaml describes it as an OpenAPI document.
// Bodies and answers are JSON; an error has a 4xx status and the shape of the service's.
// No answer holds a token. What is in [brackets] may be left out.
//
// Lists are newest first. LIST stands for ?before=&limit= and, for payments and deliveries,
// ?status=: limit is at most 1000 and by default 1000; if there are older entries, the
// answer has a "next", the value of before for the next call.
//
//	GET    /summary                       counts, addresses, clock, next webhook attempt
//	POST   /reset                         [{"application"}]: forgets everything, or what belongs to one; {}
//	GET    /applications                  {"applications":[…]}
//	PUT    /applications                  {"token",["name","webhook_url","game_field","dialect"]}: saves one
//	PUT    /webhook                       {"token","url"}: sets the webhook URI, "" removes it
//	GET    /account                       {"bank","number","holder"}: where customers pay to
//	GET    /payments                      LIST {"payments":[…]}
//	GET    /payments/{payToken}           the payment
//	GET    /payments/{payToken}/record    the record as the service shows it
//	GET    /payments/{payToken}/timeline  {"events":[{"ts","kind","text"}, …]}
//	GET    /payments/{payToken}/delivery  its webhook delivery
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
//	GET    /deliveries                    LIST {"deliveries":[…]} with every attempt and the response to it
//	GET    /requests                      LIST {"requests":[…]}
//	GET    /notifications                 LIST {"notifications":[…]}
//	POST   /notifications                 {"package","payer","amount"} in the bank's wording, or
//	                                      {"package","title","subtitle","text"}: plays the bank phone
//	GET    /unmatched                     LIST {"unmatched":[…],"dropped"}: deposits that match no payment
//	POST   /unmatched/{id}/resolve        {"payToken",["amount"]}: gives one to a payment; the record
//	POST   /unmatched/{id}/dismiss        {"deposit_id","result"}
//	GET    /faults                        the rules of [Server.Faults] and what they did
//	POST   /faults                        a [Fault] as JSON: adds one
//	DELETE /faults                        clears them
//	DELETE /faults/{place}                ?rule=: removes one, counted from 0
//	GET    /clock                         {"now","mode","factor"}
//	GET    /clock/attempts                ?limit= {"attempts":[…]}: webhook attempts to come, soonest first
//	POST   /clock/advance                 {"duration":"5m"}: moves the clock, and expires payments
//	POST   /clock/next                    moves the clock to the next webhook attempt
//
// # Safety
//
// A token of the mock begins with "test_", the server listens on loopback and sends
// to loopback unless Config.AllowRemote says otherwise, and no token appears in
// the request log. Memory is bounded by the caps of [Config] and by those of
// applications (100), products and store users (10,000 each).
//
// # What it is not
//
// All state is in memory. A mock that is restarted in the middle of a test, or a
// second one, knows no payment, no delivery and no time of the one before: a merchant's
// code that meets it sees PAYMENT_NOT_FOUND for every payToken from before, and no
// webhook that was still to come. So it cannot show how a deployment survives its own
// crash. It moves no money, it serves plain HTTP, it has no passwords, and it limits no
// rates except by a [Fault].
//
// # Errors
//
// Methods that refuse something return an [*Error]; its Code is the same as on
// the wire.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package mockserver
