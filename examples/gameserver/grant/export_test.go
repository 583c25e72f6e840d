package grant

import "net/http"

// PlainTransport is the transport of HTTP's default client, of its own for a test.
func PlainTransport() *http.Transport { return plainHTTP.Transport.(*http.Transport).Clone() }
