package pgwire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// connection is a client's connection and the one that the proxy has to the server for it.
type connection struct {
	*conversation
	number         int
	client, server net.Conn
	toClient       *bufio.Writer
	toServer       *bufio.Writer
	backend        *pgproto3.Backend  // reads what the client says
	frontend       *pgproto3.Frontend // reads what the server says

	stalling sync.Once
	stalled  chan struct{}
	closing  sync.Once
}

func newConnection(p *Proxy, client, server net.Conn) *connection {
	c := &connection{conversation: newConversation(p), client: client, server: server, stalled: make(chan struct{}),
		toClient: bufio.NewWriter(client), toServer: bufio.NewWriter(server)}
	c.backend = pgproto3.NewBackend(flushing{client, c.toServer}, nil)
	c.frontend = pgproto3.NewFrontend(flushing{server, c.toClient}, nil)
	return c
}

// flushing sends what was forwarded before it waits for more.
type flushing struct {
	from io.Reader
	to   *bufio.Writer
}

func (f flushing) Read(p []byte) (int, error) {
	if err := f.to.Flush(); err != nil {
		return 0, err
	}
	return f.from.Read(p)
}

func (c *connection) close() {
	c.closing.Do(func() { _, _ = c.client.Close(), c.server.Close() })
}

type encoder interface {
	Encode(to []byte) ([]byte, error)
}

func forward(msg encoder, to *bufio.Writer) error {
	bytes, err := msg.Encode(nil)
	if err != nil {
		return err
	}
	_, err = to.Write(bytes)
	return err
}

var errCancelled = errors.New("pgwire: it was a request to cancel, and is forwarded")

// handshake forwards until the server is ready for the first query.
func (c *connection) handshake() error {
	if err := c.startup(); err != nil {
		return err
	}
	for {
		msg, err := c.frontend.Receive()
		if err != nil {
			return err
		}
		if err := forward(msg, c.toClient); err != nil {
			return err
		}
		switch msg.(type) {
		case *pgproto3.ReadyForQuery:
			return c.toClient.Flush()
		case *pgproto3.ErrorResponse:
			return errors.Join(errors.New("pgwire: the server refused the connection"), c.toClient.Flush())
		case *pgproto3.AuthenticationCleartextPassword, *pgproto3.AuthenticationMD5Password, *pgproto3.AuthenticationSASL, *pgproto3.AuthenticationSASLContinue:
			if err := c.password(); err != nil {
				return err
			}
		}
	}
}

// startup forwards how the connection begins. Encryption is declined.
func (c *connection) startup() error {
	for {
		msg, err := c.backend.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		switch msg.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := c.client.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		}
		if err := errors.Join(forward(msg, c.toServer), c.toServer.Flush()); err != nil {
			return err
		}
		if _, cancel := msg.(*pgproto3.CancelRequest); cancel {
			_, _ = c.server.Read(make([]byte, 1)) // its end
			return errCancelled
		}
		return nil
	}
}

func (c *connection) password() error {
	if err := c.backend.SetAuthType(c.frontend.GetAuthType()); err != nil {
		return err
	}
	if err := c.toClient.Flush(); err != nil {
		return err
	}
	msg, err := c.backend.Receive()
	if err != nil {
		return err
	}
	return errors.Join(forward(msg, c.toServer), c.toServer.Flush())
}

// fromClient forwards what the client says.
func (c *connection) fromClient() {
	defer c.close()
	for {
		msg, err := c.backend.Receive()
		if err != nil {
			c.outlive()
			return
		}
		if !c.pass(c.sent(c.number, msg), c.toServer, func() error { return forward(msg, c.toServer) }) {
			return
		}
	}
}

// fromServer forwards what the server says, one whole answer at a time.
func (c *connection) fromServer() {
	defer c.close()
	var held []answer
	for {
		msg, err := c.frontend.Receive()
		if err != nil {
			c.deliver(held) // as the server's last words
			_ = c.toClient.Flush()
			c.outlive()
			return
		}
		a, whole := c.received(c.number, msg)
		if a.bytes, err = msg.Encode(nil); err != nil {
			return
		}
		if held = append(held, a); !whole {
			continue
		}
		if !c.deliver(held) {
			return
		}
		held = held[:0]
	}
}

func (c *connection) deliver(answers []answer) bool {
	for _, a := range answers {
		ok := c.pass(a.finished(), c.toClient, func() error {
			_, err := c.toClient.Write(a.bytes)
			return err
		})
		if !ok {
			return false
		}
	}
	return true
}

// pass does with a message what the hook says, and reports whether the connection goes on.
func (c *connection) pass(m Message, to *bufio.Writer, forward func() error) bool {
	select {
	case <-c.stalled:
		return true // and nothing is forwarded
	default:
	}
	switch c.proxy.hook(m) {
	case CutBefore:
		if m.From == Server { // what came before it arrives
			_ = to.Flush()
		}
		c.cut()
		return false
	case CutAfter:
		if forward() == nil && to.Flush() == nil {
			c.cut()
		}
		return false
	case Stall:
		c.stalling.Do(func() { close(c.stalled) })
		return true
	case Pass:
	}
	return forward() == nil
}

// cut ends the connection such that what was forwarded is not lost: a reset would make the
// client's system drop what the client has not read.
func (c *connection) cut() {
	_ = c.server.Close()
	if half, ok := c.client.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		// Until the client has closed its side; anyone who else reads from it ends by that, too.
		_ = c.client.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.Copy(io.Discard, c.client)
	}
	c.close()
}

// outlive keeps one side of a stalled connection for a while when the other one has gone,
// since nobody is told.
func (c *connection) outlive() {
	select {
	case <-c.stalled:
	default:
		return
	}
	select {
	case <-c.proxy.closed:
	case <-time.After(c.proxy.stallFor):
	}
}
