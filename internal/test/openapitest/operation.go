package openapitest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const mediaType = "application/json"

// operation is one method of one path, or a webhook.
type operation struct {
	id         string
	parameters []parameter
	body       *jsonschema.Schema // nil if it takes none
	bodyless   bool               // the body may be left out
	answers    map[string]*jsonschema.Schema
	outcomes   []string
}

type parameter struct {
	name, in        string
	required, empty bool
	kind            string // boolean, integer or string
	schema          *jsonschema.Schema
}

func (c *compiler) operation(op *openapi3.Operation, at string) *operation {
	out := &operation{id: op.OperationID, answers: map[string]*jsonschema.Schema{}, outcomes: []string{"success"}}
	for i, ref := range op.Parameters {
		p := parameter{name: ref.Value.Name, in: ref.Value.In, required: ref.Value.Required, empty: ref.Value.AllowEmptyValue, kind: "string"}
		for _, kind := range []string{"boolean", "integer"} {
			if ref.Value.Schema.Value.Type.Is(kind) {
				p.kind = kind
			}
		}
		own := at + "/parameters/" + strconv.Itoa(i)
		p.schema = c.compile(c.open, cmp.Or(strings.TrimPrefix(ref.Ref, "#"), own)+"/schema")
		out.parameters = append(out.parameters, p)
	}
	content := "/content/" + escape(mediaType) + "/schema"
	if op.RequestBody != nil {
		out.body, out.bodyless = c.compile(c.open, at+"/requestBody"+content), !op.RequestBody.Value.Required
	}
	for status, response := range op.Responses.Map() {
		out.answers[status] = nil
		if len(response.Value.Content) > 0 {
			own := cmp.Or(strings.TrimPrefix(response.Ref, "#"), at+"/responses/"+status)
			out.answers[status] = c.compile(c.closed, own+content)
			out.outcomes = append(out.outcomes, codes(response.Value.Content.Get(mediaType).Schema.Value)...)
		}
	}
	return out
}

// statuses reports whether an error of the operation has another HTTP status than 200.
func (o *operation) statuses() bool { return o.answers["default"] != nil }

// codes are the error codes of an answer: the enum of "error" in an allOf.
func codes(answer *openapi3.Schema) []string {
	var list []string
	for _, one := range answer.OneOf {
		for _, all := range one.Value.AllOf {
			if code := all.Value.Properties["error"]; all.Ref == "" && code != nil {
				for _, value := range code.Value.Enum {
					list = append(list, fmt.Sprint(value))
				}
			}
		}
	}
	return list
}

// forbids says what the document has against a request, nil if nothing.
func (o *operation) forbids(query url.Values, header http.Header, body []byte) error {
	for _, p := range o.parameters {
		if p.in == "path" {
			continue // any text
		}
		values := query[p.name]
		if p.in == "header" {
			values = header.Values(p.name)
		}
		if err := p.check(values); err != nil {
			return fmt.Errorf("%s parameter %s: %w", p.in, p.name, err)
		}
	}
	if o.body == nil || o.bodyless && len(body) == 0 {
		return nil
	}
	value, err := readJSON(body)
	if err != nil {
		return err
	}
	return o.body.Validate(value)
}

func (p *parameter) check(values []string) error {
	switch {
	case len(values) == 0 && !p.required, len(values) == 1 && values[0] == "" && p.empty:
		return nil
	case len(values) != 1:
		return fmt.Errorf("is given %d times", len(values))
	}
	value := any(values[0])
	switch p.kind {
	case "boolean":
		text := strings.ToLower(values[0])
		if text != "true" && text != "false" {
			return errors.New("is no boolean")
		}
		value = text == "true"
	case "integer":
		if !regexp.MustCompile(`^-?(0|[1-9][0-9]{0,18})$`).MatchString(values[0]) {
			return errors.New("is no whole number")
		}
		value = json.Number(values[0])
	}
	return p.schema.Validate(value)
}

// answersWith says what the document has against an answer, and which error code it holds.
func (o *operation) answersWith(status int, header http.Header, body []byte) (code string, err error) {
	name := strconv.Itoa(status)
	schema, ok := o.answers[name]
	if !ok {
		if schema, ok = o.answers["default"]; !ok {
			return "", fmt.Errorf("HTTP status %d is not in the document", status)
		}
	}
	if schema == nil {
		return "", nil
	}
	return checkAnswer(schema, header, body)
}

func checkAnswer(schema *jsonschema.Schema, header http.Header, body []byte) (code string, err error) {
	if err := checkMediaType(header); err != nil {
		return "", err
	}
	value, err := readJSON(body)
	if err != nil {
		return "", err
	}
	if object, ok := value.(map[string]any); ok {
		code, _ = object["error"].(string)
	}
	return code, schema.Validate(value)
}

func checkMediaType(header http.Header) error {
	given := header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(given); err != nil || media != mediaType {
		return fmt.Errorf("Content-Type is %q, not %s", given, mediaType)
	}
	return nil
}
