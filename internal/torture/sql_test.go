//go:build unix

package torture

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// connector gives connections that shorten the leases of claims, which no Config can say
// (a lease is longer than the handler may take), and that break the fence if the merchant
// is such a mutant. The inbox needs no hook for either.
type connector struct {
	driver.Connector
	child *child
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn.(*stdlib.Conn), c.child}, nil
}

type connection struct {
	*stdlib.Conn
	child *child
}

const (
	claimStart = "WITH c AS (SELECT p.payment_id FROM depositpay_payments p\n\t\tWHERE p.stage = 2"
	fenceStart = "UPDATE depositpay_payments SET stage = 3"
)

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if strings.HasPrefix(query, claimStart) {
		query = mustReplace(query, "+ $2, attempt", fmt.Sprintf("+ least($2::bigint, %d), attempt", shortLease.Microseconds()))
	}
	return c.Conn.QueryContext(ctx, query, args)
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.child.Mutant == doneAtEnd && strings.HasPrefix(query, fenceStart) {
		query = "SELECT $1::text, $2::bigint" // "touches" one row
	}
	return c.Conn.ExecContext(ctx, query, args)
}

// mustReplace notices when the inbox's statements read otherwise.
func mustReplace(query, old, with string) string {
	replaced := strings.Replace(query, old, with, 1)
	if replaced == query {
		panic("the statement reads otherwise now: " + query)
	}
	return replaced
}
