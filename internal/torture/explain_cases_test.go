//go:build unix

package torture

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// TestExplain: a payment is ambiguous if a poll took it and a report of its own tells of
// that poll, and lost otherwise.
func TestExplain(t *testing.T) {
	t.Parallel()
	s, err := newService(nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	product, err := s.SaveProduct(mockserver.Product{Name: "Sword", Price: price})
	require.NoError(t, err)
	user, err := s.SaveStoreUser(mockserver.StoreUser{Name: "Kim"})
	require.NoError(t, err)
	require.NoError(t, s.SetWebhook(s.Token(), ""))
	buy := func(path, body string) mockserver.Payment {
		p, err := s.Buy(product.ID, user.ID)
		require.NoError(t, err)
		_, err = s.Deposit(p.ID, mockserver.Deposit{})
		require.NoError(t, err)
		call(t, s, path, body, p.ID)
		p, _ = s.Payment(p.ID)
		require.Equal(t, mockserver.StatusComplete, p.Status)
		return p
	}
	const poll, confirm = "/callback/rest?token=test_torture", "/payments/confirm"
	first, second := buy(poll, ""), buy(poll, "")
	confirmed := buy(confirm, `{"token":"test_torture","payToken":"%s"}`)
	now := time.Now()
	at := func(seconds int, outcome string) line {
		then := now.Add(time.Duration(seconds) * time.Second).UnixMicro()
		return line{opened: then, beat: then, outcome: outcome}
	}
	for _, c := range []struct {
		name      string
		missing   []mockserver.Payment
		polls     []line
		ambiguous int
		silent    []string
	}{
		{"no report", []mockserver.Payment{first}, nil, 0, []string{first.ID}},
		{"a report", []mockserver.Payment{first}, []line{at(1, "ambiguous: EOF")}, 1, nil},
		{"one for two", []mockserver.Payment{first, second}, []line{at(1, "ambiguous: EOF")}, 1, []string{second.ID}},
		{"two for two", []mockserver.Payment{first, second}, []line{at(-9, "unclean"), at(1, "ambiguous: EOF")}, 2, nil},
		{"too early", []mockserver.Payment{first}, []line{at(-9, "ambiguous: EOF")}, 0, []string{first.ID}},
		{"too late", []mockserver.Payment{first}, []line{at(60, "ambiguous: EOF")}, 0, []string{first.ID}},
		{"a clean end", []mockserver.Payment{first}, []line{at(-9, "clean")}, 0, []string{first.ID}},
		{"killed before", []mockserver.Payment{first}, []line{at(-90, "unclean"), at(-60, "clean")}, 0, []string{first.ID}},
		{"killed meanwhile", []mockserver.Payment{first}, []line{at(-90, "unclean"), at(5, "clean")}, 1, nil},
		{"a confirm took it", []mockserver.Payment{confirmed}, []line{at(1, "ambiguous: EOF")}, 0, []string{confirmed.ID}},
	} {
		campaign := &campaign{service: s, failed: make(chan error, 1)}
		ambiguous, silent := campaign.explain(c.missing, ledgers{polls: c.polls})
		var ids []string
		for _, f := range silent {
			assert.Equal(t, lost, f.Kind, c.name)
			ids = append(ids, f.ID)
		}
		assert.Equal(t, c.ambiguous, ambiguous, c.name)
		assert.Equal(t, c.silent, ids, c.name)
		assert.Empty(t, campaign.failed)
	}
}

// call makes one call of the API; body, if any, is given the id.
func call(t *testing.T, s *service, path, body, id string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method, body = http.MethodPost, fmt.Sprintf(body, id)
	}
	request, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: s.Transport()}).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

// TestRealTime: the service's times are told in the campaign's own, also across a step.
func TestRealTime(t *testing.T) {
	t.Parallel()
	s := &service{}
	start := time.Now()
	mock := start.Add(time.Hour)
	s.clock = []reading{{mock, start}, {mock.Add(10 * time.Second), start.Add(10 * time.Second)}, {mock.Add(10*time.Second + 5*time.Minute), start.Add(11 * time.Second)}}
	for _, c := range []struct{ at, want time.Duration }{
		{0, 0}, {4 * time.Second, 4 * time.Second}, {10 * time.Second, 10 * time.Second},
		{10*time.Second + 150*time.Second, 10500 * time.Millisecond}, {10*time.Second + 5*time.Minute, 11 * time.Second},
		{12*time.Second + 5*time.Minute, 13 * time.Second}, {-time.Second, -time.Second},
	} {
		assert.WithinDuration(t, start.Add(c.want), s.realTime(mock.Add(c.at)), time.Millisecond, c.at)
	}
}
