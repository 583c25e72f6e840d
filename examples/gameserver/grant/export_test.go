package grant

import "net/http"

// PlainTransport is a copy of the transport of HTTP's default client.
func PlainTransport() *http.Transport { return plainHTTP.Transport.(*http.Transport).Clone() }

// Statements are those that run all the time.
var Statements = []string{`SELECT account FROM grants WHERE ` + sqlDue, sqlDefer, sqlJoined, sqlRecover}
