// Package banks reads the list of supported banks and uploads bank notifications
// (interface §4.4 to §4.6): the part of the service that the phone app uses.
//
// # First use
//
//	client, err := banks.New(banks.Config{BaseURL: "https://pay.example.com/api"})
//	list, err := client.List(ctx)
//	filter := banks.NewFilter(list)
//	if filter.Match(notification.Package) {
//		_, err = client.UploadDeposit(ctx, notification)
//	}
//
// The interface documents no authentication for these calls (§5), so Config.Token is
// optional. It is sent with uploads only and never appears in an error or a log.
//
// # Errors
//
// Errors of a call are *Error. SafeToRetry reports whether it is safe to call again.
// Automatic retries:
//
//	                        List  upload  upload with ID and DropsRepeatsByID
//	request not sent        yes   yes     yes
//	429, 503 + Retry-After  yes   yes     yes
//	response may be lost    yes   no      yes
//
// If the response to an upload may have been lost, the error is ErrAmbiguous. Without an ID,
// only the service's operator can find out whether the upload was accepted. Give each
// notification an ID; if the service drops duplicates by it, upload again with the same ID.
//
// # Section references
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package banks
