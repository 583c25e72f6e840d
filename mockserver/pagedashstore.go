package mockserver

import (
	"slices"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashStore are the products of the game store; ?edit= opens the form of one.
func (s *Server) dashStore(c *dashCall) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pager, from, to := web.NewPager(c.Request, len(s.store.products), dashPageSize)
	view := web.DashStore{Pager: pager}
	for _, app := range s.apps.list {
		view.Applications = append(view.Applications, app.Name)
	}
	for _, p := range slices.Backward(s.store.products[len(s.store.products)-to : len(s.store.products)-from]) {
		view.Products = append(view.Products, s.dashProduct(p))
	}
	if p, problem := s.store.product(c.param("edit")); problem == nil {
		view.Edit = s.dashProduct(p)
	}
	return view, nil
}

// dashUsers are the users of the game store; ?edit= opens the form of one.
func (s *Server) dashUsers(c *dashCall) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pager, from, to := web.NewPager(c.Request, len(s.store.users), dashPageSize)
	view := web.DashUsers{Pager: pager}
	for _, u := range slices.Backward(s.store.users[len(s.store.users)-to : len(s.store.users)-from]) {
		view.Users = append(view.Users, s.dashUser(u))
	}
	if i := s.store.userIndex(c.param("edit")); i >= 0 {
		view.Edit = s.dashUser(s.store.users[i])
	}
	return view, nil
}

func (s *Server) dashProduct(p *product) web.DashProduct {
	return web.DashProduct{ID: p.ID, Application: p.app.Name, Name: s.log.hideKnown(p.Name), Icon: s.log.hideKnown(p.Icon), Price: p.Price}
}

func (s *Server) dashUser(u StoreUser) web.DashUser {
	return web.DashUser{ID: s.log.hideKnown(u.ID), Name: s.log.hideKnown(u.Name)}
}

// doProduct saves a product: the one with the id, or a new one.
func (s *Server) doProduct(c *dashCall) (dashDone, *Error) {
	price, _, problem := c.whole("price")
	if problem != nil {
		return dashDone{}, problem
	}
	old := s.productOf(c.value("id"))
	p, problem := asProblem(s.SaveProduct(Product{
		ID: c.value("id"), Application: c.value("application"), Price: price,
		Name: s.log.keepHidden(c.value("name"), old.Name), Icon: s.log.keepHidden(c.value("icon"), old.Icon),
	}))
	return dashDone{to: "ui/store#product-" + p.ID, said: "product"}, problem
}

// productOf is the product with an id, the zero Product without one.
func (s *Server) productOf(id string) Product {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, problem := s.store.product(id); problem == nil {
		return p.Product
	}
	return Product{}
}

func (s *Server) doProductDelete(c *dashCall) (dashDone, *Error) {
	return dashDone{said: "product-deleted"}, problemIn(s.DeleteProduct(c.id))
}

// doUser saves a user of the store.
func (s *Server) doUser(c *dashCall) (dashDone, *Error) {
	_, problem := asProblem(s.SaveStoreUser(StoreUser{ID: c.value("id"), Name: c.value("name")}))
	return dashDone{to: "ui/users", said: "user"}, problem
}
