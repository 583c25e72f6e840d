package mockserver

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

const (
	maxProducts      = 10_000
	maxProductLength = 100
	maxIconLength    = 2048
)

// Product is something that an operator sells in the game store (interface §1.5).
type Product struct {
	// ID is the product id of the records (interface §2.2), a UUID that
	// [Server.SaveProduct] gives when it saves the product for the first time.
	ID string
	// Application is the name of the application whose product it is. Default:
	// the first one, or for a product that is saved again the one it has.
	Application string
	// Name is 1 to 100 characters.
	Name string
	// Icon is an https:// address of up to 2048 bytes, or empty.
	Icon string
	// Price is a whole number of the currency's unit, at least 1.
	Price int64
}

// product is the stored form, guarded by Server.mu. Its application may change its
// name, so Application is filled in by export.
type product struct {
	Product
	app *application
}

func (p *product) export() Product {
	out := p.Product
	out.Application = p.app.Name
	return out
}

// Products returns a copy of every product of every application, in the order in
// which they were first saved.
func (s *Server) Products() []Product {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Product, len(s.products))
	for i, p := range s.products {
		list[i] = p.export()
	}
	return list
}

// SaveProduct saves a product and returns it as saved. Without an ID it is a new
// one and gets its id; with an ID it replaces that product, whose payments stay as
// they are. At most 10,000 products are kept. The error is an [*Error]:
// [CodeInvalidParameter], [CodeProductNotFound] or [CodeStorageFull].
func (s *Server) SaveProduct(p Product) (Product, error) {
	saved, problem := s.saveProduct(p)
	if problem != nil {
		return Product{}, problem
	}
	return saved, nil
}

func (s *Server) saveProduct(p Product) (Product, *Error) {
	p, problem := checkProduct(p)
	if problem != nil {
		return p, problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.applicationOrFirst(p.Application)
	if problem != nil {
		return p, problem
	}
	stored := new(product)
	switch {
	case p.ID != "":
		if stored, problem = s.product(p.ID); problem != nil {
			return p, problem
		}
		if p.Application == "" {
			app = stored.app
		}
	case len(s.products) >= maxProducts:
		return p, &Error{Code: CodeStorageFull, Message: fmt.Sprintf("the mock keeps at most %d products; delete one first", maxProducts)}
	default:
		p.ID = uuid.NewString()
		s.products = append(s.products, stored)
	}
	stored.Product, stored.app = p, app
	s.changed()
	return stored.export(), nil
}

func checkProduct(p Product) (Product, *Error) {
	name, err := checkName(p.Name, maxProductLength)
	if err != nil {
		return p, invalidParameter("name", err.Error())
	}
	p.Name = name
	if p.Price < 1 {
		return p, invalidParameter("price", "must be at least 1")
	}
	if p.Icon == "" {
		return p, nil
	}
	if len(p.Icon) > maxIconLength {
		return p, invalidParameter("icon", fmt.Sprintf("must be at most %d bytes long", maxIconLength))
	}
	return p, checkIcon(p.Icon, "icon")
}

// DeleteProduct takes a product out of the game store; its payments stay as they
// are. The error is an [*Error]: [CodeProductNotFound].
func (s *Server) DeleteProduct(id string) error {
	if problem := s.deleteProduct(id); problem != nil {
		return problem
	}
	return nil
}

func (s *Server) deleteProduct(id string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, problem := s.product(id)
	if problem == nil {
		s.products = slices.DeleteFunc(s.products, func(other *product) bool { return other == p })
		s.changed()
	}
	return problem
}

// product finds a product. The caller holds s.mu.
func (s *Server) product(id string) (*product, *Error) {
	for _, p := range s.products {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, &Error{Code: CodeProductNotFound, Message: "the game store has no product with this id; " +
		"send the id that saving the product returned"}
}
