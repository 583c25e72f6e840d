package mockserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
	"github.com/depositpay/depositpay-go/mockserver/internal/schedule"
)

// closeGrace is how long Close waits for responses in progress. It is short, because a
// connection that a client opened ahead of use counts too.
const closeGrace = 50 * time.Millisecond

// Server is one payment service in memory, with its own applications, payments,
// webhook deliveries and clock. Servers share nothing. All methods are safe for
// concurrent use.
type Server struct {
	cfg     Config
	clock   clock
	log     *requestLog
	faults  *faults
	changes changes

	// moving is held by the one call that moves the clock.
	moving chan struct{}

	mu     sync.Mutex // guards everything below; exported methods lock, call one part, unlock
	timers timers
	apps   directory
	book   book
	sender sender
	phone  phone
	store  gameStore

	listener net.Listener
	http     *http.Server

	running sync.WaitGroup // attempts, streams and the listener's goroutine
}

// New makes a server that is complete but listens nowhere: use it through
// [Server.Handler] or [Server.Transport], or call [Server.Start]. The error names
// the field of cfg that is wrong. Call [Server.Close] when done.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if cfg.WebhookTransport == nil {
		cfg.WebhookTransport = newWebhookTransport()
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: newRequestLog(cfg.MaxRequests), faults: newFaults(), moving: make(chan struct{}, 1)}
	s.clock.begin(cfg.Clock)
	s.assemble()
	for i, app := range cfg.Applications {
		if s.apps.byToken[app.Token] != nil {
			return nil, fmt.Errorf("mockserver: Config.Applications[%d]: the same token is given twice", i)
		}
		if _, problem := s.apps.save(app); problem != nil {
			return nil, fmt.Errorf("mockserver: Config.Applications[%d]: %s", i, problem.Message)
		}
	}
	return s, nil
}

// assemble gives each part of the state the parts that it uses.
func (s *Server) assemble() {
	tokens := &s.log.tokens
	s.timers = timers{mu: &s.mu, clock: &s.clock}
	s.apps.cfg, s.apps.changes, s.apps.tokens, s.apps.byToken = &s.cfg, &s.changes, tokens, map[string]*application{}
	s.book = book{
		cfg: &s.cfg, clock: &s.clock, timers: &s.timers, changes: &s.changes, tokens: tokens, webhooks: &s.sender,
		byID: map[string]*payment{},
	}
	s.sender = sender{
		cfg: &s.cfg, clock: &s.clock, timers: &s.timers, faults: s.faults, tokens: tokens, book: &s.book,
		mu: &s.mu, running: &s.running, inFlight: map[*attempt]struct{}{}, planned: map[*schedule.Timer]*attempt{},
	}
	s.phone = phone{
		cfg: &s.cfg, clock: &s.clock, changes: &s.changes, apps: &s.apps, book: &s.book,
		byID: map[string]*upload{}, seen: map[repeatKey]*upload{},
	}
	s.store = gameStore{apps: &s.apps, book: &s.book, changes: &s.changes}
}

// URL is the base address of the service ({base_url} in the interface), without
// a slash at the end. Before [Server.Start] it is "http://127.0.0.1", which
// [Server.Transport] serves as well as any other. Where the server listens on every
// address of the machine (0.0.0.0), it is the one for programs on the same machine.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return "http://127.0.0.1"
	}
	return "http://" + reachable(s.listener.Addr())
}

// CheckoutURL is the checkout base address ({checkout_url} in the interface): a
// customer's link is CheckoutURL, a slash and the payToken.
func (s *Server) CheckoutURL() string { return s.URL() + "/pay" }

// Token is the API token of the first application.
func (s *Server) Token() string { return s.cfg.Applications[0].Token }

// Now is the time of the server's clock.
func (s *Server) Now() time.Time { return s.clock.now() }

// Requests returns the API requests that the server has seen, oldest first, up to
// [Config.MaxRequests]. Pages and control requests (/_mock) are not among them.
func (s *Server) Requests() []Request { return s.log.list() }

// Applications returns a copy of every application, those of
// [Config.Applications] first, with their tokens.
func (s *Server) Applications() []Application {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Application, len(s.apps.list))
	for i, app := range s.apps.list {
		list[i] = app.Application
	}
	return list
}

// SaveApplication makes an application, or replaces the settings of the one that
// has the same Token. An empty Name keeps the present one; every other empty field
// takes its default. At most 100 applications are kept. The error is an [*Error]:
// [CodeInvalidParameter] or [CodeStorageFull].
func (s *Server) SaveApplication(a Application) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, problem := s.apps.save(a)
	return asError(problem)
}

// SetDialect sets the dialect of the application that has the token, from the next
// answer on. A request that names no application (the bank list, a body that is no
// JSON) is answered in the dialect of the first one, an unknown token in the
// default. The error is an [*Error].
func (s *Server) SetDialect(token string, d Dialect) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return asError(s.apps.setDialect(token, d))
}

// Transport reaches the server without a socket, under any address: give it to an
// http.Client. It is made for testing/synctest, where a goroutine that waits for
// a socket never counts as blocked.
//
// It behaves as a connection would: httptrace reports the connection, so that a
// client can tell a request that was sent from one that was not; a request whose
// context ends while the server works on it fails at once, but the server
// finishes what it began; the body of the answer is complete. A [Fault] that ends the
// connection shows as it does with net/http: io.EOF, syscall.ECONNRESET in a
// *net.OpError, or io.ErrUnexpectedEOF from the body.
func (s *Server) Transport() http.RoundTripper {
	return direct.New(s.Handler(), func() error {
		if s.isClosed() {
			return serverClosed()
		}
		return nil
	})
}

// Start listens on [Config.Addr] and serves in the background until
// [Server.Close]. It returns once connections are accepted, and may be called
// once. The error is the system's, such as a port that is taken.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.timers.closed:
		return serverClosed()
	case s.listener != nil:
		return errors.New("mockserver: Start was called before")
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("mockserver: %w", err)
	}
	if host, _, _ := net.SplitHostPort(listener.Addr().String()); !isLoopback(host) {
		s.cfg.Logger.Warn("*** MOCK PAYMENT SERVICE OPEN TO THE NETWORK: anyone who reaches it can complete payments. "+
			"Never use it for real money. ***", "addr", listener.Addr().String())
	}
	s.listener = listener
	s.http = &http.Server{
		Handler:                      s.Handler(),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 5 * time.Minute, // moving the clock may wait for receivers
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               maxBody,
		ErrorLog:                     slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
	s.running.Go(func() { _ = s.http.Serve(listener) })
	return nil
}

// Close stops listening, cuts off the webhook attempts in flight and plans no
// more. It returns when no goroutine of the server is left. Its state
// can still be read. Calling it again, or without Start, is fine; the error is
// always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.timers.closed {
		s.timers.close()
		s.sender.close()
		s.changes.close()
	}
	server := s.http
	s.faults.close()
	s.mu.Unlock()
	if server != nil {
		shutdown(server)
	}
	s.running.Wait()
	return nil
}

func shutdown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // a client that keeps its connection does not delay Close
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timers.closed
}

// LogValue keeps the tokens out of structured logs.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String describes the server without its tokens.
func (s *Server) String() string { return fmt.Sprintf("mockserver at %s", s.URL()) }
