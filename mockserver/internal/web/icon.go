package web

import (
	"net/http"
	"unicode"
)

// Icon is a picture, or the first letter of a name in place of it.
type Icon struct {
	// URL is the https:// address, empty without one. It is asked for only if Show is set.
	URL  string
	Show bool
	// Name is the name of the thing; its first letter is shown without a picture.
	Name string
}

// Letter replaces the picture.
func (i Icon) Letter() string {
	for _, r := range i.Name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(r)
		}
	}
	return "·"
}

// iconsParam is the query parameter of a visitor who wants to see the icons.
const iconsParam = "icons"

// Icons tells how a page treats the icons on it: the template "icons", a line with a link
// that shows or hides them.
type Icons struct {
	Has, Show    bool
	Hide, Unhide string
}

// NewIcons is what the visitor wants, for a page that has icons or not.
func NewIcons(r *http.Request, has bool) Icons {
	return Icons{
		Has: has, Show: r.URL.Query().Get(iconsParam) != "",
		Hide: With(r, iconsParam, ""), Unhide: With(r, iconsParam, "1"),
	}
}
