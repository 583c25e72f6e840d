package transport

import (
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout = 5 * time.Second // cheap to abort: nothing is sent yet
	// maxIdle is a pool for hundreds of concurrent callers. net/http keeps 2 a host,
	// and then dials again for nearly every call of the 64 of the benchmark.
	maxIdle = 256
	// idleTimeout is below the keep-alive time of common servers (Node closes after
	// 5 s). A request that meets a connection which the server is just closing has an
	// unknown outcome; a new connection is cheaper than a reconciliation.
	idleTimeout      = 2 * time.Second
	maxResponseHdr   = 64 << 10
	expectTimeout    = time.Second
	tcpKeepAliveTime = 15 * time.Second
)

// NewPool returns the default *http.Transport; the benchmark measures with the same.
func NewPool() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: tcpKeepAliveTime}
	return harden(&http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHdr,
		ExpectContinueTimeout:  expectTimeout,
	})
}

// harden changes the settings that would silently lose payments.
func harden(t *http.Transport) *http.Transport {
	// HTTP/2 re-sends requests of every method on some peer errors.
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = nil
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = nil // or TLS would still offer HTTP/2
	}
	// A cut plain body still shows the payment id, a cut compressed one shows nothing.
	t.DisableCompression = true
	return t
}

// choose returns the transport to use, and whether it is an *http.Transport: only there does
// a missing GotConn prove that nothing was sent. A foreign transport may have sent the
// request in another way before it uses an *http.Transport. A caller's *http.Transport is
// cloned and hardened; its proxy, TLS and pool settings are kept.
func choose(rt http.RoundTripper) (http.RoundTripper, bool) {
	switch t := rt.(type) {
	case nil:
		return NewPool(), true
	case *http.Transport:
		return harden(t.Clone()), true
	}
	return rt, false
}
