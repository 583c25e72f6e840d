package mockserver

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

const (
	maxProducts      = 10_000
	maxProductLength = 100
	maxIconLength    = 2048
	maxUsers         = 10_000
	maxUserIDLength  = 100
)

// Product is an article in the game store (interface §1.5).
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

// StoreUser is a customer of the game store.
type StoreUser struct {
	// ID is the game's own id of the user, 1 to 100 characters; the records carry
	// it as the identifier, verbatim. Default: a new UUID, as many games have it.
	ID string
	// Name is 1 to 40 characters.
	Name string
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

// gameStore holds the products and the users of the game store. It is guarded by
// Server.mu.
type gameStore struct {
	apps     *directory
	book     *book
	changes  *changes
	products []*product
	users    []StoreUser
}

// saveProduct is [Server.SaveProduct].
func (g *gameStore) saveProduct(p Product) (Product, *Error) {
	p, problem := checkProduct(p)
	if problem != nil {
		return Product{}, problem
	}
	app, problem := g.apps.findNamed(p.Application)
	if problem != nil {
		return Product{}, problem
	}
	stored := new(product)
	switch {
	case p.ID != "":
		if stored, problem = g.product(p.ID); problem != nil {
			return Product{}, problem
		}
		if p.Application == "" {
			app = stored.app
		}
	case len(g.products) >= maxProducts:
		return Product{}, storageFull("the mock keeps at most %d products; delete one first", maxProducts)
	default:
		p.ID = uuid.NewString()
		g.products = append(g.products, stored)
	}
	stored.Product, stored.app = p, app
	g.changes.note()
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

func (g *gameStore) deleteProduct(id string) *Error {
	p, problem := g.product(id)
	if problem == nil {
		g.products = slices.DeleteFunc(g.products, func(other *product) bool { return other == p })
		g.changes.note()
	}
	return problem
}

func (g *gameStore) product(id string) (*product, *Error) {
	for _, p := range g.products {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, &Error{Code: CodeProductNotFound, Message: "the game store has no product with this id; " +
		"send the id that saving the product returned"}
}

// saveUser is [Server.SaveStoreUser].
func (g *gameStore) saveUser(u StoreUser) (StoreUser, *Error) {
	name, err := checkName(u.Name, maxNameLength)
	if err != nil {
		return StoreUser{}, invalidParameter("name", err.Error())
	}
	u.Name = name
	if u.ID == "" {
		u.ID = uuid.NewString()
	}
	id, err := checkName(u.ID, maxUserIDLength)
	switch {
	case err != nil:
		return StoreUser{}, invalidParameter("id", err.Error())
	case id != u.ID:
		return StoreUser{}, invalidParameter("id", "must not begin or end with a space")
	}
	i := g.userIndex(u.ID)
	switch {
	case i >= 0:
		g.users[i] = u
	case len(g.users) >= maxUsers:
		return StoreUser{}, storageFull("the mock keeps at most %d users of the game store; start another one", maxUsers)
	default:
		g.users = append(g.users, u)
	}
	g.changes.note()
	return u, nil
}

func (g *gameStore) userIndex(id string) int {
	return slices.IndexFunc(g.users, func(u StoreUser) bool { return u.ID == id })
}

// buy is [Server.Buy].
func (g *gameStore) buy(productID, userID string) (*payment, *Error) {
	if g.book.timers.closed {
		return nil, serverClosed()
	}
	bought, problem := g.product(productID)
	if problem != nil {
		return nil, problem
	}
	if g.userIndex(userID) < 0 {
		return nil, &Error{Code: CodeUserNotFound, Message: "the game store has no user with this id; save the user first"}
	}
	p := &payment{Payment: Payment{
		ID: uuid.NewString(), Identifier: userID,
		Title: bought.Name, Icon: bought.Icon, Amount: bought.Price, GameProduct: bought.ID,
	}}
	p.metadata = strictjson.AppendString([]byte{'{'}, bought.app.GameField)
	p.metadata = append(strictjson.AppendString(append(p.metadata, ':'), bought.ID), '}')
	return p, g.book.insert(p, bought.app)
}

// buyFrom is buy for a product that is in the store of the named application.
func (g *gameStore) buyFrom(app, productID, userID string) (*payment, *Error) {
	if sold, problem := g.product(productID); problem == nil && sold.app.Name != app {
		return nil, &Error{Code: CodeProductNotFound, Message: "this store does not sell it; look into the other stores"}
	}
	return g.buy(productID, userID)
}
