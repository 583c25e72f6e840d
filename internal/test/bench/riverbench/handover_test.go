package riverbench_test

import (
	"fmt"
	"testing"

	"github.com/depositpay/depositpay-go/internal/test/bench/paired"
)

// TestHandOver: payments that wait, handed over with one row written for each.
func TestHandOver(t *testing.T) {
	paired.Enabled(t)
	const payments = 5000
	for _, workers := range []int{16, 64} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			got := paired.Compare(t,
				inboxSide(t, "inbox, the handler writes a row", payments, workers, true),
				riverSide(t, "River, the worker writes a row", payments, workers, true),
				inboxSide(t, "inbox, empty handler", payments, workers, false),
				riverSide(t, "River, empty worker", payments, workers, false),
			)
			name := fmt.Sprintf("PostgreSQL hand-over, %d workers, ", workers)
			paired.Ratio(t, name+"one row each: inbox ÷ River", got[0], got[1], paired.Rate, paired.AtLeast(1))
			paired.Ratio(t, name+"nothing written: inbox ÷ River", got[2], got[3], paired.Rate, paired.AtLeast(1))
		})
	}
}
