package inboxtest

import (
	"os"
	"time"
)

// timeLimit is for what must happen in the end. A break of the code is often seen by
// running into it; DEPOSITPAY_TEST_PATIENCE, a duration such as 5s, makes that quicker
// where such breaks are made on purpose. Default a minute.
var timeLimit = patience(os.Getenv("DEPOSITPAY_TEST_PATIENCE"))

const tickTime = 2 * time.Millisecond // between two looks

func patience(text string) time.Duration {
	if limit, err := time.ParseDuration(text); err == nil && limit > 0 {
		return limit
	}
	return time.Minute
}
