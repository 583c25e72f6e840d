package grant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
)

// TestSecondPoller: it takes a payment that a webhook has named, and is found out. A
// payment of our own poll raises no alarm.
func TestSecondPoller(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	mine := o.sell()
	stop := o.run(o.desk.Poller.Run)
	o.until("report", "received 1")
	stop()
	taken := o.sell()
	_, err := o.client.Next(t.Context()) // the second poller
	require.NoError(t, err)

	o.run(o.box.Run)
	for _, id := range []string{taken.String(), mine.String()} {
		o.do("recover " + id) // as a webhook does
	}
	_, err = o.watch.Confirm(t.Context(), mine)
	require.NoError(t, err)
	o.until("report", "payments completed by another poller: 1")
	entry, err := o.box.Get(t.Context(), taken.String())
	require.NoError(t, err)
	require.False(t, entry.Sources.Has(inbox.ChannelPoll))
	o.until("report", "payments completed by another poller: 1") // once, not at every look
	require.Contains(t, o.log.String(), "level=ERROR")
	require.Contains(t, o.log.String(), "ANOTHER POLLER COMPLETES PAYMENTS OF THIS TOKEN")
	require.NotContains(t, o.log.String(), o.mock.Token())
}

// TestOlderThanTheLedger: a payment from before this ledger was made raises no alarm when
// somebody repeats its webhook.
func TestOlderThanTheLedger(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(cfg *inbox.Config) { cfg.NotBefore = time.Now().Add(time.Hour) })
	old := o.sell()
	_, err := o.client.Next(t.Context()) // the integration of before
	require.NoError(t, err)
	o.run(o.box.Run)
	o.until("recover "+old.String(), "review: too_old")
	require.Contains(t, o.do("report"), "payments completed by another poller: 0")
	require.NotContains(t, o.log.String(), "ANOTHER POLLER")
}
