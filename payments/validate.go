package payments

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidationError names the invalid field of a request or configuration and the rule it
// breaks. Nothing was sent.
type ValidationError struct {
	Op     string // "Create", "New", …
	Field  string // Go or wire name with its index: "items[2].icon"
	Reason string // what is wrong and what is allowed
}

// Error returns "payments: Create: items[2].icon: must start with https://".
func (e *ValidationError) Error() string {
	return "payments: " + e.Op + ": " + e.Field + ": " + e.Reason
}

// Validate checks the rules of interface §2.1, as Create does before it sends
// anything. The error is a *ValidationError.
func (r *CreateRequest) Validate() error {
	if err := required("title", r.Title); err != nil {
		return err
	}
	if err := required("identifier", r.Identifier); err != nil {
		return err
	}
	if err := icon("icon", r.Icon); err != nil {
		return err
	}
	if r.Amount.Sign() < 0 {
		return &ValidationError{"Create", "amount", "is negative; leave it 0 to let the customer enter one"}
	}
	for i := range r.Items {
		if err := r.Items[i].validate(i); err != nil {
			return err
		}
	}
	return nil
}

func (i *Item) validate(n int) error {
	at := func(field string) string { return fmt.Sprintf("items[%d].%s", n, field) }
	switch {
	case i.Name == "":
		return &ValidationError{"Create", at("name"), "is empty; an item needs a name"}
	case !utf8.ValidString(i.Name):
		return &ValidationError{"Create", at("name"), "is not valid UTF-8"}
	case i.Price.Sign() < 0:
		return &ValidationError{"Create", at("price"), "is negative"}
	case i.Count < 0:
		return &ValidationError{"Create", at("count"), "is negative; leave it 0 if there is no count"}
	case i.Icon != "":
		return icon(at("icon"), i.Icon)
	}
	return nil
}

func required(field, value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return &ValidationError{"Create", field, "is empty; it is required"}
	case !utf8.ValidString(value):
		// JSON would replace the bytes, and an identifier must come back verbatim.
		return &ValidationError{"Create", field, "is not valid UTF-8"}
	}
	return nil
}

func icon(field, value string) error {
	const prefix = "https://"
	switch {
	case value == "":
		return nil
	case !strings.HasPrefix(value, prefix) || len(value) == len(prefix):
		return &ValidationError{"Create", field, "must start with https:// and name a host"}
	case !utf8.ValidString(value):
		return &ValidationError{"Create", field, "is not valid UTF-8"}
	}
	return nil
}
