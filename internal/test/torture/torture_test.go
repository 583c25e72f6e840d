//go:build unix

package torture

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/internal/test/racing"
)

var (
	seed    = flag.Uint64("seed", 1, "what the plan is made of")
	length  = flag.Duration("length", 8*time.Second, "how long the trouble lasts")
	publish = flag.String("publish", "", "the documents to write the figures into, separated by spaces")
	save    = flag.String("result", "", "the file to write the result into")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Stopping(m)) }

func TestTorture(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			r := run(t, *seed, *length, usual(database))
			t.Log("\n" + r.String())
			if *save != "" {
				require.NoError(t, r.save(*save))
			}
			if *publish != "" {
				require.NoError(t, r.publish(*publish, database))
			}
			assert.Equal(t, "passed", r.Verdict)
			assert.NotZero(t, r.Granted)
			assert.NotZero(t, r.Did[killed])
		})
	}
}

// TestWires: one merchant whom nobody kills, and whose connections to PostgreSQL are cut and
// stall. No restart makes good what one of these has stopped.
func TestWires(t *testing.T) {
	t.Parallel()
	p := usual("postgres")
	p.Merchants, p.Rate, p.Kill, p.Stop, p.Pause, p.Restart = 1, 40, 0, 0, 0, 0
	p.Cut, p.Stall = 300*time.Millisecond, 3*time.Second
	r := run(t, *seed, *length, p)
	t.Log("\n" + r.String())
	assert.Equal(t, "passed", r.Verdict)
	assert.NotZero(t, r.Granted)
	assert.NotZero(t, r.Did[cutOff])
	assert.NotZero(t, r.Did[stalled])
}

// TestOnlyCreated: merchants who create every payment settle possible losses by their proof,
// and no payment was behind one.
func TestOnlyCreated(t *testing.T) {
	t.Parallel()
	p := usual("postgres")
	p.OnlyCreated, p.Channel, p.Rate, p.Kill, p.Restart, p.Silence, p.Stop = true, inbox.ChannelPoll, 40, 0, 0, 0, 3*time.Second
	r := run(t, 43, 6*time.Second, p)
	t.Log("\n" + r.String())
	assert.Equal(t, "passed", r.Verdict)
	assert.NotZero(t, r.Reported.Proven, "a report was settled")
}

// TestChannels: the same for merchants who use one channel only.
func TestChannels(t *testing.T) {
	t.Parallel()
	if racing.On {
		t.Skip("SKIPPED: these merchants run the code of TestTorture's; make test runs them without the race detector")
	}
	for name, channel := range map[string]inbox.Channel{"poll": inbox.ChannelPoll, "webhook": inbox.ChannelWebhook} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := usual("sqlite")
			p.Channel, p.Rate, p.Silence = channel, 40, 0
			r := run(t, 41, 6*time.Second, p)
			t.Log("\n" + r.String())
			assert.Equal(t, "passed", r.Verdict)
			assert.NotZero(t, r.Granted)
			assert.Equal(t, channel == inbox.ChannelPoll, r.Reported.Unclean > 0, "a killed poller leaves a line")
			assert.Equal(t, channel == inbox.ChannelWebhook, r.Customers["repeated webhooks"] > 0)
		})
	}
}
