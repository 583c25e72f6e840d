package poller_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/poller"
)

// webhookLedger is what Inbox.Webhook returns, as far as the poller can tell.
type webhookLedger struct{ poller.Sink }

func (webhookLedger) RecordHint(context.Context, uuid.UUID) error { return nil }

// beginning is a ledger of somebody else's.
type beginning struct {
	poller.Sink
	begin func() poller.Journal
}

func (b beginning) Begin() poller.Journal { return b.begin() }

// TestLedgerThatDoesNotBegin: nothing is polled without a journal, and the error says so.
func TestLedgerThatDoesNotBegin(t *testing.T) {
	t.Parallel()
	for want, begin := range map[string]func() poller.Journal{
		"poller: nothing was polled: Ledger.Begin returned no journal":   func() poller.Journal { return nil },
		"poller: nothing was polled: Ledger.Begin panicked: no database": func() poller.Journal { panic("no database") },
	} {
		p, err := poller.New(poller.Config{Client: newSource(t), Ledger: beginning{newSink(t), begin}})
		require.NoError(t, err)
		require.EqualError(t, p.Run(t.Context()), want)
		require.Zero(t, p.Stats().Polls)
	}
}

func TestConfigValidation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*poller.Config)
		want   string
	}{
		"ok":               {func(*poller.Config) {}, ""},
		"no client":        {func(c *poller.Config) { c.Client = nil }, "Config.Client: is required"},
		"no sink":          {func(c *poller.Config) { c.Sink = nil }, "Config.Ledger: it or Config.Sink is required"},
		"sink and ledger":  {func(c *poller.Config) { c.Ledger = &ledger{} }, "Config.Sink: Config.Ledger is set as well"},
		"ledger as sink":   {func(c *poller.Config) { c.Sink = &ledger{} }, "Config.Sink: it is a ledger, whose journal a Sink cannot use"},
		"webhook's ledger": {func(c *poller.Config) { c.Sink = webhookLedger{newSink(t)} }, "Config.Sink: it is a ledger, whose journal a Sink cannot use"},
		"negative min":     {func(c *poller.Config) { c.IntervalMin = -1 }, "Config.IntervalMin: -1ns is negative"},
		"negative max":     {func(c *poller.Config) { c.IntervalMax = -1 }, "Config.IntervalMax: -1ns is below IntervalMin, 3s"},
		"max below min":    {func(c *poller.Config) { c.IntervalMin, c.IntervalMax = 2, 1 }, "Config.IntervalMax: 1ns is below IntervalMin, 2ns"},
		"backoff":          {func(c *poller.Config) { c.BackoffMax = time.Second }, "Config.BackoffMax: 1s is below IntervalMax, 5s"},
		"pending":          {func(c *poller.Config) { c.MaxPending = -1 }, "Config.MaxPending: -1 is negative"},
		"accept timeout":   {func(c *poller.Config) { c.AcceptTimeout = -1 }, "Config.AcceptTimeout: -1ns is negative"},
		"shutdown":         {func(c *poller.Config) { c.ShutdownTimeout = -1 }, "Config.ShutdownTimeout: -1ns is negative"},
		"only min":         {func(c *poller.Config) { c.IntervalMin = time.Hour }, ""},
		"only max":         {func(c *poller.Config) { c.IntervalMax = time.Second }, ""},
		"everything short": {func(c *poller.Config) { c.IntervalMin, c.IntervalMax, c.BackoffMax = 1, 1, 1 }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := poller.Config{Client: newSource(t), Sink: newSink(t)}
			test.change(&cfg)
			_, err := poller.New(cfg)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
}

// TestOtherIntervals: a bound that is set alone adjusts the other one if it must.
func TestOtherIntervals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ setMin, setMax, low, high time.Duration }{
		{10 * time.Second, 0, 10 * time.Second, 10 * time.Second},
		{0, 10 * time.Second, 3 * time.Second, 10 * time.Second},
		{0, time.Second, time.Second, time.Second},
		{time.Second, 0, time.Second, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			src := newSource(t)
			p := newPoller(t, poller.Config{Client: src, Sink: newSink(t), IntervalMin: test.setMin, IntervalMax: test.setMax})
			mustRun(t, p, 5*time.Minute)
			for _, gap := range src.gaps() {
				assert.GreaterOrEqual(t, gap, test.low)
				assert.LessOrEqual(t, gap, test.high)
			}
		})
	}
}
