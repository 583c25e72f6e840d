package rawserver

import (
	"context"
	"net"
	"sync"
)

// ListenPipe is Listen without a socket: connections are made by Dial. Goroutines
// that wait on a pipe count as idle in a testing/synctest bubble.
func ListenPipe(handler func(n int, r Request) Action) *Server {
	return serve(&pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}, handler)
}

// Dial connects to a server made by ListenPipe; it has the form of http.Transport.DialContext.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	l := s.ln.(*pipeListener) //nolint:forcetypeassert // misuse is a bug of the test
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
