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
// The listing and the upload show no authentication (§5). Config.Token is therefore
// optional; it is sent with uploads only, and never appears in an error or a log.
//
// # Errors
//
// Errors of a call are *Error. SafeToRetry reports whether it is safe to call again. What is
// tried again by itself, and what never:
//
//	                        List  upload  upload with ID and DropsRepeatsByID
//	surely not sent         yes   yes     yes
//	429, 503 + Retry-After  yes   yes     yes
//	answer may be lost      yes   no      yes
//
// An upload whose answer may have been lost gives ErrAmbiguous. Without an ID nobody but
// the service's operator can report whether it was taken. Give each notification an ID, and
// upload it again with the same one, where the service drops repeats by it.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package banks
