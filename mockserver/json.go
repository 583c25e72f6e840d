package mockserver

import (
	"encoding/json"
	"time"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// object is a JSON object from a request; reading a wrong field gives the mock's error.
type object struct{ strictjson.Object }

// parseObject reads a body as exactly one JSON object.
func parseObject(body []byte) (object, *Error) {
	o, problem := strictjson.Parse(body)
	return object{o}, refusedJSON(problem)
}

// splitObject finds the fields of one object inside well-formed JSON.
func splitObject(raw []byte) (object, *Error) {
	o, problem := strictjson.SplitObject(raw)
	return object{o}, refusedJSON(problem)
}

func refusedJSON(problem *strictjson.Problem) *Error {
	switch {
	case problem == nil:
		return nil
	case problem.Field == "":
		return invalidJSON(problem.Message)
	}
	return invalidParameter(problem.Field, problem.Message)
}

// text returns an optional text; path is the field's full name for messages.
func (o object) text(name, path string) (string, *Error) {
	s, problem := o.Text(name, path)
	return s, refusedJSON(problem)
}

// required returns a text that must be present and not empty.
func (o object) required(name, path string) (string, *Error) {
	s, problem := o.Required(name, path)
	return s, refusedJSON(problem)
}

// whole returns an optional whole number of at least least.
func (o object) whole(name, path string, least int64) (n int64, present bool, _ *Error) {
	n, present, problem := o.Whole(name, path, least)
	return n, present, refusedJSON(problem)
}

// textField names a text field and where to put its value.
type textField struct {
	name  string
	value *string
}

// texts reads several optional texts.
func (o object) texts(fields ...textField) (problem *Error) {
	for _, f := range fields {
		if *f.value, problem = o.text(f.name, f.name); problem != nil {
			return problem
		}
	}
	return nil
}

// requiredTexts reads several texts that must be present and not empty.
func (o object) requiredTexts(fields ...textField) (problem *Error) {
	for _, f := range fields {
		if *f.value, problem = o.required(f.name, f.name); problem != nil {
			return problem
		}
	}
	return nil
}

// marshal renders an answer that is not hot. The types are the mock's own, so it cannot
// fail.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mockserver: " + err.Error())
	}
	return b
}

// timeLayout is how the service writes timestamps: RFC 3339, UTC, whole seconds.
const timeLayout = "2006-01-02T15:04:05Z"

// formatTime renders a timestamp; the zero time becomes "", which omitempty drops.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}
