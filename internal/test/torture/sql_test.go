//go:build unix

package torture

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

const (
	claimStart = "WITH c AS (SELECT p.payment_id FROM depositpay_payments p\n\t\tWHERE p.stage = 2"
	fenceStart = "UPDATE depositpay_payments SET stage = 3"
)

// connector gives connections that shorten the leases of claims, which no Config can say
// (a lease is longer than the handler may take), and that break the fence if the merchant
// is such a mutant. The inbox needs no hook for either.
func (c *shop) connector(pg pgx.ConnConfig) pgtest.Rewriting {
	return pgtest.Rewriting{
		Connector: stdlib.GetConnector(pg),
		Query: func(statement string) string {
			if !strings.HasPrefix(statement, claimStart) {
				return statement
			}
			short := fmt.Sprintf("least($2::bigint, %d)", shortLease.Microseconds())
			return mustReplace(statement, "+ $2, wait = $2, attempt", "+ "+short+", wait = "+short+", attempt")
		},
		Exec: func(statement string) string {
			if c.Mutant == doneAtEnd && strings.HasPrefix(statement, fenceStart) {
				return "SELECT $1::text, $2::bigint" // "touches" one row
			}
			return statement
		},
	}
}

// mustReplace notices when the inbox's statements read otherwise.
func mustReplace(statement, old, with string) string {
	replaced := strings.Replace(statement, old, with, 1)
	if replaced == statement {
		panic("the statement reads otherwise now: " + statement)
	}
	return replaced
}
