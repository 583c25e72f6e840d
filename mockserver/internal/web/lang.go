package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Lang is the language of a page, as in <html lang>.
type Lang string

// The languages of all pages.
const (
	English Lang = "en"
	Korean  Lang = "ko"
)

// Langs are the languages in the order of the switch.
var Langs = []Lang{Korean, English}

const (
	langParam  = "lang"
	langCookie = "mock_lang"
)

// ChooseLang is the language of the visitor: that of ?lang=, which a cookie keeps, or that
// of the cookie, or the best one of Accept-Language, or English.
func ChooseLang(w http.ResponseWriter, r *http.Request) Lang {
	if lang, ok := parseLang(r.URL.Query().Get(langParam)); ok {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // a language is no secret, and loopback has no TLS
			Name: langCookie, Value: string(lang), Path: "/", MaxAge: 365 * 24 * 60 * 60,
			HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
		return lang
	}
	if c, err := r.Cookie(langCookie); err == nil {
		if lang, ok := parseLang(c.Value); ok {
			return lang
		}
	}
	return accepted(r.Header.Get("Accept-Language"))
}

func parseLang(s string) (Lang, bool) {
	for _, lang := range Langs {
		if s == string(lang) {
			return lang, true
		}
	}
	return "", false
}

// accepted is the language with the highest weight, the first of several.
func accepted(header string) Lang {
	best, weight := English, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		lang, ok := parseLang(primary)
		if !ok {
			continue
		}
		q := 1.0
		if given, has := strings.CutPrefix(strings.TrimSpace(params), "q="); has {
			var err error
			if q, err = strconv.ParseFloat(given, 64); err != nil {
				continue
			}
		}
		if q > weight {
			best, weight = lang, q
		}
	}
	return best
}

// langLink is one language of the switch.
type langLink struct {
	Lang    Lang
	Name    string // in the language itself
	Href    string
	Current bool
}

func langLinks(at *url.URL, current Lang) []langLink {
	links := make([]langLink, len(Langs))
	for i, lang := range Langs {
		query := at.Query()
		query.Set(langParam, string(lang))
		links[i] = langLink{
			Lang: lang, Name: Text(lang, "lang."+string(lang)),
			Href: at.EscapedPath() + "?" + query.Encode(), Current: lang == current,
		}
	}
	return links
}
