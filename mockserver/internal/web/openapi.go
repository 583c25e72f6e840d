package web

// OpenAPI is the page of the OpenAPI document. The document is in English, whatever the
// language of the visitor.
type OpenAPI struct {
	// File is the path of the document itself, Control that of the control API's.
	File, Control string
	Groups        []OpenAPIGroup
}

// OpenAPIGroup is the paths, the webhooks, the components, or what comes before them.
type OpenAPIGroup struct {
	// Key is about, paths, webhooks or components.
	Key   string
	Parts []OpenAPIPart
}

// OpenAPIPart is one path, webhook or component.
type OpenAPIPart struct {
	// ID is for links within the page.
	ID string
	// Name and Summary may be empty.
	Name, Summary string
	// Text is the part of the document, unchanged.
	Text string
}

// openapiTexts are the texts of the page around the document.
var openapiTexts = map[string]text{
	"openapi.title":      {"API 문서 (OpenAPI 3.1)", "API description (OpenAPI 3.1)"},
	"openapi.intro":      {"서비스의 요청과 응답, 웹훅을 설명합니다. 문서는 영어로 되어 있습니다.", "The requests, responses and webhook of the service."},
	"openapi.file":       {"문서 파일", "The document itself"},
	"openapi.control":    {"제어 API 문서 파일", "The document of the control API"},
	"openapi.contents":   {"차례", "Contents"},
	"openapi.about":      {"개요", "About"},
	"openapi.paths":      {"엔드포인트", "Endpoints"},
	"openapi.webhooks":   {"웹훅", "Webhook"},
	"openapi.components": {"스키마", "Schemas"},
}
