package webhook_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/webhook"
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

func TestSources(t *testing.T) {
	t.Parallel()
	service, proxy := prefixes("192.0.2.0/24", "2001:db8:1::/48"), prefixes("10.0.0.0/8", "fd00::/8")
	tests := map[string]struct {
		allowed, proxies []netip.Prefix
		remote           string
		forwarded        []string
		want             int
		source           string
	}{
		"no list":                         {nil, nil, "203.0.113.1:1", nil, 200, "203.0.113.1"},
		"no list, no address":             {nil, nil, "@", nil, 200, "invalid IP"},
		"allowed":                         {service, nil, "192.0.2.1:1", nil, 200, "192.0.2.1"},
		"refused":                         {service, nil, "203.0.113.1:1", nil, 403, "203.0.113.1"},
		"allowed IPv6":                    {service, nil, "[2001:db8:1::5]:1", nil, 200, "2001:db8:1::5"},
		"refused IPv6":                    {service, nil, "[2001:db8:2::5]:1", nil, 403, "2001:db8:2::5"},
		"zone":                            {service, nil, "[2001:db8:1::5%eth0]:1", nil, 200, "2001:db8:1::5"},
		"mapped":                          {service, nil, "[::ffff:192.0.2.1]:1", nil, 200, "192.0.2.1"},
		"mapped, refused":                 {service, nil, "[::ffff:203.0.113.1]:1", nil, 403, "203.0.113.1"},
		"mapped network":                  {prefixes("::ffff:192.0.2.0/120"), nil, "192.0.2.1:1", nil, 200, "192.0.2.1"},
		"unmasked network":                {prefixes("192.0.2.77/24"), nil, "192.0.2.1:1", nil, 200, "192.0.2.1"},
		"without port":                    {service, nil, "192.0.2.1", nil, 200, "192.0.2.1"},
		"no address":                      {service, nil, "", nil, 403, "invalid IP"},
		"unix socket":                     {service, nil, "@", nil, 403, "invalid IP"},
		"header ignored":                  {service, nil, "203.0.113.1:1", []string{"192.0.2.1"}, 403, "203.0.113.1"},
		"header ignored, peer allowed":    {service, nil, "192.0.2.1:1", []string{"203.0.113.1"}, 200, "192.0.2.1"},
		"header of a stranger":            {service, proxy, "203.0.113.1:1", []string{"192.0.2.1"}, 403, "203.0.113.1"},
		"proxy":                           {service, proxy, "10.0.0.1:1", []string{"192.0.2.1"}, 200, "192.0.2.1"},
		"proxy, refused":                  {service, proxy, "10.0.0.1:1", []string{"203.0.113.1"}, 403, "203.0.113.1"},
		"proxy over IPv6":                 {service, proxy, "[fd00::1]:1", []string{"2001:db8:1::5"}, 200, "2001:db8:1::5"},
		"mapped proxy":                    {service, proxy, "[::ffff:10.0.0.1]:1", []string{"::ffff:192.0.2.1"}, 200, "192.0.2.1"},
		"forged on the left":              {service, proxy, "10.0.0.1:1", []string{"192.0.2.1, 203.0.113.1"}, 403, "203.0.113.1"},
		"two proxies":                     {service, proxy, "10.0.0.1:1", []string{"192.0.2.1, 10.0.0.2"}, 200, "192.0.2.1"},
		"two proxies, forged":             {service, proxy, "10.0.0.1:1", []string{"192.0.2.1, 203.0.113.1, 10.0.0.2"}, 403, "203.0.113.1"},
		"two lines":                       {service, proxy, "10.0.0.1:1", []string{"203.0.113.1", "192.0.2.1"}, 200, "192.0.2.1"},
		"two lines, forged":               {service, proxy, "10.0.0.1:1", []string{"192.0.2.1", "203.0.113.1"}, 403, "203.0.113.1"},
		"two lines, second of proxies":    {service, proxy, "10.0.0.1:1", []string{"192.0.2.1", "10.0.0.3,10.0.0.2"}, 200, "192.0.2.1"},
		"hop with port":                   {service, proxy, "10.0.0.1:1", []string{"192.0.2.1:4711"}, 200, "192.0.2.1"},
		"hop in brackets":                 {service, proxy, "10.0.0.1:1", []string{"[2001:db8:1::5]"}, 200, "2001:db8:1::5"},
		"hop in brackets with port":       {service, proxy, "10.0.0.1:1", []string{"[2001:db8:1::5]:1"}, 200, "2001:db8:1::5"},
		"hop is no address":               {service, proxy, "10.0.0.1:1", []string{"192.0.2.1, unknown"}, 403, "invalid IP"},
		"hop is empty":                    {service, proxy, "10.0.0.1:1", []string{"192.0.2.1, "}, 403, "invalid IP"},
		"proxy without header":            {service, proxy, "10.0.0.1:1", nil, 403, "10.0.0.1"},
		"proxy without header, allowed":   {proxy, proxy, "10.0.0.1:1", nil, 200, "10.0.0.1"},
		"only proxies in the header":      {service, proxy, "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, 403, "10.0.0.3"},
		"proxies without list of allowed": {nil, proxy, "10.0.0.1:1", []string{"203.0.113.1"}, 200, "203.0.113.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPayment()
			client := newService(p)
			h := newHandler(t, webhook.Config{
				Client: client, AllowedSources: test.allowed, TrustedProxies: test.proxies,
			})
			r := named(p.ID)
			r.RemoteAddr = test.remote
			for _, line := range test.forwarded {
				r.Header.Add("X-Forwarded-For", line)
			}
			assert.Equal(t, test.want, serve(h, r).Code)
			assert.Equal(t, test.source, h.seen.last(t).Source.String())
			if test.want == http.StatusForbidden {
				assert.Equal(t, webhook.OutcomeForbidden, h.seen.last(t).Outcome)
				assert.Zero(t, client.calls.Load())
			}
		})
	}
}

// TestSourceBeforeSecret: a source that is not allowed cannot test path secrets.
func TestSourceBeforeSecret(t *testing.T) {
	t.Parallel()
	p := newPayment()
	h := newHandler(t, webhook.Config{
		Client: newService(p), PathSecrets: []string{oldSecret}, AllowedSources: prefixes("203.0.113.0/24"),
	})
	for _, path := range []string{"/" + oldSecret, "/wrong"} {
		assert.Equal(t, http.StatusForbidden, serve(h, at(p, path)).Code) // from 192.0.2.1
	}
}

func TestPrefixValidation(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]webhook.Config{
		"Config.AllowedSources[1]": {AllowedSources: append(prefixes("192.0.2.0/24"), netip.Prefix{})},
		"Config.TrustedProxies[0]": {TrustedProxies: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr("::ffff:10.0.0.0"), 90)}},
	} {
		cfg.Client, cfg.Sink = newService(), &sink{}
		_, err := webhook.New(cfg)
		require.ErrorContains(t, err, want)
	}
}
