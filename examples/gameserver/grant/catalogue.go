package grant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

// Product is what a product in the service's dashboard contains in the game.
type Product struct {
	ID    string          `json:"id"` // from the dashboard
	Name  string          `json:"name,omitempty"`
	Price payments.Amount `json:"price"` // of one: a whole amount above 0
	// PerItem lets a player pay for several at once: any multiple of Price.
	PerItem bool `json:"per_item,omitempty"`
	// Items are the game's ids of the items in one product, each a unit of its own.
	Items []string `json:"items"`
}

// maxUnits bounds the units of one payment.
const maxUnits = 10_000

// Catalogue is a checked set of products by their id. It does not change.
type Catalogue struct{ products map[string]Product }

// NewCatalogue checks the products. Errors name the product and the field.
func NewCatalogue(products ...Product) (*Catalogue, error) {
	c := &Catalogue{products: map[string]Product{}}
	for i, p := range products {
		_, whole := p.Price.Int64()
		var err error
		switch {
		case p.ID == "":
			err = errors.New("id: the dashboard's product id is missing")
		case c.products[p.ID].ID != "":
			err = fmt.Errorf("id: %q is a duplicate", p.ID)
		case !whole || p.Price.Sign() <= 0:
			err = errors.New("price: must be a whole amount above 0")
		case len(p.Items) == 0 || slices.Contains(p.Items, ""):
			err = errors.New("items: must name at least one item, and no empty one")
		}
		if err != nil {
			return nil, fmt.Errorf("grant: product %d (%s): %w", i+1, p.Name, err)
		}
		c.products[p.ID] = p
	}
	return c, nil
}

// Inbox is the catalogue for inbox.Config, which moves a payment with the wrong amount or an
// unknown product to review.
func (c *Catalogue) Inbox() map[string]inbox.Product {
	products := make(map[string]inbox.Product, len(c.products))
	for id, p := range c.products {
		products[id] = inbox.Product{Price: p.Price, PerItem: p.PerItem}
	}
	return products
}

// bought returns the items that a payment pays for, one for each unit.
func (c *Catalogue) bought(p payments.Payment) ([]string, error) {
	product, known := c.products[p.Metadata.GameProduct]
	if !known {
		return nil, fmt.Errorf("grant: the catalogue has no product with the id %q: add it and retry the payment, "+
			"or give by hand what it was for, then settle it", p.Metadata.GameProduct)
	}
	price, _ := product.Price.Int64()
	amount, whole := p.PaidAmount.Int64()
	n := int64(1) // the inbox has compared the amount with the price, or a person has approved it
	if product.PerItem && whole {
		n = max(1, amount/price)
	}
	if n > int64(maxUnits/len(product.Items)) {
		return nil, fmt.Errorf("grant: %s pays for over %d units: give them by hand, then settle it", p.PaidAmount, maxUnits)
	}
	return slices.Repeat(product.Items, int(n)), nil
}
