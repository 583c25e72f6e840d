package mockserver

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// maxStoredBytes bounds the texts of all payments together.
const maxStoredBytes = 256 << 20

// create answers POST /payments (interface §4.1): {"payToken":"…"}.
func (s *Server) create(c *call) ([]byte, *Error) {
	p, token, problem := readCreation(c.body)
	if problem != nil {
		return nil, problem
	}
	p.ID = uuid.NewString()
	if problem := s.store(p, token); problem != nil {
		return nil, problem
	}
	b := make([]byte, 0, 64)
	b = append(b, `{"payToken":"`...)
	b = append(b, p.ID...)
	return append(b, `"}`...), nil
}

func (s *Server) store(p *payment, token string) *Error {
	size := len(p.Identifier) + len(p.Title) + len(p.metadata)
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.application(token)
	if problem != nil {
		return problem
	}
	if len(s.order) >= s.cfg.MaxPayments || s.storedBytes+size > maxStoredBytes {
		return &Error{Code: CodeStorageFull, Message: fmt.Sprintf("the mock keeps at most %d payments and %d MiB "+
			"of their texts, and drops none; start a new one or raise Config.MaxPayments", s.cfg.MaxPayments, maxStoredBytes>>20)}
	}
	p.app, p.Status, p.CreatedAt = app, StatusCreated, s.clock.now()
	s.storedBytes += size
	s.payments[p.ID] = p
	s.order = append(s.order, p)
	return nil
}

// readCreation reads and checks the body of interface §2.1. Fields that the
// interface does not name are ignored.
func readCreation(body []byte) (p *payment, token string, problem *Error) {
	o, problem := parseObject(body)
	if problem != nil {
		return nil, "", problem
	}
	p = new(payment)
	if token, problem = o.required("token", "token"); problem != nil {
		return nil, "", problem
	}
	if p.Title, problem = o.required("title", "title"); problem != nil {
		return nil, "", problem
	}
	if p.Identifier, problem = o.required("identifier", "identifier"); problem != nil {
		return nil, "", problem
	}
	if problem = checkIcon(o, "icon"); problem != nil {
		return nil, "", problem
	}
	if p.Amount, _, problem = o.whole("amount", "amount", 1); problem != nil {
		return nil, "", problem
	}
	p.metadata, problem = readItems(o)
	return p, token, problem
}

// readItems turns the items of a creation into the metadata of the record: the
// same order, and a count of 1 where none was given. Without items it is nil.
func readItems(o object) ([]byte, *Error) {
	raw, ok := o.get("items")
	if !ok {
		return nil, nil
	}
	elements, ok := splitArray(raw)
	if !ok {
		return nil, invalidParameter("items", "must be an array of objects")
	}
	if len(elements) == 0 {
		return nil, nil
	}
	b := []byte(`{"items":[`)
	for i, element := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		var problem *Error
		if b, problem = appendItem(b, element, fmt.Sprintf("items[%d]", i)); problem != nil {
			return nil, problem
		}
	}
	return append(b, "]}"...), nil
}

func appendItem(b, raw []byte, path string) ([]byte, *Error) {
	if raw[0] != '{' {
		return nil, invalidParameter(path, "must be an object with name and price")
	}
	o, problem := splitObject(raw)
	if problem != nil {
		return nil, problem
	}
	name, problem := o.required("name", path+".name")
	if problem != nil {
		return nil, problem
	}
	price, present, problem := o.whole("price", path+".price", 0)
	if problem != nil {
		return nil, problem
	}
	if !present {
		return nil, invalidParameter(path+".price", "is required: send a whole number")
	}
	count, present, problem := o.whole("count", path+".count", 1)
	if problem != nil {
		return nil, problem
	}
	if !present {
		count = 1
	}
	b = append(b, `{"name":`...)
	b = appendString(b, name)
	b = append(b, `,"price":`...)
	b = appendInt(b, price)
	b = append(b, `,"count":`...)
	b = appendInt(b, count)
	return append(b, '}'), checkIcon(o, path+".icon")
}

func checkIcon(o object, path string) *Error {
	icon, problem := o.text("icon", path)
	if _, present := o.get("icon"); problem == nil && present && !strings.HasPrefix(icon, "https://") {
		problem = invalidParameter(path, `must start with "https://"`)
	}
	return problem
}
