package sqlite

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/depositpay/depositpay-go/internal/pragma"
)

// source is the driver's connection string. It has all settings, because the pool opens new connections
// by itself whenever one breaks.
func source(file string, role pragma.Role) string {
	query := url.Values{"_txlock": {"immediate"}, "_error_rc": {"true"}}
	// Never rwc: a file that somebody deleted while the process runs must be an error,
	// not a new and empty ledger.
	query.Set("mode", "rw")
	if role == pragma.Reader {
		query.Set("mode", "ro")
	}
	for _, setting := range pragma.Settings(role) {
		query.Add("_pragma", fmt.Sprintf("%s(%s)", setting.Name, setting.Value))
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/… is file:///C:/… in a URI
	}
	// The URI form is needed for mode, and it is the one in which ?, # and % in a path
	// can be escaped at all.
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}
