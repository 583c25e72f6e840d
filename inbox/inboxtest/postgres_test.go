package inboxtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/depositpay/depositpay-go/inbox/inboxtest"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
)

// TestPostgreSQL: the suite, and no statement of the inbox leaves its isolation to the
// database's default, nor changes anything for the rest of the session: the session may be
// another program's next.
func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	inboxtest.Exercise(t, func(t *testing.T) inboxtest.Database {
		db := pgtest.New(t)
		tapped := db.Tapped(t, &pgtest.Tap{Statement: func(text, isolation string) {
			if !strings.HasPrefix(text, "SELECT current_setting(") && text != "ROLLBACK" {
				assert.Equal(t, "READ COMMITTED", isolation, text)
			}
			for part := range strings.SplitSeq(text, ";") {
				part = strings.TrimSpace(part)
				assert.False(t, strings.HasPrefix(part, "SET ") && !strings.HasPrefix(part, "SET LOCAL "), text)
				assert.False(t, strings.HasPrefix(part, "RESET "), text)
				assert.NotContains(t, part, "pg_advisory_lock")
			}
		}})
		return inboxtest.Database{DB: tapped, Ledger: db.DB}
	})
}
