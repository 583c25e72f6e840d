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
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") { // the preferred one first
		if l := strings.ToLower(strings.TrimSpace(part)); strings.HasPrefix(l, "ko") || strings.HasPrefix(l, "en") {
			return langOf(l)
		}
	}
	return english
}

// text returns a text of the pages. A missing key is a bug in this program.
func text(l lang, key string, args ...any) string {
	both, ok := texts[key]
	if !ok {
		panic("webshop: there is no text " + strconv.Quote(key))
	}
	if len(args) == 0 {
		return both[l]
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
