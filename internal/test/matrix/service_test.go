package matrix_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/depositpay/depositpay-go/banks"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "test_matrix"

var start = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// service is a mock in one dialect with its clients. by is nil for sockets.
type service struct {
	mock    *mockserver.Server
	client  *payments.Client
	banks   *banks.Client
	by      http.RoundTripper
	hooks   *receiver
	dialect map[string]string // option → value
}

// receiver passes webhooks to the current handler, with or without a socket.
type receiver struct{ http.Handler }

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.Handler.ServeHTTP(w, req) }

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	in.RemoteAddr = "127.0.0.1:1"
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, in)
	return rec.Result(), nil
}

func options(d mockserver.Dialect) map[string]string {
	values := map[string]string{}
	for _, o := range mockserver.DialectOptions() {
		values[o.Name] = o.Values[0]
	}
	for word := range strings.SplitSeq(d.String(), ",") {
		if name, value, isPair := strings.Cut(word, "="); isPair {
			values[name] = value
		}
	}
	return values
}

// direct returns a service without sockets, for a synctest bubble. The caller closes it.
func direct(t *testing.T, d mockserver.Dialect, change ...func(*mockserver.Config)) *service {
	t.Helper()
	s := &service{hooks: &receiver{http.NotFoundHandler()}, dialect: options(d)}
	s.start(t, d, "http://127.0.0.1/hook", s.hooks, change...)
	s.by = s.mock.Transport()
	s.connect(t)
	return s
}

// inBubble runs test in a synctest bubble with a direct service.
func inBubble(t *testing.T, d mockserver.Dialect, test func(*testing.T, *service), change ...func(*mockserver.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := direct(t, d, change...)
		defer s.close()
		test(t, s)
	})
}

// overLoopback returns a service on real sockets in both directions.
func overLoopback(t *testing.T, d mockserver.Dialect) *service {
	t.Helper()
	s := &service{hooks: &receiver{http.NotFoundHandler()}, dialect: options(d)}
	hooks := httptest.NewServer(s.hooks)
	t.Cleanup(hooks.Close)
	s.start(t, d, hooks.URL, nil)
	t.Cleanup(s.close)
	require.NoError(t, s.mock.Start())
	s.connect(t)
	return s
}

func (s *service) start(t *testing.T, d mockserver.Dialect, hookURL string, by http.RoundTripper, change ...func(*mockserver.Config)) {
	t.Helper()
	cfg := mockserver.Config{
		Applications:     []mockserver.Application{{Token: token, WebhookURL: hookURL, Dialect: d}},
		WebhookTransport: by, Clock: mockserver.NewStoppedClock(start),
	}
	for _, f := range change {
		f(&cfg)
	}
	var err error
	s.mock, err = mockserver.New(cfg)
	require.NoError(t, err)
}

func (s *service) connect(t *testing.T) {
	t.Helper()
	s.client = s.clientWith(t, token)
	var err error
	s.banks, err = banks.New(banks.Config{BaseURL: s.mock.URL(), Token: token, Transport: s.by})
	require.NoError(t, err)
}

func (s *service) clientWith(t *testing.T, token string) *payments.Client {
	t.Helper()
	client, err := payments.New(payments.Config{BaseURL: s.mock.URL(), Token: token, Transport: s.by, MaxRetries: -1})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func (s *service) close() {
	s.banks.CloseIdleConnections()
	_ = s.mock.Close() // always nil
}

func (s *service) is(option, value string) bool { return s.dialect[option] == value }

// status returns the HTTP status of an error.
func (s *service) status(fitting int) int {
	if s.is("status", "4xx") {
		return fitting
	}
	return http.StatusOK
}

func (s *service) create(t *testing.T, req payments.CreateRequest) uuid.UUID {
	t.Helper()
	created, err := s.client.Create(t.Context(), req)
	require.NoError(t, err)
	return created.PayToken
}

// deposit pays and returns once the webhook has been answered.
func (s *service) deposit(t *testing.T, id uuid.UUID, d mockserver.Deposit) {
	t.Helper()
	_, err := s.mock.Deposit(id.String(), d)
	require.NoError(t, err)
	s.mock.Advance(0)
}

var quiet = slog.New(slog.DiscardHandler)

// untilEmpty is a client that stops its poller when no payment is waiting.
type untilEmpty struct {
	*payments.Client
	stop context.CancelFunc
}

func (u untilEmpty) Next(ctx context.Context) (payments.Payment, error) {
	p, err := u.Client.Next(ctx)
	if err != nil {
		u.stop()
	}
	return p, err
}
