package mockserver

import (
	"net/http"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// oldEmptyCode is CodeNoProcessedPayment as it was called before 2025-05.
const oldEmptyCode = "NO_PROGRESS_PAYMENTS"

// word formats an endpoint's answer in the dialect.
func (d Dialect) word(op string, answer []byte, problem *Error) reply {
	switch {
	case problem == nil:
		return reply{status: http.StatusOK, body: d.success(op, answer)}
	case problem.Code == CodeNoProcessedPayment:
		return d.empty(problem)
	default:
		return d.failure(problem)
	}
}

func (d Dialect) empty(problem *Error) reply {
	switch d.choice[dialectEmpty] {
	case emptyOldCode:
		return d.failure(&Error{Code: oldEmptyCode, Message: problem.Message})
	case empty204:
		return reply{status: http.StatusNoContent}
	case emptyNull:
		return reply{status: http.StatusOK, body: []byte("null")}
	case emptyObject:
		return reply{status: http.StatusOK, body: []byte("{}")}
	case emptyNothing:
		return reply{status: http.StatusOK}
	default:
		return d.failure(problem)
	}
}

// failure formats an error. The fields that extra adds to an error are never objects: a
// client may mistake an object there for a payment that the error hides.
func (d Dialect) failure(problem *Error) reply {
	var b []byte
	switch d.choice[dialectErrors] {
	case errorsObject:
		b = strictjson.AppendString([]byte(`{"error":{"code":`), string(problem.Code))
		b = append(strictjson.AppendString(append(b, `,"message":`...), problem.Message), '}')
	case errorsCode:
		b = strictjson.AppendString([]byte(`{"code":`), string(problem.Code))
		b = strictjson.AppendString(append(b, `,"message":`...), problem.Message)
	default:
		b = problem.appendJSON(make([]byte, 0, errorSize))
		b = b[:len(b)-1]
	}
	if d.has(dialectExtra) {
		b = append(b, `,"request_id":"r-1","elapsed_ms":1.5e0,"hint":null`...)
	}
	out := reply{status: http.StatusOK, body: append(b, '}')}
	if d.has(dialectStatus) {
		out.status = problem.Code.serviceStatus()
	}
	return out
}

// serviceStatus is the status that fits an error of the service.
func (c Code) serviceStatus() int {
	switch c {
	case CodeNoProcessedPayment, oldEmptyCode:
		return http.StatusNotFound
	case CodeInvalidToken:
		return http.StatusUnauthorized
	case CodeStorageFull:
		return http.StatusInsufficientStorage
	case CodeServerClosed:
		return http.StatusServiceUnavailable
	default:
		return c.httpStatus()
	}
}

func (d Dialect) has(option int) bool { return d.choice[option] != 0 }

// success formats a JSON value that an endpoint has made. Everything in it keeps its
// bytes.
func (d Dialect) success(op string, answer []byte) []byte {
	record := op == opNext || op == opConfirm
	envelope := d.choice[dialectEnvelope]
	if record && envelope == envelopeOld {
		answer = oldRecord(answer, op == opNext)
	}
	if d.has(dialectExtra) {
		answer = insert(answer, `"server":{"zone":"a","tags":["}",-0.0]},"fee":1e2,"note":null`)
	}
	switch {
	case envelope == envelopeData:
		answer = wrap("data", answer)
	case envelope == envelopeResult:
		answer = wrap("result", answer)
	case record && (envelope == envelopePayment || envelope == envelopeOld):
		answer = wrap("payment", answer)
	}
	if d.has(dialectNullError) {
		answer = insert(answer, `"error":null`)
	}
	return answer
}

func wrap(name string, value []byte) []byte {
	b := strictjson.AppendString([]byte{'{'}, name)
	return append(append(append(b, ':'), value...), '}')
}

// insert puts members first into an object. An array stays as it is.
func insert(object []byte, members string) []byte {
	if object[0] != '{' {
		return object
	}
	b := append([]byte{'{'}, members...)
	if object[1] != '}' {
		b = append(b, ',')
	}
	return append(b, object[1:]...)
}

// oldRecord is a record in the form of before 2025-05: paidAmount, and no id, status
// and verified_ts where it was polled. The fields keep their order and their bytes.
func oldRecord(record []byte, polled bool) []byte {
	fields, problem := strictjson.SplitObject(record)
	if problem != nil {
		panic("mockserver: a record is no JSON object: " + problem.Message)
	}
	b := []byte{'{'}
	for _, f := range fields {
		name := string(f.Name)
		switch name {
		case "id", "status", "verified_ts":
			if polled {
				continue
			}
		case "paid_amount":
			name = "paidAmount"
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(strictjson.AppendString(b, name), ':'), f.Value...)
	}
	return append(b, '}')
}
