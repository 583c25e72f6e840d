package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func logText(s *mockserver.Server) string {
	var b strings.Builder
	for _, e := range s.FaultLog() {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// storm makes n calls of each of three operations, from one goroutine or from many,
// and n webhooks.
func storm(t *testing.T, f mockserver.Faults, n, workers int) *mockserver.Server {
	t.Helper()
	s := stopped(t, withHook(answers(200)))
	ids := make([]string, n)
	for i := range ids {
		ids[i] = create(t, s, "")
	}
	require.NoError(t, s.SetFaults(f))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				for _, c := range [][3]string{
					{"POST", "/payments", `{"token":"test_demo","title":"T","identifier":"i"}`},
					{"GET", "/callback/rest?token=test_demo", ""},
					{"POST", "/payments/confirm", `{"token":"test_demo","payToken":"` + ids[i] + `"}`},
				} {
					exchange(t.Context(), t, s.Transport(), c[0], s.URL()+c[1], c[2])
				}
				deposit(t, s, ids[i], 1)
			}
		})
	}
	wg.Wait()
	return s
}

// TestSeededFaultsAreReproducible: the log depends on the seed and on the numbers of
// the calls, not on what runs at once.
func TestSeededFaultsAreReproducible(t *testing.T) {
	t.Parallel()
	f := mockserver.Faults{Seed: 42, Rate: 0.3, MaxDelay: time.Microsecond}
	const n = 100
	want := logText(storm(t, f, n, 1))
	assert.Equal(t, want, logText(storm(t, f, n, 1)))
	for range 3 {
		assert.Equal(t, want, logText(storm(t, f, n, 8)))
	}
	other := f
	other.Seed++
	assert.NotEqual(t, want, logText(storm(t, other, n, 1)))

	struck := strings.Count(want, "\n")
	assert.InDelta(t, 0.3*4*n, struck, 40, "about the rate")
	for _, op := range []string{"create", "next", "confirm"} {
		for _, kind := range mockserver.FaultKinds(op) {
			assert.Contains(t, want, " "+kind)
		}
	}
	for _, kind := range mockserver.FaultKinds("webhook") {
		assert.Contains(t, want, " "+kind)
	}
	lines := strings.Split(want, "\n")
	assert.Equal(t, "create 4 malformed", lines[0], "the choice is part of the promise: old seeds stay good")
}

func TestChanceIsBounded(t *testing.T) {
	t.Parallel()
	s := storm(t, mockserver.Faults{Rate: 1, Operations: []string{"next", "webhook"}, Kinds: []string{"html", "drop-after"}}, 20, 2)
	kinds := map[string]int{}
	for _, e := range s.FaultLog() {
		kinds[e.Operation+" "+e.Fault]++
	}
	assert.Equal(t, 20, kinds["next html"]+kinds["next drop-after"])
	assert.Positive(t, kinds["next html"])
	assert.Positive(t, kinds["next drop-after"])
	assert.Equal(t, 20, kinds["webhook drop-after"])
	assert.Len(t, kinds, 3)
	assert.Empty(t, storm(t, mockserver.Faults{Seed: 1}, 5, 1).FaultLog(), "no rate, no chance")
	assert.Empty(t, storm(t, mockserver.Faults{Rate: 1, Kinds: []string{"dead-uri"}, Operations: []string{"next"}}, 5, 1).FaultLog())
}

// A rule comes before chance, and a poll that is struck after its commit has taken the
// payment.
func TestRulesComeBeforeChance(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	f := mockserver.Faults{
		Rules: []mockserver.Fault{{Operation: "next", Kind: "drop-after", Nth: 2}},
		Rate:  1, Kinds: []string{"html"}, Operations: []string{"next"},
	}
	require.NoError(t, s.SetFaults(f))
	assert.Equal(t, f, s.Faults())
	f.Rules[0].Nth, f.Kinds[0] = 1, "cut"
	for range 3 {
		paid(t, s)
		exchange(t.Context(), t, s.Transport(), "GET", s.URL()+"/callback/rest?token=test_demo", "")
	}
	assert.Equal(t, "next 1 html\nnext 2 drop-after\nnext 3 html\n", logText(s))
	for _, p := range s.Payments() {
		assert.Equal(t, mockserver.StatusComplete, p.Status)
	}
}

func TestFaultLogIsBounded(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxRequests = 1 })
	require.NoError(t, s.SetFaults(mockserver.Faults{Rate: 1, Kinds: []string{"html"}}))
	for range 25_000 {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "/mobile/banks", nil)
		require.NoError(t, err)
		s.Handler().ServeHTTP(bareWriter{}, req)
	}
	log := s.FaultLog()
	require.Len(t, log, 10_000)
	assert.Equal(t, uint64(15_001), log[0].Call)
	assert.Equal(t, uint64(25_000), log[9999].Call)
}

func TestFaultsOverTheControlAPI(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	control := func(method, body string, want int) string {
		status, answer := call(t, s, method, "/_mock/faults", body)
		assert.Equal(t, want, status, answer)
		return answer
	}
	assert.JSONEq(t, `{"rules":[],"log":[]}`, control("GET", "", 200))
	control("POST", `{"operation":"next","kind":"cut","nth":1,"bytes":17}`, 200)
	control("POST", `{"operation":"confirm","kind":"status-before","first":3,"status":503,"retry_after":2}`, 200)
	control("POST", `{"operation":"webhook","kind":"duplicate","every":2,"delay":"1m30s"}`, 200)
	control("POST", `{"operation":"banks","kind":"html","probability":0.5,"seed":18446744073709551615}`, 200)
	control("POST", `{"rate":0.25,"seed":7,"operations":["create"],"kinds":["drip"],"max_delay":"5ms"}`, 200)
	exchange(t.Context(), t, s.Transport(), "GET", s.URL()+"/callback/rest?token=test_demo", "")
	const rules = `"rules":[{"operation":"next","kind":"cut","nth":1,"bytes":17},
		{"operation":"confirm","kind":"status-before","first":3,"status":503,"retry_after":2},
		{"operation":"webhook","kind":"duplicate","every":2,"delay":"1m30s"},
		{"operation":"banks","kind":"html","probability":0.5,"seed":18446744073709551615}]`
	assert.JSONEq(t, `{`+rules+`,"chance":{"rate":0.25,"seed":7,"operations":["create"],"kinds":["drip"],"max_delay":"5ms"},
		"log":[{"operation":"next","call":1,"fault":"cut bytes=17"}]}`, control("GET", "", 200))
	assert.Equal(t, mockserver.Fault{Operation: "webhook", Kind: "duplicate", Every: 2, Delay: 90 * time.Second}, s.Faults().Rules[2])
	assert.NotContains(t, control("POST", `{"rate":0}`, 200), "chance")

	_, log := call(t, s, "GET", "/_mock/requests", "")
	assert.Contains(t, log, `"fault":"cut bytes=17: answered so after the commit","sent_status":200,"sent":"{\"error\":\"NO_PROC"`)

	for body, want := range map[string]string{
		`{"operation":"poll","kind":"cut"}`:                 `\"poll\" is unknown; use one of create, next`,
		`{"operation":"next","kind":"cut","nht":1}`:         `unknown field \"nht\"`,
		`{"operation":"next","kind":"drip","delay":5}`:      `cannot be read`,
		`{"operation":"next","kind":"drip","delay":"soon"}`: `invalid duration`,
		`{"operation":"next","kind":"cut","kind":"html"}`:   `occurs twice`,
		`{"rate":0.1,"nth":1}`:                              `unknown field \"nth\"`,
		`{"rate":7}`:                                        `\"rate\" must be from 0 to 1`,
		`[]`:                                                `one JSON object is expected`,
		``:                                                  `the body is empty`,
		`{"operation":"next","kind":"html","probability":"always"}`: `cannot be read`,
	} {
		assert.Contains(t, control("POST", body, 400), want)
	}
	control("PUT", "", 405)
	assert.JSONEq(t, `{"rules":[],"log":[]}`, control("DELETE", "", 200))
}

// TestFaultsRoundTripAsJSON: the answer of the control API can be stored and set again.
func TestFaultsRoundTripAsJSON(t *testing.T) {
	t.Parallel()
	f := mockserver.Faults{
		Rules: []mockserver.Fault{
			{Operation: "next", Kind: "cut", Nth: 2, Bytes: 17},
			{Operation: "webhook", Kind: "delay", Every: 3, Delay: 90 * time.Second},
			{Operation: "confirm", Kind: "status-after", Probability: 0.5, Seed: 1<<64 - 1, Status: 503, RetryAfter: 7},
		},
		Rate: 0.25, Seed: 9, Operations: []string{"create"}, Kinds: []string{"html"}, MaxDelay: 20 * time.Millisecond,
	}
	s := stopped(t)
	require.NoError(t, s.SetFaults(f))
	create(t, s, "")
	exchange(t.Context(), t, s.Transport(), "GET", s.URL()+"/callback/rest?token=test_demo", "")
	_, file := call(t, s, "GET", "/_mock/faults", "")
	var read mockserver.Faults
	require.NoError(t, json.Unmarshal([]byte(file), &read))
	assert.Equal(t, f, read)
	require.NoError(t, json.Unmarshal([]byte(`{}`), &read))
	assert.Equal(t, mockserver.Faults{}, read)

	for text, want := range map[string]string{
		`{"rules":[{"operation":"nextt","kind":"cut"}]}`:           `rules[0]: "operation" "nextt" is unknown`,
		`{"rules":[{"operation":"next","kind":"cut","n":1}]}`:      `unknown field "n"`,
		`{"chance":{"rate":2}}`:                                    `"rate" must be from 0 to 1`,
		`{"rate":0.1}`:                                             `unknown field "rate"`,
		`{"rules":[{"operation":"next","kind":"drip","delay":5}]}`: "the fault cannot be read",
	} {
		var e *mockserver.Error
		require.ErrorAs(t, json.Unmarshal([]byte(text), &read), &e, text)
		assert.Equal(t, mockserver.CodeInvalidParameter, e.Code)
		assert.Contains(t, e.Message, want)
	}
}
