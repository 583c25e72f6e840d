package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/internal/backoff"
	"github.com/depositpay/depositpay-go/internal/secret"
)

// verdict is the result of one attempt.
type verdict int

const (
	answered verdict = iota // a complete answer, to be read
	unsent                  // not one byte left
	refused                 // 429, or 503 with Retry-After: not acted upon
	unknown                 // the service may have acted; the answer is lost or says 5xx
)

// judge returns the verdict of the attempt that just ended.
func (k *call) judge(err error) verdict {
	switch {
	case err != nil && k.maybeSent():
		return unknown
	case err != nil:
		return unsent
	case k.status == http.StatusTooManyRequests,
		k.status == http.StatusServiceUnavailable && k.retryHdr != "":
		return refused
	case k.status >= http.StatusInternalServerError:
		return unknown
	}
	return answered
}

// checkRetry implements the table of retry safety by operation. It returns no error, which
// would replace the error that says what happened.
func (k *call) checkRetry(ctx context.Context, _ *http.Response, err error) (again bool, _ error) {
	k.verdict = k.judge(err)
	k.wait = k.nextWait()
	k.again = k.wantsRetry(err) && outlasts(ctx, k.wait)
	if k.again && k.verdict == unknown {
		k.lost = true
	}
	return k.again, nil
}

// outlasts reports whether ctx lives longer than wait. A wait beyond the caller's deadline
// is not started: the current error says more than a bare deadline.
func outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > wait)
}

func (k *call) wantsRetry(err error) bool {
	switch k.verdict {
	case unsent:
		cause, ok := errors.AsType[*secret.Cause](err)
		return !ok || !cause.BadCertificate()
	case refused:
		return true
	case unknown:
		return k.op.Class.resendable() && k.status != http.StatusNotImplemented
	case answered:
	}
	return false
}

// nextWait honors Retry-After up to the cap; otherwise it backs off exponentially.
func (k *call) nextWait() time.Duration {
	low, high := k.client.cfg.RetryWaitMin, k.client.cfg.RetryWaitMax
	if k.verdict == refused {
		if wait, ok := backoff.RetryAfter(k.retryHdr, time.Now()); ok {
			return min(max(wait, low), high)
		}
	}
	return backoff.Delay(k.attempts-1, low, high, backoff.Jitter())
}

// backoff is retryablehttp's Backoff; checkRetry has already computed the wait.
func (k *call) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return k.wait }
