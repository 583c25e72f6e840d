package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"
)

// Root is the path of what the pages share.
const Root = "/_page"

// ChangesPath is where live pages listen to server-sent events, one for each change.
const ChangesPath = Root + "/changes"

//go:embed *.html *.css *.js
var files embed.FS

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
}

// ServeAsset sends a stylesheet or a script under [Root]. It is false if there is none with
// that name.
func ServeAsset(w http.ResponseWriter, r *http.Request) bool {
	name := strings.TrimPrefix(r.URL.Path, Root+"/")
	contentType := contentTypes[path.Ext(name)]
	if contentType == "" || strings.Contains(name, "/") {
		return false
	}
	body, err := files.ReadFile(name)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(body)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache") // revalidated, and mostly answered with 304
	w.Header().Set("Etag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	return true
}
