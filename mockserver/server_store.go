package mockserver

import "slices"

// Products returns a copy of every product of every application, in the order in
// which they were first saved.
func (s *Server) Products() []Product {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Product, len(s.store.products))
	for i, p := range s.store.products {
		list[i] = p.export()
	}
	return list
}

// SaveProduct saves a product and returns it as saved. Without an ID it is a new
// one and gets its id; with an ID it replaces that product, whose payments stay as
// they are. At most 10,000 products are kept. The error is an [*Error]:
// [CodeInvalidParameter], [CodeProductNotFound] or [CodeStorageFull].
func (s *Server) SaveProduct(p Product) (Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved, problem := s.store.saveProduct(p)
	return saved, asError(problem)
}

// DeleteProduct takes a product out of the game store; its payments stay as they
// are. The error is an [*Error]: [CodeProductNotFound].
func (s *Server) DeleteProduct(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return asError(s.store.deleteProduct(id))
}

// StoreUsers returns the users of the game store, in the order in which they were
// first saved.
func (s *Server) StoreUsers() []StoreUser {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.store.users)
}

// SaveStoreUser saves a user of the game store and returns it as saved: a new one,
// or a new name of the one with this ID. At most 10,000 users are kept. The error
// is an [*Error]: [CodeInvalidParameter] or [CodeStorageFull].
func (s *Server) SaveStoreUser(u StoreUser) (StoreUser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	saved, problem := s.store.saveUser(u)
	return saved, asError(problem)
}

// Buy makes a payment as a user of the game store does it (interface §1.5): for one
// product, at its price. The record carries the product id in metadata, under the
// application's [Application.GameField], and the user id as its identifier. The
// merchant learns of the payment by a webhook or a poll, once it is paid: go on
// with [Server.GivePayer] and [Server.Deposit].
//
// The error is an [*Error]: [CodeProductNotFound], [CodeUserNotFound],
// [CodeStorageFull] or [CodeServerClosed].
func (s *Server) Buy(productID, userID string) (Payment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exported(s.store.buy(productID, userID))
}
