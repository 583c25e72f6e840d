package mockserver

import (
	"fmt"

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
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.application(token)
	if problem != nil {
		return problem
	}
	return s.keep(p, app)
}

// keep adds a new payment. The caller holds s.mu.
func (s *Server) keep(p *payment, app *application) *Error {
	size := p.size()
	if len(s.order) >= s.cfg.MaxPayments || s.storedBytes+size > maxStoredBytes {
		return s.paymentsFull()
	}
	p.app, p.Status, p.CreatedAt = app, StatusCreated, s.clock.now()
	s.storedBytes += size
	s.payments[p.ID] = p
	s.order = append(s.order, p)
	s.planExpiry()
	s.changed()
	return nil
}

func (s *Server) paymentsFull() *Error {
	return &Error{Code: CodeStorageFull, Message: fmt.Sprintf("the mock keeps at most %d payments and %d MiB "+
		"of their texts, and drops none; start a new one or raise Config.MaxPayments", s.cfg.MaxPayments, maxStoredBytes>>20)}
}

// namePayer keeps the name of who pays, within the bound of the texts. The caller holds
// s.mu.
func (s *Server) namePayer(p *payment, name string) *Error {
	grown := max(0, len(name)-len(p.Payer))
	if s.storedBytes+grown > maxStoredBytes {
		return s.paymentsFull()
	}
	s.storedBytes += grown
	p.Payer = name
	return nil
}

// readCreation reads and checks the body of interface §2.1. Fields that the
// interface does not name are ignored, metadata above all: only the game store
// makes payments of a product.
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
	if p.Icon, problem = readIcon(o, "icon"); problem != nil {
		return nil, "", problem
	}
	if p.Amount, _, problem = o.whole("amount", "amount", 1); problem != nil {
		return nil, "", problem
	}
	p.metadata, p.icons, problem = readItems(o)
	return p, token, problem
}
