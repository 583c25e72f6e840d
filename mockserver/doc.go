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
// UTC with whole seconds. Fields that the interface does not name are ignored; a
// repeated field is refused.
//
//	POST /payments                 creates a payment, answers {"payToken":"…"}
//	GET  /callback/rest?token=     completes the oldest payment in PROGRESS
//	POST /payments/confirm         completes a named payment; may be repeated
//	GET  /mobile/banks             lists the banks; ?details=true for more fields
//	POST /mobile/deposit           takes a bank notification and keeps it
//	GET  /callback/webhook/status  tells how the delivery of a webhook stands
//	POST /callback/webhook/resend  sends the webhook again
//
// # Playing the payer and the clock
//
// [Server.Deposit] recognises a deposit; [Server.Advance] and
// [Server.JumpToNextAttempt] move the clock, and with it the ten webhook attempts
// of interface §6.4, without any waiting. With [NewStoppedClock] every attempt is
// exact. [Server.Deliveries] and [Server.Requests] show what happened.
//
// Tests in another language, and people, have the same over HTTP:
//
//	POST /_mock/payments/{payToken}/deposit  {"payer":"Kim","amount":10000,"method":"DEPOSIT"}
//	PUT  /_mock/webhook                      {"token":"test_demo","url":"http://127.0.0.1:9000/hook"}
//	GET  /_mock/payments
//	GET  /_mock/deliveries
//	GET  /_mock/requests
//	POST /_mock/clock/advance                {"duration":"5m"}
//	POST /_mock/clock/next
//
// # Safety
//
// A token of the mock begins with "test_", the server listens on loopback and
// sends to loopback unless [Config.AllowRemote] says otherwise, and no token
// appears in the request log. Memory is bounded by the caps of [Config].
//
// # Errors
//
// Methods that refuse something return an [*Error]; its Code is the same as on
// the wire.
package mockserver
