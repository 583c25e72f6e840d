//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// replica is a shop in a process of its own.
type replica struct {
	t    *testing.T
	url  *url.URL
	cmd  *exec.Cmd
	out  bytes.Buffer
	dead atomic.Bool
}

func startReplicas(t *testing.T, dsn string, mock *mockserver.Server, n int) []*replica {
	t.Helper()
	var all []*replica
	for range n {
		addr := freeAddress(t)
		r := &replica{t: t, url: &url.URL{Scheme: "http", Host: addr}}
		r.cmd = exec.Command(os.Args[0], "--addr", addr, "--postgres", dsn)
		r.cmd.Env = append(os.Environ(), envChild+"=1", envURL+"="+mock.URL(), envCheckout+"="+mock.CheckoutURL(),
			envToken+"="+mock.Token(), envPassword+"="+testPassword, envHook+"="+secretOfReplicas)
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
		require.NoError(t, r.cmd.Start())
		t.Cleanup(r.kill)
		all = append(all, r)
	}
	for _, r := range all {
		require.Eventually(t, r.ready, patience, tick, "the replica does not come up")
	}
	return all
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

func (r *replica) ready() bool {
	resp, err := http.Get(r.url.String() + "/healthz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// kill ends the process without a chance to do anything.
func (r *replica) kill() {
	if r.dead.CompareAndSwap(false, true) {
		_ = r.cmd.Process.Signal(syscall.SIGKILL)
		_ = r.cmd.Wait()
	}
}

// stop lets the process end by itself, which it must do well.
func (r *replica) stop() {
	require.True(r.t, r.dead.CompareAndSwap(false, true))
	require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(r.t, r.cmd.Wait(), "%s", &r.out)
}

// roundRobin spreads requests over the replicas, in turn, the dead one included, as a
// load balancer does that has not noticed yet.
func roundRobin(t *testing.T, replicas []*replica) string {
	t.Helper()
	var turn atomic.Int64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(replicas[int(turn.Add(1))%len(replicas)].url)
			p.Out.Host = p.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprint("bad gateway: ", err), http.StatusBadGateway)
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 32},
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: proxy}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	t.Cleanup(func() {
		_ = server.Shutdown(context.Background())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
		proxy.Transport.(*http.Transport).CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + ln.Addr().String()
}
