package openapitest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// exchange is a request with its answer.
type exchange struct {
	method               string
	url                  *url.URL
	header, answerHeader http.Header
	body, answer         []byte
	status               int
}

// refusals are the codes with which a request is refused that the document forbids.
var refusals = []string{"INVALID_JSON", "INVALID_PARAMETER", "BODY_TOO_LARGE"}

// check returns what is wrong with an exchange.
func (d *Document) check(e *exchange) []error {
	op := d.methods(e.url.Path)[e.method]
	if op == nil {
		return d.checkStranger(e)
	}
	var list []error
	if len(e.body) > 0 && op.body != nil {
		if err := checkMediaType(e.header); err != nil {
			list = append(list, fmt.Errorf("the request: %w", err))
		}
	}
	code, err := op.answersWith(e.status, e.answerHeader, e.answer)
	if err != nil {
		return append(list, fmt.Errorf("the answer: %w", err))
	}
	forbidden := op.forbids(e.url.Query(), e.header, e.body)
	switch refused := slices.Contains(refusals, code); {
	case forbidden != nil && !refused:
		list = append(list, fmt.Errorf("the document forbids this request, and it was not refused: %w", forbidden))
	case forbidden == nil && code == "INVALID_PARAMETER" && !op.statuses() && !inexpressible(e.body, e.answer):
		list = append(list, errors.New("the document allows this request, and it was refused"))
	}
	if code == "" {
		code = "success"
	}
	d.saw(op, code)
	return list
}

// checkUnread is check for a request whose body breaks off: only the answer counts.
func (d *Document) checkUnread(e *exchange) []error {
	op := d.methods(e.url.Path)[e.method]
	if op == nil {
		return d.checkStranger(e)
	}
	code, err := op.answersWith(e.status, e.answerHeader, e.answer)
	switch {
	case err != nil:
		return []error{fmt.Errorf("the answer: %w", err)}
	case !slices.Contains(refusals, code):
		return []error{errors.New("the request broke off, and it was not refused")}
	}
	d.saw(op, code)
	return nil
}

// checkWebhook is check for a webhook. Its receiver may answer what it likes.
func (o *operation) checkWebhook(e *exchange) []error {
	var list []error
	if e.method != http.MethodPost {
		list = append(list, fmt.Errorf("the webhook: the method is %s, not POST", e.method))
	}
	if err := checkMediaType(e.header); err != nil {
		list = append(list, fmt.Errorf("the webhook: %w", err))
	}
	if err := o.forbids(e.url.Query(), e.header, e.body); err != nil {
		list = append(list, fmt.Errorf("the webhook: %w", err))
	}
	return list
}

// checkStranger is check for what the document does not have.
func (d *Document) checkStranger(e *exchange) []error {
	want, status := "NOT_FOUND", http.StatusNotFound
	if d.methods(e.url.Path) != nil {
		want, status = "METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed
	}
	if !d.statuses {
		status = http.StatusOK
	}
	code, err := checkAnswer(d.failure, e.answerHeader, e.answer)
	switch {
	case err != nil:
		return []error{fmt.Errorf("the answer: %w", err)}
	case e.status != status:
		return []error{fmt.Errorf("the answer: HTTP status %d, not %d", e.status, status)}
	case code != want && code != "BODY_TOO_LARGE" && code != "INVALID_JSON":
		return []error{fmt.Errorf("the document does not have this request, and it was answered with %q, not %s", code, want)}
	}
	return nil
}
