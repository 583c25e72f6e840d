package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// lang is a language of the pages.
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

// chosen is the language of a request: the switch on the page, which is remembered, or
// else what the browser prefers.
func chosen(r *http.Request) lang {
	if l := r.URL.Query().Get("lang"); l != "" {
		return langOf(l)
	}
	if c, err := r.Cookie("lang"); err == nil {
		return langOf(c.Value)
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") { // most wanted first
		switch l := strings.ToLower(strings.TrimSpace(part)); {
		case strings.HasPrefix(l, "ko"):
			return korean
		case strings.HasPrefix(l, "en"):
			return english
		}
	}
	return english
}

// text is a text of the pages. A key that does not exist is a mistake in this program.
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

// money writes won as people in Korea do.
func money(l lang, won int64) string {
	digits := strconv.FormatInt(won, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if l == korean {
		return digits + "원"
	}
	return "₩" + digits
}

var seoul = time.FixedZone("KST", 9*60*60)

// moment writes a time as the clocks in the shop show it.
func moment(l lang, t time.Time) string {
	if l == korean {
		return t.In(seoul).Format("2006년 1월 2일 15:04")
	}
	return t.In(seoul).Format("2 Jan 2006, 15:04 KST")
}
