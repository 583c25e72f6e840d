package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// errOutdated is for forms that show something that has changed meanwhile.
var errOutdated = errors.New("webshop: the page was out of date")

// placeOrder makes an order of the cart's form and shows its page, whose button opens the
// checkout page of the service: that one has no way back, and the order's page stays open.
func (s *shop) placeOrder(w http.ResponseWriter, r *http.Request) error {
	lines, err := cartForm(r)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(r.PostForm.Get("order"))
	if err != nil {
		return errBadForm
	}
	o, err := s.order(r.Context(), id.String())
	if errors.Is(err, sql.ErrNoRows) {
		o, err = s.newOrder(w, r, id, lines)
	}
	if err != nil || o.ID == "" {
		return err
	}
	s.remember(w, r, o.ID)
	s.writeCart(w, nil)
	if o.Status == open && o.PayToken == "" {
		if err := s.payLink(r.Context(), o); err != nil {
			slog.Warn("webshop: no payment link; the order page offers to try again", "order", o.ID, "error", err)
		}
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

// newOrder places the order if the goods are there and the customer can be reached; otherwise
// it answers with the cart, which says what is short or missing, and returns no order.
func (s *shop) newOrder(w http.ResponseWriter, r *http.Request, id uuid.UUID, lines []line) (order, error) {
	left, err := s.stock(r.Context())
	if err != nil {
		return order{}, err
	}
	short := slices.ContainsFunc(lines, func(l line) bool { return left[l.Product] < l.Count })
	if short || len(lines) == 0 {
		s.writeCart(w, lines)
		http.Redirect(w, r, "/cart", http.StatusSeeOther)
		return order{}, nil
	}
	contact, wrong := contactForm(r)
	if wrong != "" {
		return order{}, s.askContact(w, r, cartView{Order: id, Contact: contact, Wrong: wrong}, lines)
	}
	return s.place(r.Context(), id, lines, chosen(r), contact)
}

// newLink creates a further payment for an open order, for a customer whose link has
// gone. Both stay valid: if both are paid, the second sum is owed to the customer.
func (s *shop) newLink(w http.ResponseWriter, r *http.Request) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	if o.Status != open {
		return errOutdated
	}
	if err := s.payLink(r.Context(), o); err != nil {
		return err
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

func (s *shop) cancelOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	if err := s.cancel(r.Context(), o.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

// orderOf is the order that the path names.
func (s *shop) orderOf(r *http.Request) (order, error) {
	return s.orderByID(r.Context(), r.PathValue("id"))
}

func (s *shop) orderByID(ctx context.Context, id string) (order, error) {
	if !isUUID(id) {
		return order{}, errNotFound
	}
	o, err := s.order(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return order{}, errNotFound
	}
	return o, err
}

// isUUID tells a UUID as this program writes them from all other texts, and so from those
// that a database refuses.
func isUUID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

// remembered is how many orders a browser keeps in its cookie, the newest first, for "My
// orders" in the shop's header.
const remembered = 8

func remember(r *http.Request) (ids []string) {
	if c, err := r.Cookie("orders"); err == nil {
		for id := range strings.SplitSeq(c.Value, ".") {
			if isUUID(id) && len(ids) < remembered {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (s *shop) remember(w http.ResponseWriter, r *http.Request, id string) {
	ids := slices.DeleteFunc(remember(r), func(one string) bool { return one == id })
	ids = append([]string{id}, ids...)
	s.setCookie(w, "orders", strings.Join(ids[:min(len(ids), remembered)], "."), 90*24*time.Hour, http.SameSiteLaxMode)
}

// showOrders lists the orders that this browser has placed.
func (s *shop) showOrders(w http.ResponseWriter, r *http.Request) error {
	var orders []orderView
	for _, id := range remember(r) {
		o, err := s.orderByID(r.Context(), id)
		if errors.Is(err, errNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		seen, err := s.look(r.Context(), o)
		if err != nil {
			return err
		}
		orders = append(orders, seen)
	}
	v := s.view(r, "orders", "orders")
	v.Data = orders
	s.render(w, http.StatusOK, v)
	return nil
}

// since is a stored time; 0 stands for none.
func since(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
