package mockserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]mockserver.Config{
		`Applications[0]: "token"`:                 {Applications: apps("live_x")},
		`Applications[1]: "token"`:                 {Applications: apps("test_a", "test_")},
		"Applications[2]: the same token is given": {Applications: apps("test_a", "test_b", "test_a")},
		"Addr":                           {Addr: "0.0.0.0:0"},
		`Applications[0]: "webhook_url"`: {Applications: []mockserver.Application{{WebhookURL: "http://shop.example/hook"}}},
		"Patience":                       {Patience: -1},
		"MaxPayments":                    {MaxPayments: -1},
		"MaxDeliveries":                  {MaxDeliveries: -1},
		"MaxRequests":                    {MaxRequests: -1},
	} {
		_, err := mockserver.New(cfg)
		assert.ErrorContains(t, err, "mockserver: Config."+field)
	}
	for _, token := range []string{"TEST_x", "test_a b", "test_a&b", "test_a/b", "test_é", "test_" + strings.Repeat("x", 200)} {
		_, err := mockserver.New(mockserver.Config{Applications: apps(token)})
		assert.ErrorContains(t, err, "Applications[0]", token)
	}
	for _, addr := range []string{":0", "192.168.1.1:80", "[::]:0", "shop.example:80", "127.0.0.1", "127.0.0.1:"} {
		_, err := mockserver.New(mockserver.Config{Addr: addr})
		assert.ErrorContains(t, err, "Addr", addr)
	}
}

func TestAllowRemoteLogsAWarning(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := mockserver.RunT(t, mockserver.Config{
		Addr: "0.0.0.0:0", AllowRemote: true, Applications: []mockserver.Application{{WebhookURL: "https://shop.example/hook"}},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, s.SetWebhook(s.Token(), "http://192.168.1.1/"))
	assert.Contains(t, log.String(), "OPEN TO THE NETWORK")
	assert.Contains(t, log.String(), "level=WARN")
}

func TestRunTServesOverASocket(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, s.URL())
	assert.Equal(t, s.URL()+"/pay", s.CheckoutURL())
	assert.Equal(t, "test_demo", s.Token())
	assert.WithinDuration(t, time.Now(), s.Now(), time.Minute)
	status, answer := overSocket(t, s, "/payments", strings.NewReader(`{"token":"test_demo","title":"T","identifier":"i"}`))
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, answer, "payToken")
	require.Error(t, s.Start(), "Start is called once")
	other := mockserver.RunT(t)
	assert.NotEqual(t, s.URL(), other.URL())
	assert.Empty(t, other.Payments(), "servers share nothing")
}

func TestTimestampsOfTheRealClockAreUTC(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	paid(t, s)
	var record struct {
		VerifiedTS time.Time `json:"verified_ts"`
	}
	require.NoError(t, json.Unmarshal([]byte(poll(t, s)), &record))
	assert.WithinDuration(t, time.Now(), record.VerifiedTS, time.Minute)
	_, offset := record.VerifiedTS.Zone()
	assert.Zero(t, offset)
}

func TestConfigIsCopied(t *testing.T) {
	t.Parallel()
	list := apps("test_a")
	s, err := mockserver.New(mockserver.Config{Applications: list})
	require.NoError(t, err)
	list[0].Token = "test_b"
	assert.Equal(t, "test_a", s.Token())
	require.NoError(t, s.Close())
}

// recordingTB is a test that records how it ended.
type recordingTB struct {
	failures []string
	cleanups int
}

func (r *recordingTB) Helper()             {}
func (r *recordingTB) Cleanup(func())      { r.cleanups++ }
func (r *recordingTB) Logf(string, ...any) {}
func (r *recordingTB) Errorf(format string, a ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, a...))
}
func (r *recordingTB) Fatalf(format string, a ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, a...))
}

func TestRunTReportsErrors(t *testing.T) {
	t.Parallel()
	var tb recordingTB
	assert.Nil(t, mockserver.RunT(&tb, mockserver.Config{}, mockserver.Config{}))
	assert.Nil(t, mockserver.RunT(&tb, mockserver.Config{Applications: apps("live")}))
	assert.Len(t, tb.failures, 2)
	assert.Zero(t, tb.cleanups)
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	other, err := mockserver.New(mockserver.Config{Addr: strings.TrimPrefix(s.URL(), "http://")})
	require.NoError(t, err)
	require.ErrorContains(t, other.Start(), "address already in use")
	require.NoError(t, other.Close())
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 1)
	s, err := mockserver.New(mockserver.Config{Applications: hooked, WebhookTransport: hangs(begun)})
	require.NoError(t, err)
	require.NoError(t, s.Start())
	id, unpaid := create(t, s, ""), create(t, s, `"amount":1`)
	deposit(t, s, id, 1)
	<-begun

	idle, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://")) // a client that says nothing
	require.NoError(t, err)
	defer func() { assert.NoError(t, idle.Close()) }()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { assert.NoError(t, s.Close()) })
	}
	wg.Wait()
	require.NoError(t, idle.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err = idle.Read(make([]byte, 1))
	assert.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the silent client is cut off")

	a := onlyDelivery(t, s).Attempts[0]
	assert.Contains(t, a.Err, "closed")
	assert.False(t, a.Ended.IsZero())
	_, err = s.Deposit(unpaid, mockserver.Deposit{})
	wantCode(t, mockserver.CodeServerClosed, err)
	_, more := s.JumpToNextAttempt()
	assert.False(t, more)
	s.Advance(time.Hour)
	wantCode(t, mockserver.CodeServerClosed, s.Start())
	assert.Len(t, s.Payments(), 2, "its state can still be read")
	_, err = http.Get(s.URL() + "/mobile/banks")
	require.Error(t, err)
}

func TestCloseWhileAdvanceWaits(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 1)
	s := stopped(t, withHook(hangs(begun)), patience(time.Hour))
	paid(t, s)
	<-begun
	ended := make(chan struct{})
	go func() {
		s.Advance(time.Hour)
		close(ended)
	}()
	require.NoError(t, s.Close())
	<-ended
}

func TestControlAdvanceEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 1)
		s, err := mockserver.New(mockserver.Config{
			Clock: mockserver.NewStoppedClock(start), Patience: time.Hour,
			Applications: hooked, WebhookTransport: hangs(begun),
		})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		paid(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		go func() {
			req, err := http.NewRequestWithContext(ctx, "POST", "/_mock/clock/advance", strings.NewReader(`{"duration":"1h"}`))
			if assert.NoError(t, err) {
				s.Handler().ServeHTTP(discard{}, req)
			}
			ended = true
		}()
		synctest.Wait()
		assert.False(t, ended, "it waits for the receiver")
		cancel()
		synctest.Wait()
		assert.True(t, ended)
		assert.Equal(t, start, s.Now())
	})
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestManyServersAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := mockserver.RunT(t, mockserver.Config{Clock: mockserver.NewStoppedClock(time.Time{})})
			r := listen(t, s, func(int) int { return 500 })
			paid(t, s)
			s.Advance(time.Duration(i) * time.Hour)
			assert.Equal(t, time.Date(2025, 1, 1, i, 0, 0, 0, time.UTC), s.Now())
			assert.NotEmpty(t, r.all())
		})
	}
}
