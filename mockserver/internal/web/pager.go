package web

import (
	"net/http"
	"strconv"
)

// Pager leads through a long list: the template "pager".
type Pager struct {
	Page, Pages   int64 // from 1
	Before, After string
}

// pageParam is the query parameter with the number of the page.
const pageParam = "page"

// NewPager cuts a list of total entries into pages of size, and returns which entries
// the page of the request shows: from the first up to, not including, the last. A page
// beyond the end is the last one.
func NewPager(r *http.Request, total, size int) (p Pager, from, to int) {
	pages := max(1, (total+size-1)/size)
	page, err := strconv.Atoi(r.URL.Query().Get(pageParam))
	if err != nil {
		page = 1
	}
	page = min(max(1, page), pages)
	p = Pager{Page: int64(page), Pages: int64(pages)}
	if page > 1 {
		p.Before = With(r, pageParam, strconv.Itoa(page-1))
	}
	if page < pages {
		p.After = With(r, pageParam, strconv.Itoa(page+1))
	}
	return p, (page - 1) * size, min(page*size, total)
}

// With is the address of the request with another value of a query parameter, or without
// it if the value is empty. The language is left to the cookie.
func With(r *http.Request, param, value string) string {
	query := r.URL.Query()
	query.Del(langParam)
	query.Del(param)
	if value != "" {
		query.Set(param, value)
	}
	if len(query) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}
