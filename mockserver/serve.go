package mockserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// closeGrace is how long Close lets answers that are under way end. It is short,
// because a connection that a client opened ahead of use counts as one too.
const closeGrace = 50 * time.Millisecond

// Start listens on [Config.Addr] and serves in the background until
// [Server.Close]. It returns once connections are accepted, and may be called
// once. The error is the system's, such as a port that is taken.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
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
// more. It returns when no goroutine of the server is left. What the server knows
// can still be read. Calling it again, or without Start, is fine; the error is
// always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		for a := range s.flying {
			s.finish(a.timeout.delivery, a, outcome{failure: errClosed})
		}
		if s.timer != nil {
			s.timer.Stop()
		}
		s.changed()
	}
	server := s.http
	s.faults.close()
	s.mu.Unlock()
	if server != nil {
		s.shutdown(server)
	}
	s.running.Wait()
	return nil
}

func (s *Server) shutdown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // a client that holds its connection does not hold us
	}
}
