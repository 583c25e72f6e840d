package web

import (
	"io/fs"
	"maps"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTexts: every text exists in every language, with the same verbs.
func TestTexts(t *testing.T) {
	t.Parallel()
	verbs := regexp.MustCompile(`%[a-z]`)
	all := maps.Clone(texts)
	for _, why := range dashWhys {
		all[why.messages[0]] = why.text
	}
	for _, said := range slices.Concat(append(slices.Collect(maps.Values(eventSayings)), sayings)...) {
		all[said.pattern.String()] = said.text
		assert.Len(t, verbs.FindAllString(said.en, -1), said.pattern.NumSubexp(), said.pattern)
	}
	require.Greater(t, len(all), 300)
	for key, text := range all {
		assert.NotEmpty(t, strings.TrimSpace(text.ko), "%s has no Korean", key)
		assert.NotEmpty(t, strings.TrimSpace(text.en), "%s has no English", key)
		assert.Equal(t, verbs.FindAllString(text.en, -1), verbs.FindAllString(text.ko, -1), "%s: other verbs", key)
		if key != "lang.ko" {
			assert.NotRegexp(t, `\p{Hangul}`, text.en, key)
		}
	}
	kind := reflect.TypeFor[text]()
	assert.Equal(t, len(Langs), kind.NumField(), "a language without texts")
}

// TestNoTextInTemplates: all words in templates come from the texts, with known keys.
func TestNoTextInTemplates(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`(?s)<[^>]*>`)
	spoken := regexp.MustCompile(`(?i)(?:placeholder|aria-label|title|alt)="[^"{]*\p{L}[^"]*"`)
	names, err := fs.Glob(files, "*.html")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	code := regexp.MustCompile(`(?s)<code\b[^>]*>.*?</code>|\bHTTP\b`) // names that are the same everywhere
	actions := regexp.MustCompile(`(?s){{.*?}}`)
	keys := regexp.MustCompile(`\bt "([a-z.]+)"`)
	for _, name := range names {
		body, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		for _, m := range keys.FindAllStringSubmatch(string(body), -1) {
			assert.Contains(t, texts, m[1], "%s: no such text", name)
		}
		bare := code.ReplaceAllString(actions.ReplaceAllString(string(body), ""), "")
		assert.NotRegexp(t, `\p{L}`, tag.ReplaceAllString(bare, ""), "%s holds a text of its own", name)
		assert.NotRegexp(t, spoken, bare, "%s holds a text of its own", name)
	}
}

// TestTemplatesParse: every page exists in every language and has its "live".
func TestTemplatesParse(t *testing.T) {
	t.Parallel()
	all, err := pages()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for key, page := range all {
		live := page.Lookup("live")
		require.NotNil(t, live, "%v has no live part", key)
		require.IsType(t, &parse.Tree{}, live.Tree)
	}
	for _, name := range []string{"checkout", "store", "stores", "notice"} {
		for _, lang := range Langs {
			assert.Contains(t, all, pageKey{lang, name})
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount int64
		ko, en string
	}{
		{0, "0원", "₩0"},
		{999, "999원", "₩999"},
		{10000, "10,000원", "₩10,000"},
		{1234567, "1,234,567원", "₩1,234,567"},
		{-100, "-100원", "₩-100"},
		{-1000, "-1,000원", "₩-1,000"},
		{1<<63 - 1, "9,223,372,036,854,775,807원", "₩9,223,372,036,854,775,807"},
	} {
		assert.Equal(t, c.ko, Money(Korean, c.amount))
		assert.Equal(t, c.en, Money(English, c.amount))
	}
}

func TestChooseLang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, cookie, accept string
		want                  Lang
	}{
		{"", "", "", English},
		{"", "", "ko-KR,ko;q=0.9,en;q=0.8", Korean},
		{"", "", "en;q=0.5, ko;q=0.7", Korean},
		{"", "", "fr, de;q=0.9", English},
		{"", "", "ko;q=nonsense", English},
		{"", "", "ko;q=0", English},
		{"", "en", "ko", English},
		{"", "xx", "ko", Korean},
		{"?lang=ko", "en", "en", Korean},
		{"?lang=fr", "", "ko", Korean},
		{"?lang=<script>", "", "", English},
	} {
		r := httptest.NewRequest("GET", "http://localhost/pay/x", nil)
		r.URL.RawQuery = strings.TrimPrefix(c.query, "?")
		r.Header.Set("Accept-Language", c.accept)
		if c.cookie != "" {
			r.Header.Set("Cookie", langCookie+"="+c.cookie)
		}
		w := httptest.NewRecorder()
		assert.Equal(t, c.want, ChooseLang(w, r), "%+v", c)
		assert.Equal(t, c.query == "?lang=ko", w.Header().Get("Set-Cookie") != "", "%+v: what was asked for is remembered", c)
	}
}

func TestFlash(t *testing.T) {
	t.Parallel()
	for _, want := range []Flash{{Text: `<b>"이미"; , =`}, {Text: "x", Failed: true}} {
		w := httptest.NewRecorder()
		KeepFlash(w, want)
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(w.Result().Cookies()[0])
		again := httptest.NewRecorder()
		assert.Equal(t, &want, TakeFlash(again, r))
		assert.Equal(t, -1, again.Result().Cookies()[0].MaxAge, "it is shown once")
	}
	r := httptest.NewRequest("GET", "/", nil)
	assert.Nil(t, TakeFlash(httptest.NewRecorder(), r))
	r.Header.Set("Cookie", flashCookie+"=%%%")
	assert.Nil(t, TakeFlash(httptest.NewRecorder(), r))
	w := httptest.NewRecorder()
	KeepFlash(w, Flash{Text: strings.Repeat("가", 10000)})
	assert.Less(t, len(w.Header().Get("Set-Cookie")), 4096, "browsers drop longer cookies")
}

func TestPager(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/store/1?page=2&user=%3Cb%3E&lang=ko", nil)
	p, from, to := NewPager(r, 25, 10)
	assert.Equal(t, Pager{Page: 2, Pages: 3, Before: "/store/1?page=1&user=%3Cb%3E", After: "/store/1?page=3&user=%3Cb%3E"}, p)
	assert.Equal(t, []int{10, 20}, []int{from, to})
	for query, want := range map[string][]int{"": {0, 10}, "?page=99": {20, 25}, "?page=-1": {0, 10}, "?page=x": {0, 10}, "?page=99999999999999999999": {0, 10}} {
		_, from, to = NewPager(httptest.NewRequest("GET", "/"+query, nil), 25, 10)
		assert.Equal(t, want, []int{from, to}, query)
	}
	p, from, to = NewPager(r, 0, 10)
	assert.Equal(t, Pager{Page: 1, Pages: 1}, p)
	assert.Equal(t, []int{0, 0}, []int{from, to})
}
