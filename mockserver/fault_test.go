package mockserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// got is what a client sees of a call.
type got struct {
	status      int
	body        string
	contentType string
	retryAfter  string
	err         error // of the request or of reading the body
}

func exchange(ctx context.Context, t *testing.T, by http.RoundTripper, method, target, body string) got {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := by.RoundTrip(req)
	if err != nil {
		return got{err: err}
	}
	defer func() { require.NoError(t, resp.Body.Close()) }()
	answer, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, string(answer), resp.Header.Get("Content-Type"), resp.Header.Get("Retry-After"), err}
}

// bothWays runs a test over a socket and over the direct transport.
func bothWays(t *testing.T, test func(t *testing.T, s *mockserver.Server, by http.RoundTripper)) {
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		by := &http.Transport{}
		s := stopped(t)
		require.NoError(t, s.Start())
		t.Cleanup(by.CloseIdleConnections)
		test(t, s, by)
	})
	t.Run("direct", func(t *testing.T) {
		t.Parallel()
		s := stopped(t)
		test(t, s, s.Transport())
	})
}

func fault(t *testing.T, s *mockserver.Server, f mockserver.Fault) {
	t.Helper()
	require.NoError(t, s.AddFault(f))
}

// TestAnswerFaults: what each kind shows to the client, what the service has done, and
// what the log says of both.
func TestAnswerFaults(t *testing.T) {
	t.Parallel()
	const noAnswer = "no answer"
	for _, c := range []struct {
		fault  mockserver.Fault
		done   bool
		status int
		body   string // RECORD replaces the service's answer
		err    error
	}{
		{mockserver.Fault{Kind: "drop-before"}, false, 0, noAnswer, io.EOF},
		{mockserver.Fault{Kind: "drop-after"}, true, 0, noAnswer, io.EOF},
		{mockserver.Fault{Kind: "reset-before"}, false, 0, noAnswer, syscall.ECONNRESET},
		{mockserver.Fault{Kind: "reset-after"}, true, 0, noAnswer, syscall.ECONNRESET},
		{mockserver.Fault{Kind: "cut", Bytes: 0}, true, 200, "RECORD[:0]", io.ErrUnexpectedEOF},
		{mockserver.Fault{Kind: "cut", Bytes: 46}, true, 200, "RECORD[:46]", io.ErrUnexpectedEOF},
		{mockserver.Fault{Kind: "cut", Bytes: 1 << 20}, true, 200, "RECORD[:-1]", io.ErrUnexpectedEOF},
		{mockserver.Fault{Kind: "drip", Delay: time.Millisecond}, true, 200, "RECORD", nil},
		{mockserver.Fault{Kind: "delay-before", Delay: time.Millisecond}, true, 200, "RECORD", nil},
		{mockserver.Fault{Kind: "delay-after", Delay: time.Millisecond}, true, 200, "RECORD", nil},
		{mockserver.Fault{Kind: "status-before", Status: 429, RetryAfter: 7}, false, 429, `{"error":"FAULT_INJECTED","error_msg":"a fault rule answers this call: status-before status=429 retry_after=7"}`, nil},
		{mockserver.Fault{Kind: "status-after", Status: 502}, true, 502, `{"error":"FAULT_INJECTED","error_msg":"a fault rule answers this call: status-after status=502"}`, nil},
		{mockserver.Fault{Kind: "malformed"}, true, 200, "RECORD[:half]", nil},
		{mockserver.Fault{Kind: "html"}, true, 200, "<!DOCTYPE html>\n<html><head><title>One moment</title></head><body><h1>One moment, please</h1></body></html>\n", nil},
		{mockserver.Fault{Kind: "content-type"}, true, 200, "RECORD", nil},
	} {
		t.Run(c.fault.Kind, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, s *mockserver.Server, by http.RoundTripper) {
				id := create(t, s, "")
				deposit(t, s, id, 10000)
				f := c.fault
				f.Operation, f.Nth = "next", 1
				fault(t, s, f)
				seen := exchange(t.Context(), t, by, "GET", s.URL()+"/callback/rest?token=test_demo", "")
				assert.Equal(t, c.done, s.Payments()[0].Status == mockserver.StatusComplete)
				log := s.Requests()
				entry := log[len(log)-1]

				record := ""
				if c.done {
					record = confirm(t, s, id)
					assert.Equal(t, record, entry.Response)
					assert.Equal(t, 200, entry.Status)
				} else {
					assert.Empty(t, entry.Response)
					assert.Zero(t, entry.Status)
				}
				want := c.body
				if c.done {
					want = strings.NewReplacer("RECORD[:0]", "", "RECORD[:46]", record[:46], "RECORD[:-1]", record[:len(record)-1],
						"RECORD[:half]", record[:len(record)/2], "RECORD", record).Replace(want)
				}
				if c.body == noAnswer {
					want = ""
				}
				require.ErrorIs(t, seen.err, c.err)
				assert.Equal(t, c.status, seen.status)
				assert.Equal(t, want, seen.body)
				assert.Equal(t, want, entry.Sent)
				assert.Equal(t, c.status, entry.SentStatus)
				assert.True(t, strings.HasPrefix(entry.Fault, f.String()), entry.Fault)
				assert.Equal(t, c.fault.Kind == "status-before", seen.retryAfter == "7")
				if c.fault.Kind == "malformed" {
					assert.False(t, json.Valid([]byte(seen.body)))
				}
				switch {
				case c.fault.Kind == "html":
					assert.Equal(t, "text/html; charset=utf-8", seen.contentType)
				case c.fault.Kind == "content-type":
					assert.Equal(t, "text/plain; charset=utf-8", seen.contentType)
				case c.status != 0:
					assert.Equal(t, "application/json; charset=utf-8", seen.contentType)
				}
				assert.Equal(t, []mockserver.FaultEvent{{Operation: "next", Call: 1, Fault: f.String()}}, s.FaultLog())

				again := exchange(t.Context(), t, by, "GET", s.URL()+"/callback/rest?token=test_demo", "")
				require.NoError(t, again.err, "the second call is not struck")
				assert.Equal(t, c.done, strings.Contains(again.body, "NO_PROCESSED_PAYMENT"))
			})
		})
	}
}

// An empty body cannot be cut, halved or dripped; the fault does the closest thing.
func TestFaultsOfAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]got{
		"empty=204":     {"cut": {err: io.EOF}, "malformed": {status: 200, body: "{"}, "drip": {status: 204}},
		"empty=nothing": {"cut": {err: io.EOF}, "malformed": {status: 200, body: "{"}, "drip": {status: 200}},
		"empty={}":      {"cut": {status: 200, err: io.ErrUnexpectedEOF}, "malformed": {status: 200, body: "{"}, "drip": {status: 200, body: "{}"}},
	} {
		bothWays(t, func(t *testing.T, s *mockserver.Server, by http.RoundTripper) {
			require.NoError(t, s.SetDialect(s.Token(), dialect(t, text)))
			for kind, want := range want {
				s.ClearFaults()
				f := mockserver.Fault{Operation: "next", Kind: kind}
				if kind == "drip" {
					f.Delay = 1
				}
				fault(t, s, f)
				seen := exchange(t.Context(), t, by, "GET", s.URL()+"/callback/rest?token=test_demo", "")
				require.ErrorIs(t, seen.err, want.err, "%s %s", text, kind)
				assert.Equal(t, want.status, seen.status, "%s %s", text, kind)
				assert.Equal(t, want.body, seen.body, "%s %s", text, kind)
			}
		})
	}
}

// TestFaultsOfEveryOperation: each operation has its name, and a refused call counts too.
func TestFaultsOfEveryOperation(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	for op, request := range map[string][3]string{
		"create":  {"POST", "/payments", "{}"},
		"next":    {"GET", "/callback/rest", ""},
		"confirm": {"POST", "/payments/confirm", "nonsense"},
		"status":  {"GET", "/callback/webhook/status", ""},
		"resend":  {"POST", "/callback/webhook/resend", ""},
		"banks":   {"GET", "/mobile/banks?details=true", ""},
		"deposit": {"POST", "/mobile/deposit", strings.Repeat("x", 65<<10)},
	} {
		require.Contains(t, mockserver.FaultOperations(), op)
		s.ClearFaults()
		fault(t, s, mockserver.Fault{Operation: op, Kind: "status-before", Status: 503, First: 1})
		call(t, s, "DELETE", request[1], "") // is not this operation
		status, _ := call(t, s, request[0], request[1], request[2])
		assert.Equal(t, 503, status, op)
		status, _ = call(t, s, request[0], request[1], request[2])
		assert.Equal(t, 200, status, op)
	}
	assert.Len(t, mockserver.FaultOperations(), 8, "these and webhook")
}

func TestRulesChooseCalls(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]mockserver.Fault{
		"x.........": {Nth: 1},
		"...x......": {Nth: 4},
		"..x..x..x.": {Every: 3},
		"xx........": {First: 2},
		"xxxxxxxxxx": {},
		"....x.x.x.": {Probability: 0.3, Seed: 10},
		".x....xx..": {Probability: 0.3, Seed: 2},
	} {
		s := stopped(t)
		fault(t, s, mockserver.Fault{Operation: "create", Kind: "html"})
		poll(t, s)
		poll(t, s)
		f.Operation, f.Kind, f.Status = "next", "status-before", 500
		fault(t, s, f)
		struck := ""
		for range 10 {
			status, _ := call(t, s, "GET", "/callback/rest?token=test_demo", "")
			struck += map[int]string{200: ".", 500: "x"}[status]
		}
		assert.Equal(t, want, struck, "%+v: counted from the rule's own beginning", f)
	}
	s := stopped(t)
	fault(t, s, mockserver.Fault{Operation: "next", Kind: "status-before", Status: 500, Nth: 2})
	fault(t, s, mockserver.Fault{Operation: "next", Kind: "status-before", Status: 501, Every: 2})
	var list []int
	for range 4 {
		status, _ := call(t, s, "GET", "/callback/rest?token=test_demo", "")
		list = append(list, status)
	}
	assert.Equal(t, []int{200, 500, 200, 501}, list, "the first rule that fits counts")
	s.ClearFaults()
	assert.NotContains(t, poll(t, s), "FAULT")
	assert.Empty(t, s.FaultLog())
	assert.Zero(t, s.Faults())
}

func TestInvalidFaultsAreRefused(t *testing.T) {
	t.Parallel()
	const next = "next"
	s := stopped(t)
	for want, f := range map[string]mockserver.Fault{
		`"operation" "poll" is unknown; use one of create, next, confirm, status, resend, banks, deposit, webhook`: {Operation: "poll", Kind: "cut"},
		`"operation" "" is unknown`: {Kind: "cut"},
		`"kind" "explode" is unknown for the operation next; use one of drop-before, drop-after,`: {Operation: next, Kind: "explode"},
		`use one of duplicate, delay, reorder, dead-uri, drop-after`:                              {Operation: "webhook", Kind: "cut"},
		`"kind" "duplicate" is unknown`:                                                           {Operation: next, Kind: "duplicate"},
		`"nth" and every, first, probability exclude each other`:                                  {Operation: next, Kind: "html", Nth: 1, First: 1},
		`"every" must be at least 1`:                                                              {Operation: next, Kind: "html", Every: -1},
		`"probability" must be above 0 and at most 1`:                                             {Operation: next, Kind: "html", Probability: 1.5},
		`"seed" has no use`:                               {Operation: next, Kind: "html", Seed: 7},
		`"delay" is required by drip`:                     {Operation: next, Kind: "drip"},
		`"delay" must be up to 4m0s`:                      {Operation: next, Kind: "drip", Delay: time.Hour},
		`"delay" must be up to 24h0m0s`:                   {Operation: "webhook", Kind: "delay", Delay: 25 * time.Hour},
		`"delay" has no use for html`:                     {Operation: next, Kind: "html", Delay: 1},
		`"bytes" must be 0 or more, and is for cut alone`: {Operation: next, Kind: "html", Bytes: 1},
		`"status" must be an HTTP status from 400 to 599`: {Operation: next, Kind: "status-after"},
		`"status" has no use for html`:                    {Operation: next, Kind: "html", Status: 500},
		`"retry_after" must be 0 or more seconds`:         {Operation: next, Kind: "html", RetryAfter: 1},
	} {
		err := s.AddFault(f)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		assert.ErrorContains(t, err, want)
	}
	for want, f := range map[string]mockserver.Faults{
		`rules[1]: "operation" "x" is unknown`:          {Rules: []mockserver.Fault{{Operation: next, Kind: "cut"}, {Operation: "x"}}},
		`"rate" must be from 0 to 1`:                    {Rate: 2},
		`"max_delay" must be up to 4m0s`:                {MaxDelay: time.Hour},
		`"operations" "x" is unknown; use create, next`: {Operations: []string{"x"}},
		`"kinds" "x" is unknown; use drop-before`:       {Kinds: []string{"x"}},
	} {
		err := s.SetFaults(f)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		assert.ErrorContains(t, err, want)
	}
	assert.Zero(t, s.Faults(), "a refused fault changes nothing")
	assert.Nil(t, mockserver.FaultKinds("x"))
	many := make([]mockserver.Fault, 1000)
	for i := range many {
		many[i] = mockserver.Fault{Operation: next, Kind: "cut"}
	}
	require.NoError(t, s.SetFaults(mockserver.Faults{Rules: many}))
	wantCode(t, mockserver.CodeStorageFull, s.AddFault(many[0]))
}

// The delays of answers are real time: a bubble's.
func TestDelayedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := mockserver.New(mockserver.Config{Clock: mockserver.NewStoppedClock(start)})
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		const target = "http://127.0.0.1/callback/rest?token=test_demo"
		next := func(patience time.Duration) (got, time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			begin := time.Now()
			return exchange(ctx, t, s.Transport(), "GET", target, ""), time.Since(begin)
		}
		for i, f := range []mockserver.Fault{
			{Kind: "delay-before", Delay: 20 * time.Second},
			{Kind: "delay-after", Delay: 20 * time.Second},
			{Kind: "drip", Delay: 20 * time.Second},
		} {
			paid(t, s)
			s.ClearFaults()
			f.Operation = "next"
			fault(t, s, f)
			seen, took := next(5 * time.Second)
			require.ErrorIs(t, seen.err, context.DeadlineExceeded, f.Kind)
			assert.Equal(t, 5*time.Second, took, f.Kind)
			synctest.Wait()
			assert.Equal(t, f.Kind != "delay-before", s.Payments()[2*i].Status == mockserver.StatusComplete, f.Kind)
			<-time.After(15 * time.Second)
			synctest.Wait()
			assert.Equal(t, mockserver.StatusComplete, s.Payments()[2*i].Status, "%s: the client's leaving does not stop the service", f.Kind)

			paid(t, s)
			seen, took = next(time.Hour)
			require.NoError(t, seen.err)
			assert.Contains(t, seen.body, s.Payments()[2*i+1].ID)
			assert.Equal(t, 20*time.Second, took, f.Kind)
		}
		assert.Equal(t, start, s.Now(), "the mock's clock does not move")
	})
}

func TestCloseCutsDelaysShort(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]got{
		"delay-before": {err: io.EOF},
		"delay-after":  {status: 200, body: `{"payToken":"`},
		"drip":         {status: 200, err: io.ErrUnexpectedEOF},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := mockserver.New(mockserver.Config{})
			require.NoError(t, err)
			fault(t, s, mockserver.Fault{Operation: "create", Kind: kind, Delay: 4 * time.Minute})
			ended := make(chan got)
			begin := time.Now()
			go func() {
				ended <- exchange(t.Context(), t, s.Transport(), "POST", "http://127.0.0.1/payments", `{"token":"test_demo","title":"T","identifier":"i"}`)
			}()
			synctest.Wait()
			require.NoError(t, s.Close())
			require.NoError(t, s.Close(), "twice is fine")
			seen := <-ended
			assert.Equal(t, begin, time.Now(), kind)
			require.ErrorIs(t, seen.err, want.err, kind)
			assert.Equal(t, want.status, seen.status, kind)
			assert.True(t, strings.HasPrefix(seen.body, want.body), kind)
			assert.Equal(t, kind != "delay-before", len(s.Payments()) == 1, kind)
		})
	}
}

// TestDripTakesItsDelay: a machine that takes long over each of many bytes does not make
// the whole last longer than was said.
func TestDripTakesItsDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := stopped(t)
		fault(t, s, mockserver.Fault{Operation: "banks", Kind: "drip", Delay: 10 * time.Second})
		req, err := http.NewRequestWithContext(t.Context(), "GET", "/mobile/banks?details=true", nil)
		require.NoError(t, err)
		begin := time.Now()
		s.Handler().ServeHTTP(tardyWriter{}, req)
		assert.Equal(t, 10*time.Second+tardy, time.Since(begin))
	})
}

const tardy = time.Millisecond

type tardyWriter struct{ bareWriter }

func (tardyWriter) Write(p []byte) (int, error) {
	<-time.After(tardy)
	return len(p), nil
}

// The handler ends the connection under a ResponseWriter that cannot hijack.
func TestDropWithoutAHijacker(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	fault(t, s, mockserver.Fault{Operation: "banks", Kind: "reset-after"})
	req, err := http.NewRequestWithContext(t.Context(), "GET", "/mobile/banks", nil)
	require.NoError(t, err)
	defer func() {
		failed, _ := recover().(error)
		require.True(t, errors.Is(failed, http.ErrAbortHandler))
	}()
	s.Handler().ServeHTTP(bareWriter{}, req)
}

type bareWriter struct{}

func (bareWriter) Header() http.Header         { return http.Header{} }
func (bareWriter) Write(p []byte) (int, error) { return len(p), nil }
func (bareWriter) WriteHeader(int)             {}

// Tokens stay out of what a fault has logged, also where an answer holds one.
func TestFaultyLogHidesTokens(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	api(t, s, "POST", "/payments", `{"token":"test_demo","title":"T","identifier":"order test_demo"}`)
	deposit(t, s, s.Payments()[0].ID, 1)
	fault(t, s, mockserver.Fault{Operation: "next", Kind: "content-type"})
	assert.Contains(t, poll(t, s), "order test_demo")
	entry := lastLogged(t, s)
	assert.Contains(t, entry, "Sent:{\"id\":")
	assert.Equal(t, 2, strings.Count(entry, `"identifier":"order [REDACTED]"`), "as it was answered and as it was sent")
	assert.NotContains(t, entry, "test_demo")
}
