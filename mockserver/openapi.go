package mockserver

import (
	_ "embed" // for the document
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// The paths of the OpenAPI documents, and of the page that shows the service's.
const (
	openapiFile    = "/openapi.yaml"
	openapiPage    = "/openapi"
	openapiControl = controlRoot + openapiFile
)

// The documents describe the endpoints with the webhook in the default dialect, and the
// control API. They are written by hand; tests compare the traffic of the server to them.
var (
	//go:embed openapi.yaml
	openapiDocument string
	//go:embed openapi_control.yaml
	openapiControlDocument string
)

func openapiRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, openapiFile, func(v *visit) { v.openapiFile(openapiDocument) }},
		{http.MethodGet, openapiControl, func(v *visit) { v.openapiFile(openapiControlDocument) }},
		{http.MethodGet, openapiPage, (*visit).openapi},
	}
}

// openapiFile answers with a document itself.
func (v *visit) openapiFile(document string) {
	h := v.w.Header()
	web.Secure(h)
	h.Set("Content-Type", "application/yaml")
	http.ServeContent(v.w, v.Request, "", time.Time{}, strings.NewReader(document))
}

// openapi shows the document of the service to people.
func (v *visit) openapi() {
	data := web.OpenAPI{File: openapiFile, Control: openapiControl, Groups: openapiGroups()}
	v.show(web.Page{Name: "openapi", Title: v.t("openapi.title"), Data: data, Wide: true})
}

// openapiGroups is the document in parts for the page.
var openapiGroups = sync.OnceValue(func() []web.OpenAPIGroup { return groupOpenAPI(openapiDocument) })

// openapiDepth is the indentation of the names of the parts of a group.
var openapiDepth = map[string]int{"paths": 2, "webhooks": 2, "components": 4}

// groupOpenAPI splits a document into each path, each webhook, each component, and the
// introduction before them. It relies on an indentation of two spaces a level. Only the
// names above the parts, as in "paths:", are in no part.
func groupOpenAPI(document string) []web.OpenAPIGroup {
	groups, depth := []web.OpenAPIGroup{{Key: "about"}}, 0
	for line := range strings.Lines(document) {
		name, indent := openapiName(line)
		if openapiDepth[name] > 0 && indent == 0 {
			groups, depth = append(groups, web.OpenAPIGroup{Key: name}), openapiDepth[name]
			continue
		}
		group := &groups[len(groups)-1]
		switch {
		case name != "" && indent < depth:
			continue
		case name != "" && indent == depth && depth > 0, len(group.Parts) == 0:
			group.Parts = append(group.Parts, web.OpenAPIPart{Name: name})
		}
		group.Parts[len(group.Parts)-1].Text += line
	}
	for _, group := range groups {
		for i := range group.Parts {
			finishOpenAPIPart(&group.Parts[i])
		}
	}
	return groups
}

// openapiName is the name on a line without anything else, and its indentation.
func openapiName(line string) (name string, indent int) {
	name, ok := strings.CutSuffix(strings.TrimRight(line, "\n"), ":")
	bare := strings.TrimLeft(name, " ")
	if !ok || strings.Contains(bare, " ") {
		return "", 0
	}
	return bare, len(name) - len(bare)
}

var (
	openapiMethod  = regexp.MustCompile(`(?m)^ {4}(get|post):$`)
	openapiSummary = regexp.MustCompile(`(?m)^ +summary: (.+)$`)
	notInID        = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// finishOpenAPIPart fills in the fields that follow from the text; the method of a path
// belongs to its name.
func finishOpenAPIPart(p *web.OpenAPIPart) {
	if method := openapiMethod.FindStringSubmatch(p.Text); method != nil {
		p.Name = strings.ToUpper(method[1]) + " " + p.Name
	}
	if summary := openapiSummary.FindStringSubmatch(p.Text); summary != nil {
		p.Summary = summary[1]
	}
	p.ID = strings.Trim(notInID.ReplaceAllString(p.Name, "-"), "-")
}
