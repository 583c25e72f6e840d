//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver"
)

// child is a server in a process of its own. It ends when its standard input is
// closed, so it cannot outlive the benchmark.
type child struct {
	base string
	cmd  *exec.Cmd
	in   io.Closer
}

func startServer(kind string, preload int) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-serve", kind, "-preload", strconv.Itoa(preload)) //nolint:gosec,noctx // this very program
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server %s: %w", kind, err), in.Close(), cmd.Wait())
	}
	return &child{base: strings.TrimSpace(line), cmd: cmd, in: in}, nil
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// runServer is the child's side.
func runServer(kind string, preload int) error {
	var handler http.Handler
	switch kind {
	case "bare":
		handler = http.HandlerFunc(canned)
	case "store":
		handler = newStore(preload)
	case "mock":
		return runMock(preload)
	default:
		return fmt.Errorf("unknown server %q", kind)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // at start-up
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		awaitParent()
		_ = server.Close()
	}()
	fmt.Println("http://" + ln.Addr().String())
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func awaitParent() { _, _ = io.Copy(io.Discard, os.Stdin) }

func runMock(preload int) error {
	s, err := mockserver.New(mockserver.Config{Applications: []mockserver.Application{{Token: benchToken}}})
	if err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	c := &http.Client{Transport: s.Transport()}
	for range preload {
		if err := addWaiting(s, c); err != nil {
			return err
		}
	}
	fmt.Println(s.URL())
	awaitParent()
	return s.Close()
}

func addWaiting(s *mockserver.Server, c *http.Client) error {
	resp, err := c.Post(s.URL()+"/payments", "application/json", strings.NewReader(loadBody)) //nolint:noctx // in-process
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var created struct{ PayToken string }
	if err := json.NewDecoder(resp.Body).Decode(&created); err != nil {
		return err
	}
	_, err = s.Deposit(created.PayToken, mockserver.Deposit{})
	return err
}

// canned reads the request and answers what the path asks for: the peer of the
// client's benchmark.
func canned(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, cannedAnswer(r.URL.Path))
}

// store is the bare handler that the mock is compared with: it decodes the JSON,
// stores it in a map under a mutex and answers; a GET takes one out again.
type store struct {
	mu      sync.Mutex
	byID    map[string]rawCreate
	waiting []string
	n       int
}

func newStore(preload int) *store {
	s := &store{byID: map[string]rawCreate{}}
	for range preload {
		s.add(rawCreate{Title: "Sword", Identifier: "order-1", Amount: 10000})
	}
	return s
}

func (s *store) add(c rawCreate) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	id := fmt.Sprintf("7f0c8f5e-2f50-4a53-9d6e-%012d", s.n)
	s.byID[id] = c
	s.waiting = append(s.waiting, id)
	return id
}

func (s *store) take() (string, rawCreate, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return "", rawCreate{}, false
	}
	id := s.waiting[0]
	s.waiting = s.waiting[1:]
	return id, s.byID[id], true
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		var in rawCreate
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"payToken": s.add(in)})
		return
	}
	id, c, ok := s.take()
	if !ok {
		http.Error(w, "empty", http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(rawRecord{
		ID: id, Identifier: c.Identifier, Status: "COMPLETE", Method: "DEPOSIT", PaidAmount: c.Amount,
		VerifiedTS: time.Unix(1_700_000_000, 0).UTC(),
	})
}
