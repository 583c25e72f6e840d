package webhook

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

func validatePrefixes(field string, prefixes []netip.Prefix) error {
	for i, p := range prefixes {
		if _, ok := plainPrefix(p); !ok {
			return fmt.Errorf("webhook: Config.%s[%d]: %v is not a network; use netip.MustParsePrefix(\"192.0.2.0/24\")",
				field, i, p)
		}
	}
	return nil
}

// plainPrefix returns an IPv4 network that is mapped into IPv6 as an IPv4 network, like
// plainAddr does for addresses.
func plainPrefix(p netip.Prefix) (netip.Prefix, bool) {
	const mapped = 96
	switch {
	case !p.IsValid():
		return p, false
	case p.Addr().Is4In6() && p.Bits() < mapped:
		return p, false // neither IPv4 nor IPv6 would match it
	case p.Addr().Is4In6():
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked(), true
}

func plainPrefixes(prefixes []netip.Prefix) networks {
	list := make(networks, 0, len(prefixes))
	for _, p := range prefixes {
		if p, ok := plainPrefix(p); ok {
			list = append(list, p)
		}
	}
	return list
}

func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// networks are in the form of plainPrefix.
type networks []netip.Prefix

// contain reports whether a is in one of the networks. The zero Addr is in none.
func (n networks) contain(a netip.Addr) bool {
	for _, p := range n {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// sources decides where a request comes from, and whether it may.
type sources struct{ allowed, proxies networks }

// of returns the address that a request came from and whether it is allowed. The address
// is invalid if none can be trusted.
func (s *sources) of(r *http.Request) (netip.Addr, bool) {
	from := parseAddr(r.RemoteAddr)
	if s.proxies.contain(from) {
		from = s.forwarded(from, r.Header.Values("X-Forwarded-For"))
	}
	return from, len(s.allowed) == 0 || s.allowed.contain(from)
}

// forwarded returns the right-most address that is not one of the trusted proxies, which
// append on the right. Addresses further left can be forged. Without the header the proxy
// itself is the source.
func (s *sources) forwarded(proxy netip.Addr, lines []string) netip.Addr {
	from := proxy
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			hop := rest
			if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
				rest, hop = rest[:comma], rest[comma+1:]
			} else {
				more = false
			}
			from = parseAddr(strings.TrimSpace(hop))
			if !s.proxies.contain(from) {
				return from
			}
		}
	}
	return from
}

// parseAddr reads "192.0.2.1", "192.0.2.1:80", "2001:db8::1" and "[2001:db8::1]:80".
// Anything else gives the zero Addr.
func parseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return plainAddr(ap.Addr())
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		s = s[1 : len(s)-1]
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return plainAddr(a)
}
