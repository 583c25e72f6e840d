// Package pgwire is a proxy in front of a real PostgreSQL that cuts connections exactly
// where a test asks for it. It is for tests only.
//
//	proxy, err := pgwire.New(db.DSN, func(m pgwire.Message) pgwire.Action {
//		if m.From == pgwire.Server && m.Kind == "CommandComplete" && m.Rows > 0 {
//			return pgwire.CutBefore // the rows arrive, the end of the answer does not
//		}
//		return pgwire.Pass
//	})
//	pool, err := sql.Open("pgx", proxy.DSN())
//
// The hook sees every message of every connection after the handshake, with the text of
// the statement that the message is about, also if the client prepared that statement
// long before.
//
// # When the server has committed
//
// The proxy holds an answer back until the server is ready for the next query, then calls
// the hook for each message of that answer. So a cut before or after any message of an
// answer comes after the server has finished the statement, and a statement outside a
// transaction is committed by then. A cut before a message of the client comes before the
// server has seen that message. A cut after a message of the client leaves open whether
// the server carries it out.
//
// The proxy holds nothing back for a client that sends Flush, or during COPY.
package pgwire

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Side is who has sent a message.
type Side int

// The sides.
const (
	Client Side = iota
	Server
)

// Action is what becomes of a message.
type Action int

// What a hook may return.
const (
	Pass      Action = iota
	CutBefore        // the connection ends, and the message is not forwarded
	CutAfter         // the message is forwarded, and the connection ends
	Stall            // from this message on nothing is forwarded, and nobody is told
)

// Message is a message on its way.
type Message struct {
	Conn int // number of the connection, from 1
	From Side
	Kind string // the protocol's name of the message: Query, Parse, Bind, Execute, DataRow, …

	// Statement is the text of the statement that the message is about; "" if there is none.
	Statement string
	// Before is the statement before that one in the same transaction; "" outside of one.
	Before string
	// Nth is which execution of Statement this is, over all connections, from 1; 0 if the
	// statement is only prepared. Ends of transactions are counted by Statement and Before.
	Nth int

	// Of a message of the server:
	Row  int    // which row of the answer a DataRow is, from 1
	Rows int    // how many rows the whole answer has
	Tag  string // of the whole answer's CommandComplete, as "UPDATE 3"
}

// Name tells statements apart: it is the text, and for the end of a transaction the text
// of the statement before, too.
func (m Message) Name() string { return nameOf(m.Statement, m.Before) }

func nameOf(statement, before string) string {
	switch strings.ToLower(statement) {
	case "commit", "rollback":
		return statement + " after " + before
	}
	return statement
}

// Affected is how many rows the whole answer says it is about: the number in Tag.
func (m Message) Affected() int {
	words := strings.Fields(m.Tag)
	if len(words) == 0 {
		return 0
	}
	n, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return 0 // "BEGIN" and the like
	}
	return n
}

// Proxy is a running proxy. Use New.
type Proxy struct {
	hook     func(Message) Action
	listener net.Listener
	server   *pgx.ConnConfig
	running  sync.WaitGroup
	closed   chan struct{}
	stallFor time.Duration

	mu    sync.Mutex
	conns map[*connection]struct{}
	count int
	runs  map[string]int // by Name
}

// New starts a proxy in front of the server of dsn, on a loopback port. The hook is called
// by several goroutines at once, one for each direction of each connection.
func New(dsn string, hook func(Message) Action) (*Proxy, error) {
	server, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // there is nothing to cancel
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		hook: hook, listener: listener, server: server, closed: make(chan struct{}), stallFor: stallFor,
		conns: map[*connection]struct{}{}, runs: map[string]int{},
	}
	p.running.Go(p.accept)
	return p, nil
}

// stallFor is how long a stalled connection to the server stays. The server cannot see
// that its client is gone.
const stallFor = 20 * time.Second

// DSN leads to the same database through the proxy.
func (p *Proxy) DSN() string {
	query := url.Values{"sslmode": {"disable"}}
	for name, value := range p.server.RuntimeParams {
		query.Set(name, value)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(p.server.User, p.server.Password), Host: p.listener.Addr().String(),
		Path: "/" + p.server.Database, RawQuery: query.Encode()}
	return u.String()
}

// Close ends the proxy and its connections, and waits for their goroutines.
func (p *Proxy) Close() error {
	p.mu.Lock()
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	for c := range p.conns {
		c.close()
	}
	p.mu.Unlock()
	err := p.listener.Close()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // Close
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) dial() (net.Conn, error) {
	address, network := net.JoinHostPort(p.server.Host, strconv.Itoa(int(p.server.Port))), "tcp"
	if strings.HasPrefix(p.server.Host, "/") {
		address, network = p.server.Host+"/.s.PGSQL."+strconv.Itoa(int(p.server.Port)), "unix"
	}
	return net.DialTimeout(network, address, 10*time.Second) //nolint:noctx // there is nothing to cancel
}

// serve is one connection of a client, with its own connection to the server.
func (p *Proxy) serve(client net.Conn) {
	server, err := p.dial()
	if err != nil {
		// The server is away. What the client has said is read, or closing would be a reset.
		_ = client.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = client.Read(make([]byte, 1<<12))
		_ = client.Close()
		return
	}
	c := newConnection(p, client, server)
	if !p.enter(c) {
		c.close()
		return
	}
	defer p.leave(c)
	defer c.close()
	if err := c.handshake(); err != nil {
		return // the client gave up, or the server did
	}
	var both sync.WaitGroup
	both.Go(c.fromClient)
	both.Go(c.fromServer)
	both.Wait()
}

func (p *Proxy) enter(c *connection) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return false
	default:
	}
	p.count++
	c.number = p.count
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) leave(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// execution counts an execution.
func (p *Proxy) execution(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[name]++
	return p.runs[name]
}
