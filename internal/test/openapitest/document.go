package openapitest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// Document is an OpenAPI 3.1 document with compiled schemas.
type Document struct {
	paths    map[string]map[string]*operation // by path and method
	webhooks map[string]*operation
	failure  *jsonschema.Schema // components.schemas.Error
	statuses bool               // errors have an HTTP status of their own

	mu   sync.Mutex
	seen map[string]bool // "operationId outcome"
}

// Parse reads a document in YAML. The error says what is no valid OpenAPI 3.1, or which
// schema cannot be compiled.
func Parse(raw []byte) (*Document, error) {
	spec, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("openapitest: the document cannot be read: %w", err)
	}
	if err := spec.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("openapitest: the document is no valid OpenAPI: %w", err)
	}
	c, err := newCompiler(raw)
	if err != nil {
		return nil, err
	}
	d := &Document{paths: map[string]map[string]*operation{}, webhooks: map[string]*operation{}, seen: map[string]bool{}}
	for path, item := range spec.Paths.Map() {
		d.paths[path] = map[string]*operation{}
		for method, op := range item.Operations() {
			described := c.operation(op, "/paths/"+escape(path)+"/"+strings.ToLower(method))
			d.paths[path][method] = described
			d.statuses = d.statuses || described.statuses()
		}
	}
	for name, item := range spec.Webhooks {
		d.webhooks[name] = c.operation(item.Post, "/webhooks/"+escape(name)+"/post")
	}
	d.failure = c.compile(c.closed, "/components/schemas/Error")
	if c.err != nil {
		return nil, fmt.Errorf("openapitest: a schema cannot be compiled: %w", c.err)
	}
	return d, nil
}

// Operations are the paths with their methods, as in "POST /payments".
func (d *Document) Operations() []string {
	var list []string
	for path, methods := range d.paths {
		for method := range methods {
			list = append(list, method+" "+path)
		}
	}
	slices.Sort(list)
	return list
}

// methods are the operations of a path, which may have parts in braces: nil without any.
func (d *Document) methods(path string) map[string]*operation {
	if methods := d.paths[path]; methods != nil {
		return methods
	}
	parts := strings.Split(path, "/")
	for template, methods := range d.paths {
		wanted := strings.Split(template, "/")
		if slices.EqualFunc(wanted, parts, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && got != ""
		}) {
			return methods
		}
	}
	return nil
}

// Uncovered are the documented outcomes that no exchange has had: "success" and the error
// codes of each operation, as in "createPayment STORAGE_FULL".
func (d *Document) Uncovered() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, methods := range d.paths {
		for op := range maps.Values(methods) {
			for _, outcome := range op.outcomes {
				if !d.seen[op.id+" "+outcome] {
					list = append(list, op.id+" "+outcome)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

func (d *Document) saw(op *operation, outcome string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[op.id+" "+outcome] = true
}

// schemas is the document as a place to find schemas in.
type schemas struct{ *jsonschema.Compiler }

const documentURL = "https://openapi.test/document.json"

// compiler compiles what an operation needs, and keeps the first error.
type compiler struct {
	open, closed schemas // closed: no object has other fields than those it names
	err          error
}

func newCompiler(raw []byte) (*compiler, error) {
	open, err := newSchemas(raw, func(any) {})
	if err != nil {
		return nil, err
	}
	closed, err := newSchemas(raw, closeObjects)
	if err != nil {
		return nil, err
	}
	return &compiler{open: open, closed: closed}, nil
}

func newSchemas(raw []byte, change func(any)) (schemas, error) {
	var tree any
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		return schemas{}, fmt.Errorf("openapitest: the document is no YAML: %w", err)
	}
	change(tree)
	text, err := json.Marshal(tree)
	if err != nil {
		return schemas{}, fmt.Errorf("openapitest: the document is no JSON: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return schemas{}, fmt.Errorf("openapitest: the document is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(documentURL, value); err != nil {
		return schemas{}, fmt.Errorf("openapitest: the document cannot be searched for schemas: %w", err)
	}
	return schemas{c}, nil
}

// closeObjects forbids unnamed fields wherever an object names some and is silent about
// others.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, named := node["properties"]
		_, told := node["additionalProperties"]
		if node["type"] == "object" && named && !told {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

func (c *compiler) compile(from schemas, pointer string) *jsonschema.Schema {
	schema, err := from.Compile(documentURL + "#" + pointer)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", pointer, err)
	}
	return schema
}

// escape makes a name a step of a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
