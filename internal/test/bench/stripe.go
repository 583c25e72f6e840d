//go:build unix

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	stripeMock  = "github.com/stripe/stripe-mock@v0.203.0"
	stripeGoal  = 4
	stripeCalls = 4000
)

// benchStripe compares the mock with the field's best-known payment mock, on a POST that
// creates something and a GET that returns something. stripe-mock answers from
// fixtures and keeps no state.
func benchStripe(rounds int) ([]result, error) {
	theirs, stop, err := startStripe()
	if err != nil {
		return nil, err
	}
	defer stop()
	const charge = "amount=10000&currency=krw&source=tok_visa"
	head := "Host: 127.0.0.1\r\nAuthorization: Bearer sk_test_1\r\n"
	post := fmt.Sprintf("POST /v1/charges HTTP/1.1\r\n%sContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", head, len(charge), charge)
	get := "GET /v1/charges/ch_1 HTTP/1.1\r\n" + head + "\r\n"
	var results []result
	for _, c := range []struct {
		name, ours, want, theirs string
		preload                  int
	}{
		{"mock POST /payments", postPayment(), `"payToken"`, post, 0},
		{"mock GET /callback/rest", getRest(), `"paid_amount"`, get, (rounds + 1) * mockCalls},
	} {
		r, err := stripePair(rounds, c.name, c.ours, c.want, theirs, c.theirs, c.preload)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func stripePair(rounds int, name, ourRequest, want, theirBase, theirRequest string, preload int) (result, error) {
	mock, err := startServer("mock", preload)
	if err != nil {
		return result{}, err
	}
	defer mock.stop()
	ours, err := newLoad(mock.base, []byte(ourRequest), want)
	if err != nil {
		return result{}, err
	}
	defer ours.close()
	theirs, err := newLoad(theirBase, []byte(theirRequest), `"amount"`)
	if err != nil {
		return result{}, err
	}
	defer theirs.close()
	a, b, err := pair(rounds, stripeCalls, manyCallers, ours.call, theirs.call)
	if err != nil {
		return result{}, err
	}
	return result{
		name: name + ", 64 connections: rate ÷ stripe-mock's", least: true, goal: stripeGoal,
		ratios: ratios(b, a, byWall),
		note:   fmt.Sprintf("%.0f/s against %.0f/s", 1e9/mean(a, byWall), 1e9/mean(b, byWall)),
	}, nil
}

// startStripe builds stripe-mock from the module proxy and starts it on a free port.
func startStripe() (base string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "stripe-mock")
	if err != nil {
		return "", nil, err
	}
	build := exec.Command("go", "install", stripeMock) //nolint:noctx // it ends by itself
	build.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := build.CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("build %s: %w: %s", stripeMock, err, out), os.RemoveAll(dir))
	}
	addr, err := freePort()
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := exec.Command(filepath.Join(dir, "stripe-mock"), "-http-addr", addr) //nolint:gosec,noctx // just built; stopped below
	if err := server.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	}
	if err := listening(addr); err != nil {
		stop()
		return "", nil, err
	}
	return "http://" + addr, stop, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listening waits until something accepts connections at addr.
func listening(addr string) (err error) {
	var c net.Conn
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if c, err = net.DialTimeout("tcp", addr, time.Second); err == nil { //nolint:noctx // it has a timeout
			return c.Close()
		}
		<-time.After(20 * time.Millisecond)
	}
	return fmt.Errorf("stripe-mock at %s: %w", addr, err)
}
