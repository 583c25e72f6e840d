//go:build unix

package torture

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/poller"
)

func (c *shop) poll(ctx context.Context, cfg poller.Config) error {
	cfg.Client, cfg.Logger = c.source(), quiet
	cfg.IntervalMin, cfg.IntervalMax, cfg.BackoffMax = 50*time.Millisecond, 100*time.Millisecond, time.Second
	cfg.OnEvent = func(e poller.Event) {
		if e.Kind == poller.KindAmbiguous {
			child.Say("ambiguous", time.Now().UnixMicro())
		}
	}
	p, err := poller.New(cfg)
	if err != nil {
		return err
	}
	err = p.Run(ctx)
	if unhanded, ok := errors.AsType[*poller.UnhandedError](err); ok { // the database was away: save them, as the guide says
		for _, payment := range unhanded.Payments {
			text, err := json.Marshal(payment)
			if err != nil {
				return err
			}
			child.Say("unhanded", string(text))
		}
		return nil
	}
	return err
}

// takeUnhanded hands over what the process before has saved.
func (c *shop) takeUnhanded(ctx context.Context, s poller.Sink) {
	for _, payment := range c.Unhanded {
		for s.Accept(ctx, payment) != nil && ctx.Err() == nil {
			<-time.After(50 * time.Millisecond)
		}
	}
}

// reconcile says how often everything that is known has been asked for.
func (c *shop) reconcile(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := c.box.Reconcile(ctx); err == nil {
			child.Say("reconciled")
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
