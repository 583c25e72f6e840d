package mockserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tokenPrefix    = "test_"
	maxTokenLength = 128
	// maxNameLength is the longest name of a person, an application or a bank, in
	// characters.
	maxNameLength = 40
)

// checkToken keeps live tokens out of the mock, and tokens that a client could
// not put into a query string unescaped.
func checkToken(token string) error {
	switch {
	case !strings.HasPrefix(token, tokenPrefix):
		return errors.New(`a token of the mock must begin with "test_"; never give it a live token`)
	case len(token) == len(tokenPrefix):
		return errors.New(`a token needs at least one character after "test_"`)
	case len(token) > maxTokenLength:
		return fmt.Errorf("a token has at most %d characters", maxTokenLength)
	}
	for _, c := range []byte(token) {
		if !urlSafe(c) {
			return errors.New(`a token is made of letters, digits and "-._~", so that it is safe in a URL`)
		}
	}
	return nil
}

func urlSafe(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func checkListenAddr(addr string, allowRemote bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return errors.New(`must be host:port, as in "127.0.0.1:8080"`)
	}
	if !isLoopback(host) && !allowRemote {
		return errors.New("is not a loopback address: anyone who reaches the mock can complete payments; " +
			"listen on 127.0.0.1, or set AllowRemote")
	}
	return nil
}

func checkWebhookURL(raw string, allowRemote bool) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be an absolute http:// or https:// URL")
	}
	if u.User != nil {
		return errors.New("must not hold a user name or password")
	}
	if !isLoopback(u.Hostname()) && !allowRemote {
		return errors.New("does not name a loopback host: the mock would send to another person's server; " +
			"use 127.0.0.1 or localhost, or set AllowRemote")
	}
	return nil
}

// isLoopback knows addresses and the name localhost. Other names are not
// resolved: what they point to can change after the check.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// validGameField keeps the field of store payments readable for every client.
func validGameField(name string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	return name != "" && len(name) <= 64 && strings.Trim(name, allowed) == ""
}

// validCodeWord checks words that programs read: methods and statuses.
func validCodeWord(word string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return word != "" && len(word) <= 64 && strings.Trim(word, allowed) == ""
}

// reachable is an address at which a client on this machine finds a listener.
func reachable(listener net.Addr) string {
	if tcp, ok := listener.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return listener.String()
}

// checkName trims a name that people type and other people read.
func checkName(name string, longest int) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("is required: send a text that is not blank")
	case !utf8.ValidString(name):
		return "", errors.New("must be valid UTF-8")
	case utf8.RuneCountInString(name) > longest:
		return "", fmt.Errorf("must be at most %d characters long", longest)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("must not hold control characters")
	}
	return name, nil
}
