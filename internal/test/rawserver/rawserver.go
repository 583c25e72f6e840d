// Package rawserver is an HTTP/1.1 server for tests that answers with the exact
// bytes, and ends connections in the exact way, that a test asks for: whole, cut
// anywhere, by FIN, by RST, or never. It counts what it read.
package rawserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// End is what happens to the connection after the response bytes.
type End int

// The values of End.
const (
	Keep End = iota // serve the next request on it
	FIN             // close
	RST             // reset
	Hang            // send nothing more until the peer or Close ends it
)

// Action answers one request.
type Action struct {
	Bytes []byte
	End   End
}

// Request is what the server read.
type Request struct {
	Conn   int // number of the connection, from 1
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   string
}

// Server is a running server. Use Listen.
type Server struct {
	ln      net.Listener
	handler func(n int, r Request) Action
	wg      sync.WaitGroup

	mu       sync.Mutex
	requests []Request
	conns    map[net.Conn]struct{}
	opened   int
}

// Listen serves on a loopback port until Close. handler gets the number of the
// request, from 1; calls do not overlap.
func Listen(handler func(n int, r Request) Action) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return serve(ln, handler), nil
}

func serve(ln net.Listener, handler func(n int, r Request) Action) *Server {
	s := &Server{ln: ln, handler: handler, conns: map[net.Conn]struct{}{}}
	s.wg.Go(s.accept)
	return s
}

// Addr is the host and port.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Requests returns what was read so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Opened is the number of connections accepted so far.
func (s *Server) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Close ends all connections and waits for their goroutines.
func (s *Server) Close() {
	_ = s.ln.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.opened++
		n := s.opened
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() { s.talk(c, n) })
	}
}

func (s *Server) talk(c net.Conn, conn int) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a := s.handle(Request{
			Conn: conn, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
			Header: r.Header, Body: string(body),
		})
		if _, err := c.Write(a.Bytes); err != nil {
			return
		}
		if !s.goOn(c, a.End) {
			return
		}
	}
}

func (s *Server) handle(r Request) Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return s.handler(len(s.requests), r)
}

func (s *Server) goOn(c net.Conn, end End) bool {
	switch end {
	case Keep:
		return true
	case RST:
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
	case Hang:
		// Reading notices when the peer gives up; Close ends it too.
		_, _ = io.Copy(io.Discard, c)
	case FIN:
	}
	return false
}

// JSON is a whole answer with Content-Length.
func JSON(status int, body string, headers ...string) []byte {
	out := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
		status, http.StatusText(status), len(body))
	for _, h := range headers {
		out += h + "\r\n"
	}
	return []byte(out + "\r\n" + body)
}
