package mockserver_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func generation(s *mockserver.Server) uint64 { return s.Generation() }

func await(t *testing.T, s *mockserver.Server, seen uint64) uint64 {
	t.Helper()
	generation, ok := s.AwaitChange(t.Context(), seen)
	require.True(t, ok)
	return generation
}

func TestEveryChangeIsNoted(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(500)))
	var id string
	var product mockserver.Product
	for i, change := range []func(){
		func() { id = create(t, s, `"amount":1`) },
		func() { _, _ = s.GivePayer(id, "Kim", 0) },
		func() { deposit(t, s, id, 1); s.Advance(0) },
		func() { assert.NoError(t, s.DeliverNow(id)); s.Advance(0) },
		func() { assert.NoError(t, s.Resend(id)); s.Advance(0) },
		func() { s.Advance(1) },
		func() { poll(t, s) },
		func() { assert.NoError(t, s.SetWebhook(s.Token(), "")) },
		func() { assert.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_b"})) },
		func() { product, _ = s.SaveProduct(mockserver.Product{Name: "p", Price: 1}) },
		func() { _, _ = s.SaveStoreUser(mockserver.StoreUser{ID: "u", Name: "u"}) },
		func() { _, _ = s.Buy(product.ID, "u") },
		func() { assert.NoError(t, s.DeleteProduct(product.ID)) },
	} {
		before := s.Generation()
		change()
		assert.Greater(t, s.Generation(), before, "change %d", i)
	}
	before := s.Generation()
	poll(t, s)
	s.Payments()
	assert.Equal(t, before, s.Generation(), "an empty poll and a look change nothing")
}

func TestAwaitChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := mockserver.New(mockserver.Config{Clock: mockserver.NewStoppedClock(start)})
		require.NoError(t, err)
		now := s.Generation()
		assert.Equal(t, now, await(t, s, now-1), "a missed change is reported at once")

		var told sync.WaitGroup
		heard := make([]uint64, 3)
		for i := range heard {
			told.Go(func() { heard[i] = await(t, s, now) })
		}
		synctest.Wait()
		assert.Equal(t, []uint64{0, 0, 0}, heard, "they wait")
		create(t, s, "")
		told.Wait()
		for _, generation := range heard {
			assert.Greater(t, generation, now)
		}

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool, 2)
		wait := func(ctx context.Context) {
			_, ok := s.AwaitChange(ctx, s.Generation())
			ended <- ok
		}
		go wait(ctx)
		synctest.Wait()
		cancel()
		assert.False(t, <-ended)
		go wait(t.Context())
		synctest.Wait()
		require.NoError(t, s.Close())
		assert.False(t, <-ended, "a closed server changes no more")
		_, ok := s.AwaitChange(t.Context(), s.Generation())
		assert.False(t, ok, "nor does it let anybody wait")
	})
}
