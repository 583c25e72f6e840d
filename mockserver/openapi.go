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

// Where the OpenAPI document of the service lies, and the page that shows it.
const (
	openapiFile = "/openapi.yaml"
	openapiPage = "/openapi"
)

// openapiDocument describes the endpoints and the webhook in the default dialect. It is
// written by hand; a test holds the traffic of the server against it.
//
//go:embed openapi.yaml
var openapiDocument string

func openapiRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, openapiFile, (*visit).openapiFile},
		{http.MethodGet, openapiPage, (*visit).openapi},
	}
}

// openapiFile answers with the document itself.
func (v *visit) openapiFile() {
	h := v.w.Header()
	web.Secure(h)
	h.Set("Content-Type", "application/yaml")
	http.ServeContent(v.w, v.Request, "", time.Time{}, strings.NewReader(openapiDocument))
}

// openapi shows the document to people.
func (v *visit) openapi() {
	data := web.OpenAPI{File: openapiFile, Groups: openapiGroups()}
	v.show(web.Page{Name: "openapi", Title: v.t("openapi.title"), Data: data, Wide: true})
}

// openapiGroups is the document as the page has it.
var openapiGroups = sync.OnceValue(func() []web.OpenAPIGroup { return groupOpenAPI(openapiDocument) })

// openapiDepth is how far the names of the parts of a group are indented in the document.
var openapiDepth = map[string]int{"paths": 2, "webhooks": 2, "components": 4}

// groupOpenAPI cuts a document into what a reader looks for: each path, each webhook,
// each component, and all that comes before them. It goes by the indentation, two spaces
// a level. Only the names above the parts, as in "paths:", are in none.
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

// openapiName is the name on a line that holds nothing else, and its indentation.
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

// finishOpenAPIPart fills in what follows from the text: the method of a path belongs to
// its name.
func finishOpenAPIPart(p *web.OpenAPIPart) {
	if method := openapiMethod.FindStringSubmatch(p.Text); method != nil {
		p.Name = strings.ToUpper(method[1]) + " " + p.Name
	}
	if summary := openapiSummary.FindStringSubmatch(p.Text); summary != nil {
		p.Summary = summary[1]
	}
	p.ID = strings.Trim(notInID.ReplaceAllString(p.Name, "-"), "-")
}
