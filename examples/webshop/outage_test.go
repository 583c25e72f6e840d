package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/test/pgtest"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestDatabaseAway: a payment that the service hands over while the database crashes is granted when the
// database is back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := pgtest.NewCluster(t)
	w := start(t, func(cfg *settings) { cfg.Postgres = cluster.DSN("postgres") })
	require.NoError(t, w.mock.SetWebhook(w.mock.Token(), ""))
	id, payToken := w.customer().order("cup", 1)
	require.NoError(t, w.mock.AddFault(mockserver.Fault{Operation: "next", Kind: "delay-after", Delay: time.Second}))
	w.pay(payToken, 0)
	require.Eventually(t, func() bool { return w.mock.Payments()[0].Status == mockserver.StatusComplete }, patience, tick)
	require.NoError(t, cluster.Stop("immediate"))
	require.Eventually(t, func() bool { return w.shop.poll.Stats().Unhanded == 1 }, patience, tick, "it lost its lock")
	w.mock.ClearFaults()
	require.NoError(t, cluster.Start())
	require.Eventually(t, func() bool {
		o, err := w.shop.order(t.Context(), id)
		return err == nil && o.Status == paid
	}, patience, tick)
	require.Equal(t, 499, w.left("cup"))
}
