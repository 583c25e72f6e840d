package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// lang is a language of the customer's pages.
type lang int

const (
	english lang = iota
	korean
)

func (l lang) String() string { return [...]string{"en", "ko"}[l] }

func langOf(s string) lang {
	if strings.HasPrefix(strings.ToLower(s), "ko") {
		return korean
	}
	return english
}

// chosen returns the language of a request: what the switch on the page says, or else what the browser
// prefers.
func chosen(r *http.Request) lang {
	if l := r.FormValue("lang"); l != "" {
		return langOf(l)
	}
	accepted := strings.ToLower(r.Header.Get("Accept-Language"))
	if before, _, found := strings.Cut(accepted, "ko"); found && !strings.Contains(before, "en") {
		return korean
	}
	return english
}

// text returns a text of the pages. A key without one is a product that is no longer on sale.
func text(l lang, key string, args ...any) string {
	both, ok := texts[key]
	if !ok {
		return key
	}
	return fmt.Sprintf(both[l], args...)
}

// money formats won the way people in Korea do.
func money(l lang, won int64) string {
	digits := strconv.FormatInt(won, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return text(l, "won", digits)
}
