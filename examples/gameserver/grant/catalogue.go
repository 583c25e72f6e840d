package grant

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Product is what a product of the service's dashboard stands for in the game.
type Product struct {
	// ID is the id that the dashboard gave the product.
	ID string `json:"id"`
	// Name is how people call it. The items of payments that you create yourself name a
	// product by it. Unique.
	Name string `json:"name"`
	// Price is the amount to pay for one; above 0.
	Price payments.Amount `json:"price"`
	// PerItem allows the customer to pay for several at once: any multiple of Price.
	PerItem bool `json:"per_item,omitempty"`
	// Lines are what the player gets; at least one.
	Lines []Line `json:"lines"`
}

// Line is a kind of item in a product.
type Line struct {
	// Item is the game's own id of the item: letters, digits and "_:./-", at most 100.
	Item string `json:"item"`
	// Count is how many of it one product holds, each a unit of its own. Default 1.
	Count int `json:"count,omitempty"`
	// Slots is how many free slots one unit takes in the inventory; 0 for what takes none,
	// such as a rank.
	Slots int `json:"slots,omitempty"`
	// OncePerOrder gives the line once a payment, however many products it pays for.
	OncePerOrder bool `json:"once_per_order,omitempty"`
}

// maxUnits bounds the units of one line in one payment.
const maxUnits = 10_000

var itemPattern = regexp.MustCompile(`^[A-Za-z0-9_:./-]{1,100}$`)

// Catalogue is a checked set of products. It does not change.
type Catalogue struct{ byID, byName map[string]Product }

// NewCatalogue checks the products. Errors name the product and the field.
func NewCatalogue(products ...Product) (*Catalogue, error) {
	c := &Catalogue{byID: map[string]Product{}, byName: map[string]Product{}}
	for i, p := range products {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("grant: product %d (%s): %w", i+1, p.Name, err)
		}
		if _, twice := c.byID[p.ID]; twice {
			return nil, fmt.Errorf("grant: product %d (%s): the id %q is there twice", i+1, p.Name, p.ID)
		}
		if _, twice := c.byName[p.Name]; twice {
			return nil, fmt.Errorf("grant: product %d: the name %q is there twice", i+1, p.Name)
		}
		p.Lines = append([]Line(nil), p.Lines...)
		c.byID[p.ID], c.byName[p.Name] = p, p
	}
	return c, nil
}

// ReadCatalogue reads a JSON array of products. A field that does not exist is an error,
// since it is a misspelled one.
func ReadCatalogue(r io.Reader) (*Catalogue, error) {
	var products []Product
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&products); err != nil {
		return nil, fmt.Errorf("grant: the catalogue is not a JSON array of products: %w", err)
	}
	return NewCatalogue(products...)
}

// Inbox is the catalogue for inbox.Config, which keeps a payment with the wrong amount, or
// with a product that is not here, for review.
func (c *Catalogue) Inbox() map[string]inbox.Product {
	products := make(map[string]inbox.Product, len(c.byID))
	for id, p := range c.byID {
		products[id] = inbox.Product{Price: p.Price, PerItem: p.PerItem}
	}
	return products
}

func (p *Product) check() error {
	switch {
	case p.ID == "":
		return errors.New("id: the dashboard's product id is missing")
	case p.Name == "":
		return errors.New("name: it is missing")
	case p.Price.Sign() <= 0:
		return errors.New("price: it must be above 0")
	case len(p.Lines) == 0:
		return errors.New("lines: there is nothing to grant")
	}
	for i, l := range p.Lines {
		if !itemPattern.MatchString(l.Item) {
			return fmt.Errorf("lines[%d].item: %q is not made of 1 to 100 letters, digits and _:./-", i, l.Item)
		}
		if l.Count < 0 || l.Count > maxUnits || l.Slots < 0 {
			return fmt.Errorf("lines[%d]: count (0 to %d) or slots (from 0) is out of range", i, maxUnits)
		}
	}
	return nil
}
