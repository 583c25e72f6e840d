package webhook_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

func TestConfigValidation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*webhook.Config)
		want   string
	}{
		"ok":                {func(*webhook.Config) {}, ""},
		"no client":         {func(c *webhook.Config) { c.Client = nil }, "Config.Client: is required"},
		"no sink":           {func(c *webhook.Config) { c.Sink = nil }, "Config.Ledger: it or Config.Sink is required"},
		"sink and ledger":   {func(c *webhook.Config) { c.Ledger = &ledger{} }, "Config.Sink: Config.Ledger is set as well"},
		"budget negative":   {func(c *webhook.Config) { c.Budget = -1 }, "Config.Budget: -1ns is not above 0 and below 10s"},
		"budget too long":   {func(c *webhook.Config) { c.Budget = 10 * time.Second }, "Config.Budget: 10s"},
		"budget long":       {func(c *webhook.Config) { c.Budget = 10*time.Second - 1 }, ""},
		"concurrent":        {func(c *webhook.Config) { c.MaxConcurrent = -1 }, "Config.MaxConcurrent: -1 is negative"},
		"rate not a number": {func(c *webhook.Config) { c.ConfirmRate = math.NaN() }, "Config.ConfirmRate: is not a number"},
		"rate infinite":     {func(c *webhook.Config) { c.ConfirmRate = math.Inf(1) }, ""},
		"rate tiny":         {func(c *webhook.Config) { c.ConfirmRate = 1e-300 }, ""},
		"burst":             {func(c *webhook.Config) { c.ConfirmBurst = -1 }, "Config.ConfirmBurst: -1 is negative"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := webhook.Config{Client: newService(), Sink: &sink{}}
			test.change(&cfg)
			_, err := webhook.New(cfg)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
}
