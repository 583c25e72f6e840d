package main

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/google/uuid"
)

// maxCount is how many of one product an order may have.
const maxCount = 99

// choice is a product on the order form.
type choice struct {
	line
	Left  int64
	Typed string
}

// orderForm is what a customer orders with.
type orderForm struct {
	Order   string // the id that the order will have, so a form that is sent twice is one order
	Choices []choice
	Wrong   string // the key of the text that says what is wrong; empty if nothing is
}

func (s *shop) showShop(w http.ResponseWriter, r *http.Request) error {
	form, _, err := s.readForm(r)
	if err != nil {
		return err
	}
	form.Order, form.Wrong = uuid.NewString(), ""
	s.render(w, http.StatusOK, newView(r, "shop", "shop", form))
	return nil
}

// readForm reads what was chosen.
func (s *shop) readForm(r *http.Request) (form orderForm, lines []line, err error) {
	left, err := s.stock(r.Context())
	if err != nil {
		return form, nil, err
	}
	form.Order = r.PostFormValue("order")
	for _, p := range catalogue {
		typed := cmp.Or(r.PostFormValue("count-"+p.ID), "0")
		form.Choices = append(form.Choices, choice{line{p.ID, p.Price, 0}, left[p.ID], typed})
		n, err := strconv.ParseInt(typed, 10, 64)
		switch {
		case err != nil || n < 0 || n > maxCount:
			form.Wrong = "order.count"
		case n > left[p.ID]:
			form.Wrong = "order.short"
		case n > 0:
			lines = append(lines, line{p.ID, p.Price, n})
		}
	}
	if form.Wrong == "" && len(lines) == 0 {
		form.Wrong = "order.empty"
	}
	return form, lines, nil
}

// placeOrder makes an order of the form and shows its page. The button there opens the service's
// checkout page in another tab, since that page has no way back.
func (s *shop) placeOrder(w http.ResponseWriter, r *http.Request) error {
	form, lines, err := s.readForm(r)
	if err != nil {
		return err
	}
	if !isUUID(form.Order) {
		return errBadForm
	}
	o, err := s.order(r.Context(), form.Order)
	if errors.Is(err, errNotFound) {
		if form.Wrong != "" {
			s.render(w, http.StatusBadRequest, newView(r, "shop", "shop", form))
			return nil
		}
		o, err = s.place(r.Context(), form.Order, lines, chosen(r))
	}
	if err != nil {
		return err
	}
	if err := s.addLink(r.Context(), o, 0); err != nil { // the order page offers to try again
		slog.Warn("webshop: no payment was created", "order", o.Number(), "error", err)
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

// orderPage is an order on its page, which checks for changes every so many milliseconds.
type orderPage struct {
	orderView
	Every int64
}

func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := s.look(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := newView(r, "order", "order", orderPage{o, s.watchEvery.Milliseconds()})
	if !r.URL.Query().Has("lang") {
		v.Lang = langOf(o.Lang)
	}
	s.render(w, http.StatusOK, v)
	return nil
}

// newLink creates another payment for an open order, for a customer whose link does not work any more.
// Both links stay valid: if the customer pays both, the second amount is owed.
func (s *shop) newLink(w http.ResponseWriter, r *http.Request) error {
	o, err := s.order(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(r.PostFormValue("link"))
	if err != nil || n < 0 {
		return errBadForm
	}
	if err := s.addLink(r.Context(), o, n); err != nil {
		return err
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

// cancelOrder ends an order that is not paid. Money that arrives later is owed to the customer.
func (s *shop) cancelOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := s.order(r.Context(), r.PathValue("id"))
	if err == nil {
		update := `UPDATE orders SET status = 'cancelled' WHERE id = $1 AND status = 'open'`
		_, err = changed(r.Context(), s.db.write, update, o.ID)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
	return nil
}
