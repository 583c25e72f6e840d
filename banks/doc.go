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
// Errors of a call are *Error. An upload whose answer may have been lost is not sent
// again by itself: the error is ErrAmbiguous. SafeToRetry tells whether calling again
// is without risk.
//
// # The sign §
//
// §4.2 is section 4.2 of the service's interface:
// https://github.com/depositpay/depositpay-go/blob/main/docs/interface.md
package banks
