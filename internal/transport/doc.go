// Package transport is the request path of packages payments and banks. It sends one
// operation, retries it if the operation's [Class] allows it, and never hides that a
// response may have been lost.
//
// The chain, outermost first:
//
//	Client.Token         the token of this call, fixed or from Config.TokenSource
//	Client.Do            builds the request; no token in it
//	go-retryablehttp     the loop, with our CheckRetry and Backoff (retry.go)
//	http.Client          no redirects, no cookies, no timeout of its own
//	Config.Middleware    spans and metrics of the caller; sees no token
//	inner                injects the token, seals, reads the whole body (inner.go)
//	http.Transport       HTTP/1.1 only, no compression (pool.go)
//
// The body is read inside the chain, so that the retry table sees a truncated body as an
// error.
package transport
