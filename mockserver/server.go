package mockserver

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/direct"
)

// Server is one payment service in memory, with its own applications, payments,
// webhook deliveries and clock. Servers share nothing. All methods may be called
// at once from any number of goroutines.
type Server struct {
	cfg   Config
	clock clock
	log   *requestLog

	dialects atomic.Pointer[dialects]
	faults   *faults

	// moving is held by the one call that moves the clock.
	moving chan struct{}

	mu          sync.Mutex // guards everything below
	apps        map[string]*application
	appOrder    []*application // in the order of creation
	payments    map[string]*payment
	order       []*payment // in the order of creation
	storedBytes int
	phone       phone
	products    []*product
	users       []StoreUser
	changes     changes

	// expiring is the place in order of the first payment that may still expire,
	// and expiry the event of that.
	expiring int
	expiry   *event

	deliveries []*delivery // in the order of creation
	responses  responses
	events     eventQueue
	flying     map[*attempt]struct{}
	timer      *time.Timer // real clock only
	closed     bool

	listener net.Listener
	http     *http.Server

	running sync.WaitGroup // attempts and the listener's goroutine
}

// New makes a server that is complete but listens nowhere: use it through
// [Server.Handler] or [Server.Transport], or call [Server.Start]. The error names
// the field of cfg that is wrong. Call [Server.Close] when done.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg:      cfg,
		log:      newRequestLog(cfg.MaxRequests),
		faults:   newFaults(),
		moving:   make(chan struct{}, 1),
		apps:     make(map[string]*application, len(cfg.Applications)),
		payments: make(map[string]*payment),
		flying:   make(map[*attempt]struct{}),
	}
	s.clock.begin(cfg.Clock)
	for i, app := range cfg.Applications {
		if s.apps[app.Token] != nil {
			return nil, fmt.Errorf("mockserver: Config.Applications[%d]: the same token is given twice", i)
		}
		if _, problem := s.saveApplication(app); problem != nil {
			return nil, fmt.Errorf("mockserver: Config.Applications[%d]: %s", i, problem.Message)
		}
	}
	return s, nil
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

// SetWebhook sets the webhook URI of the application that has the token; an empty
// address removes it. The address is http:// or https:// and names a loopback
// host, unless [Config.AllowRemote] is set. It counts for payments that reach
// PROGRESS, and for resends, from now on; a run of attempts under way keeps its
// address. The error is an [*Error].
func (s *Server) SetWebhook(token, address string) error {
	if problem := s.setWebhook(token, address); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) setWebhook(token, address string) *Error {
	if address != "" {
		if err := checkWebhookURL(address, s.cfg.AllowRemote); err != nil {
			return invalidParameter("url", err.Error())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.application(token)
	if problem == nil {
		app.WebhookURL = address
		s.changed()
	}
	return problem
}

// Transport reaches the server without a socket, under any address: give it to an
// http.Client. It is made for testing/synctest, where a goroutine that waits for
// a socket never counts as idle.
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

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// application finds the application of a token.
func (s *Server) application(token string) (*application, *Error) {
	if app := s.apps[token]; app != nil {
		return app, nil
	}
	return nil, &Error{Code: CodeInvalidToken, Message: "no application has this token; " +
		"send the token of one of the mock's applications"}
}

// payment finds a payment of an application.
func (s *Server) payment(app *application, id string) (*payment, *Error) {
	if p := s.payments[id]; p != nil && p.app == app {
		return p, nil
	}
	return nil, paymentNotFound()
}

// anyPayment finds a payment of any application.
func (s *Server) anyPayment(id string) (*payment, *Error) {
	if p := s.payments[id]; p != nil {
		return p, nil
	}
	return nil, paymentNotFound()
}

func paymentNotFound() *Error {
	return &Error{Code: CodePaymentNotFound, Message: "no payment has this payToken; " +
		"send the payToken of POST /payments or the payment_id of the webhook"}
}

// LogValue keeps the tokens out of structured logs.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String describes the server without its tokens.
func (s *Server) String() string { return fmt.Sprintf("mockserver at %s", s.URL()) }
