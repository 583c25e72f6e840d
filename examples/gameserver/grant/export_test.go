package grant

import "net/http"

// PlainTransport is the transport of HTTP's default client, of its own for a test.
func PlainTransport() *http.Transport { return plainHTTP.Transport.(*http.Transport).Clone() }

// Statements are those that run all the time.
var Statements = map[string]string{
	"due":             `SELECT account FROM grants WHERE ` + sqlDue,
	"due to one":      `SELECT account FROM grants WHERE ` + sqlDueTo,
	"the claim box":   `SELECT account FROM grants WHERE ` + sqlInBox,
	"move all":        sqlMoveAll,
	"move all of one": sqlMoveAll + ` AND account = $5`,
	"put off":         sqlPutOff,
}

// BatchSize is how many units one player gets in a row.
const BatchSize = batchSize
