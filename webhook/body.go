package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/google/uuid"
)

const fieldPaymentID = "payment_id"

// Errors of bodies. None quotes the body.
var (
	errNotJSON   = errors.New("webhook: the body is not one JSON value in UTF-8")
	errNotObject = errors.New("webhook: the body is not a JSON object")
	errMissing   = errors.New("webhook: the body has no payment_id")
	errTwice     = errors.New("webhook: payment_id stands twice")
	errExtra     = errors.New("webhook: the body has a field besides payment_id, and Config.Strict is set")
	errNotUUID   = errors.New("webhook: payment_id is not a hyphenated UUID string")
	errNilUUID   = errors.New("webhook: payment_id is the nil UUID")
)

// parseBody reads the body of a webhook (interface §6.1): an object with payment_id.
// Names are compared exactly, after decoding: encoding/json alone would take
// "Payment_ID" too, and the last of two.
func parseBody(body []byte, strict bool) (uuid.UUID, error) {
	// Valid looks at the whole body, trailing data included, so that the walk below
	// meets no syntax error.
	if !utf8.Valid(body) || !json.Valid(body) {
		return uuid.Nil, errNotJSON
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return uuid.Nil, errNotObject
	}
	id, found := uuid.Nil, false
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return uuid.Nil, errNotJSON
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return uuid.Nil, errNotJSON
		}
		switch {
		case name != fieldPaymentID && strict:
			return uuid.Nil, errExtra
		case name != fieldPaymentID:
			continue
		case found:
			return uuid.Nil, errTwice
		}
		found = true
		if id, err = parseID(value); err != nil {
			return uuid.Nil, err
		}
	}
	if !found {
		return uuid.Nil, errMissing
	}
	return id, nil
}

// parseID accepts the 36 characters of the hyphenated form alone: uuid.Parse knows
// others.
func parseID(value json.RawMessage) (uuid.UUID, error) {
	var text *string
	if err := json.Unmarshal(value, &text); err != nil || text == nil || len(*text) != len(uuid.Nil.String()) {
		return uuid.Nil, errNotUUID
	}
	id, err := uuid.Parse(*text)
	switch {
	case err != nil:
		return uuid.Nil, errNotUUID
	case id == uuid.Nil:
		return uuid.Nil, errNilUUID
	}
	return id, nil
}
