package openapitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// readJSON reads one JSON value. Numbers keep their digits.
func readJSON(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not UTF-8")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	return tame(value), nil
}

var longExponent = regexp.MustCompile(`[eE]([-+]?)0*[1-9][0-9]{5,}$`)

// tame shortens exponents above 99,999, because the validator expands them. A body has no
// room for the digits that would bring such a number back into any bounds.
func tame(value any) any {
	switch value := value.(type) {
	case json.Number:
		return json.Number(longExponent.ReplaceAllString(string(value), "e${1}99999"))
	case map[string]any:
		for name, member := range value {
			value[name] = tame(member)
		}
	case []any:
		for i, element := range value {
			value[i] = tame(element)
		}
	}
	return value
}

// inexpressible tells of refusals that no schema can foresee: an escape of half a
// surrogate pair, and a notification_id that was sent with other texts before.
func inexpressible(request, answer []byte) bool {
	return strings.Contains(strings.ToLower(string(request)), `\ud`) ||
		bytes.Contains(answer, []byte(`"error_msg":"\"notification_id\" was sent`))
}
