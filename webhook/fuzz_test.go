package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/webhook"
)

// FuzzBody: the Handler accepts only bodies that encoding/json reads in the same way, and all
// that are plainly valid.
func FuzzBody(f *testing.F) {
	const id = `"` + someID + `"`
	for _, seed := range []string{
		`{"payment_id":` + id + `}`, ` {"a":[1,{"payment_id":2}],"payment_id":` + id + `} `,
		`{"payment_id":` + id + `,"payment_id":` + id + `}`, `{"payment\u005fid":` + id + `}`,
		`{"PAYMENT_ID":` + id + `}`, `{"payment_id":null}`, `{"payment_id":` + id + `}x`, `[]`, ``, "\xef\xbb\xbf{}",
		`{"payment_id":"00000000-0000-0000-0000-000000000000"}`, `{"payment_id":"\ud800` + someID + `"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, strict bool) {
		var asked uuid.UUID
		h := newHandler(t, webhook.Config{ConfirmRate: -1, Strict: strict, Client: confirmerFunc(
			func(_ context.Context, id uuid.UUID) (payments.Payment, error) {
				asked = id
				return payments.Payment{}, errTest
			})})
		code := serve(h, delivery(string(body))).Code
		want, plain := plainID(body)
		switch code {
		case http.StatusTooManyRequests: // read and asked for
			if asked == uuid.Nil || want != asked {
				t.Fatalf("asked for %s; encoding/json reads %s", asked, want)
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
			if plain && !strict && len(body) <= 4096 {
				t.Fatalf("refused with %d, though encoding/json reads %s", code, want)
			}
		default:
			t.Fatalf("status %d", code)
		}
	})
}

// plainID is the id that encoding/json reads; plain reports whether the body is plainly valid.
func plainID(body []byte) (id uuid.UUID, plain bool) {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(body, &object) != nil || json.Unmarshal(object["payment_id"], &text) != nil || len(text) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	plain = err == nil && id != uuid.Nil && utf8.Valid(body) &&
		bytes.Count(body, []byte("payment_id")) == 1 && !bytes.Contains(body, []byte(`\`))
	return id, plain
}

// FuzzForwarded: the Handler reads X-Forwarded-For like a plainer implementation, and nothing
// that a stranger writes on the left changes the source. A line break separates two lines of
// the header.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{
		"192.0.2.1", "203.0.113.1, 192.0.2.1", "192.0.2.1, 10.0.0.2", "192.0.2.1:80,[::ffff:10.0.0.3]:1", "203.0.113.1\n192.0.2.1",
		"", ",", "\n", "unknown", "192.0.2.1,", "[2001:db8::1%eth0]", "::ffff:192.0.2.1", "10.0.0.1,10.0.0.2", "192.0.2.01", "192.0.2.1\t", "[192.0.2.1]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		lines := strings.Split(header, "\n")
		want, allowed := plainSource(lines)
		source, code := sourceOf(t, lines)
		if source != want || (code == http.StatusForbidden) == allowed {
			t.Fatalf("%q: %v and %d, want %v, allowed: %t", lines, source, code, want, allowed)
		}
		forged, code := sourceOf(t, append([]string{"192.0.2.1"}, lines...))
		if forged != want && !isProxy(want) {
			t.Fatalf("%q: a line on the left makes it %v, %d", lines, forged, code)
		}
	})
}

// sourceOf is the source, for the Handler, of a request by the proxy 10.0.0.1.
func sourceOf(t *testing.T, lines []string) (netip.Addr, int) {
	t.Helper()
	h := newHandler(t, webhook.Config{
		AllowedSources: prefixes("192.0.2.0/24"), TrustedProxies: prefixes("10.0.0.0/8"),
	})
	r := named(newPayment().ID)
	r.RemoteAddr = "10.0.0.1:1"
	r.Header["X-Forwarded-For"] = lines
	code := serve(h, r).Code
	return h.seen.last(t).Source, code
}

// plainSource is the last hop that is no proxy, or else the first one.
func plainSource(lines []string) (netip.Addr, bool) {
	hops := strings.Split(strings.Join(lines, ","), ",")
	slices.Reverse(hops)
	var from netip.Addr
	for _, hop := range hops {
		if from = plainHop(strings.TrimSpace(hop)); !isProxy(from) {
			break
		}
	}
	return from, from.Is4() && strings.HasPrefix(from.String(), "192.0.2.")
}

func plainHop(hop string) netip.Addr {
	if pair, err := netip.ParseAddrPort(hop); err == nil {
		return pair.Addr().Unmap().WithZone("")
	}
	if strings.HasPrefix(hop, "[") && strings.HasSuffix(hop, "]") {
		hop = hop[1 : len(hop)-1]
	}
	a, _ := netip.ParseAddr(hop)
	return a.Unmap().WithZone("")
}

func isProxy(a netip.Addr) bool { return a.Is4() && strings.HasPrefix(a.String(), "10.") }
