package mockserver

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

const (
	maxUsers        = 10_000
	maxUserIDLength = 100
)

// StoreUser is somebody who buys in the game store.
type StoreUser struct {
	// ID is the game's own id of the user, 1 to 100 characters; the records carry
	// it as the identifier, verbatim. Default: a new UUID, as many games have it.
	ID string
	// Name is 1 to 40 characters.
	Name string
}

// StoreUsers returns the users of the game store, in the order in which they were
// first saved.
func (s *Server) StoreUsers() []StoreUser {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]StoreUser(nil), s.users...)
}

// SaveStoreUser saves a user of the game store and returns it as saved: a new one,
// or a new name of the one with this ID. At most 10,000 users are kept. The error
// is an [*Error]: [CodeInvalidParameter] or [CodeStorageFull].
func (s *Server) SaveStoreUser(u StoreUser) (StoreUser, error) {
	saved, problem := s.saveStoreUser(u)
	if problem != nil {
		return StoreUser{}, problem
	}
	return saved, nil
}

func (s *Server) saveStoreUser(u StoreUser) (StoreUser, *Error) {
	name, err := checkName(u.Name, maxNameLength)
	if err != nil {
		return u, invalidParameter("name", err.Error())
	}
	u.Name = name
	if u.ID == "" {
		u.ID = uuid.NewString()
	}
	id, err := checkName(u.ID, maxUserIDLength)
	switch {
	case err != nil:
		return u, invalidParameter("id", err.Error())
	case id != u.ID:
		return u, invalidParameter("id", "must not begin or end with a space")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.userIndex(u.ID)
	switch {
	case i >= 0:
		s.users[i] = u
	case len(s.users) >= maxUsers:
		return u, &Error{Code: CodeStorageFull, Message: fmt.Sprintf("the mock keeps at most %d users of the game store; start another one", maxUsers)}
	default:
		s.users = append(s.users, u)
	}
	s.changed()
	return u, nil
}

func (s *Server) userIndex(id string) int {
	for i := range s.users {
		if s.users[i].ID == id {
			return i
		}
	}
	return -1
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
	p, problem := s.buy(productID, userID)
	if problem != nil {
		return Payment{}, problem
	}
	return p, nil
}

func (s *Server) buy(productID, userID string) (Payment, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Payment{}, serverClosed()
	}
	bought, problem := s.product(productID)
	if problem != nil {
		return Payment{}, problem
	}
	if s.userIndex(userID) < 0 {
		return Payment{}, &Error{Code: CodeUserNotFound, Message: "the game store has no user with this id; save the user first"}
	}
	p := &payment{Payment: Payment{
		ID: uuid.NewString(), Identifier: userID,
		Title: bought.Name, Icon: bought.Icon, Amount: bought.Price, GameProduct: bought.ID,
	}}
	p.metadata = strictjson.AppendString([]byte{'{'}, bought.app.GameField)
	p.metadata = append(strictjson.AppendString(append(p.metadata, ':'), bought.ID), '}')
	if problem := s.keep(p, bought.app); problem != nil {
		return Payment{}, problem
	}
	return p.export(), nil
}
