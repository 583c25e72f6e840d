package payments_test

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/internal/test/rawserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken = "test_payments"

var (
	id1 = uuid.MustParse("7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c01")
	id2 = uuid.MustParse("7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c02")
	id3 = uuid.MustParse("7f0c8f5e-2f50-4a53-9d6e-0d2a6a7b1c03")
)

// record is a record of the default dialect.
func record(id uuid.UUID) string {
	return `{"id":"` + id.String() + `","identifier":"order-1","status":"COMPLETE","method":"DEPOSIT","paid_amount":10000,"verified_ts":"2023-05-01T12:30:00Z"}`
}

const noPayment = `{"error":"NO_PROCESSED_PAYMENT","error_msg":"no payment is waiting"}`

func listen(t *testing.T, handler func(n int, r rawserver.Request) rawserver.Action) *rawserver.Server {
	t.Helper()
	s, err := rawserver.Listen(handler)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// newClient makes a Client of cfg, with a quick backoff, that leaves no connection behind.
func newClient(t *testing.T, cfg payments.Config) *payments.Client {
	t.Helper()
	if cfg.Token == "" && cfg.TokenSource == nil {
		cfg.Token = testToken
	}
	if cfg.RetryWaitMax == 0 {
		cfg.RetryWaitMin, cfg.RetryWaitMax = 1, 1000
	}
	c, err := payments.New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// connect starts a server and makes a Client of cfg that uses it.
func connect(t *testing.T, cfg payments.Config, handler func(n int, r rawserver.Request) rawserver.Action) (*payments.Client, *rawserver.Server) {
	t.Helper()
	s := listen(t, handler)
	cfg.BaseURL = "http://" + s.Addr()
	return newClient(t, cfg), s
}

// always is a service that responds to every request alike.
func always(a rawserver.Action) func(int, rawserver.Request) rawserver.Action {
	return func(int, rawserver.Request) rawserver.Action { return a }
}

func asError(t *testing.T, err error) *payments.Error {
	t.Helper()
	e, ok := errors.AsType[*payments.Error](err)
	require.True(t, ok, "%v", err)
	return e
}

func validRequest() payments.CreateRequest {
	return payments.CreateRequest{Title: "Sword", Identifier: "order-1", Amount: payments.NewAmount(10000)}
}

// closer accepts connections and closes them at once.
type closer struct {
	net.Listener
	n atomic.Int64
}

func (c *closer) count() int { return int(c.n.Load()) }

func closingListener(t *testing.T) *closer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &closer{Listener: ln}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.n.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return c
}
