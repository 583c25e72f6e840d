package grant

import (
	"context"
	"net"
	"net/http"
)

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

// ExecRCON runs a command on a connection that is logged in already.
func ExecRCON(ctx context.Context, conn net.Conn, command string) (string, error) {
	return (&rconConn{Conn: conn}).exec(ctx, command)
}

// AuthRCON logs in on a connection.
func AuthRCON(ctx context.Context, conn net.Conn, password string) error {
	return (&rconConn{Conn: conn}).auth(ctx, password)
}

// ErrRCONPassword is what AuthRCON says of a wrong password.
var ErrRCONPassword = errRCONPassword
