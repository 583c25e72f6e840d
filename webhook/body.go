package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/safecall"
)

const (
	maxBody        = 4 << 10
	fieldPaymentID = "payment_id"
)

// Errors of bodies. None quotes the body.
var (
	errTooLarge  = fmt.Errorf("webhook: the body is longer than %d bytes", maxBody)
	errSlow      = errors.New("webhook: the body did not arrive within Config.Budget")
	errCut       = errors.New("webhook: the body ended early")
	errNotJSON   = errors.New("webhook: the body is not one JSON value in UTF-8")
	errNotObject = errors.New("webhook: the body is not a JSON object")
	errMissing   = errors.New("webhook: the body has no payment_id")
	errTwice     = errors.New("webhook: the body has payment_id twice")
	errExtra     = errors.New("webhook: the body has a field other than payment_id, and Config.Strict is set")
	errNotUUID   = errors.New("webhook: payment_id is not a hyphenated UUID string")
	errNilUUID   = errors.New("webhook: payment_id is the nil UUID")
)

// isJSON accepts application/json with any parameters.
func isJSON(header http.Header) bool {
	values := header["Content-Type"]
	if len(values) != 1 {
		return false
	}
	mediaType, _, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.Trim(mediaType, " \t"), "application/json")
}

// readBody reads the body until ctx ends. The goroutine that reads ends with the body, or
// with the connection's read deadline, which is set when ctx ends.
func readBody(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	if r.Body == nil {
		return nil, nil
	}
	type read struct {
		body []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		var got read
		got.err = safecall.Do("webhook: reading the body", func() (err error) {
			got.body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
			return err
		})
		done <- got
	}()
	select {
	case got := <-done:
		switch {
		case got.err != nil:
			return nil, fmt.Errorf("%w: %w", errCut, got.err)
		case len(got.body) > maxBody:
			return nil, errTooLarge
		}
		return got.body, nil
	case <-ctx.Done():
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // not every writer can
		return nil, errSlow
	}
}

// parseBody parses the body of a webhook (interface §6.1): an object with payment_id.
// Names are compared exactly, after decoding: encoding/json alone would accept
// "Payment_ID" too, and the last of two.
func parseBody(body []byte, strict bool) (uuid.UUID, error) {
	// Valid checks the whole body, trailing data included, so the loop below finds no syntax
	// error.
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

// parseID accepts only the hyphenated form of 36 characters; uuid.Parse accepts others.
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
