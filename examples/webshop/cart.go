package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The cart is in a cookie: "cup.2-tea.1". So every replica can show it, and nothing has
// to be stored for people who only look.

// maxCount is how many of one product an order may have.
const maxCount = 99

func readCart(r *http.Request) (lines []line) {
	c, err := r.Cookie("cart")
	if err != nil {
		return nil
	}
	counts := map[string]int64{}
	for part := range strings.SplitSeq(c.Value, "-") {
		id, count, _ := strings.Cut(part, ".")
		if n, err := strconv.ParseInt(count, 10, 64); err == nil {
			counts[id] = n
		}
	}
	return cartOf(counts)
}

// cartOf makes lines of what the catalogue has, in its order.
func cartOf(counts map[string]int64) (lines []line) {
	for _, p := range catalogue {
		if n := min(counts[p.ID], maxCount); n > 0 {
			lines = append(lines, line{p.ID, p.Price, n})
		}
	}
	return lines
}

func (s *shop) writeCart(w http.ResponseWriter, lines []line) {
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = fmt.Sprintf("%s.%d", l.Product, l.Count)
	}
	s.setCookie(w, "cart", strings.Join(parts, "-"), 30*24*time.Hour, http.SameSiteLaxMode)
}

// onShelf is a product with the number that is left.
type onShelf struct {
	product
	Left int64
}

func (s *shop) showCatalogue(w http.ResponseWriter, r *http.Request) error {
	left, err := s.stock(r.Context())
	if err != nil {
		return err
	}
	v := s.view(r, "catalogue", "shop")
	var shelf []onShelf
	for _, p := range catalogue {
		shelf = append(shelf, onShelf{p, left[p.ID]})
	}
	v.Data = shelf
	s.render(w, http.StatusOK, v)
	return nil
}

func (s *shop) addToCart(w http.ResponseWriter, r *http.Request) error {
	p, ok := productByID(r.PostFormValue("product"))
	if !ok {
		return errBadForm
	}
	counts := map[string]int64{p.ID: 1}
	for _, l := range readCart(r) {
		counts[l.Product] += l.Count
	}
	s.writeCart(w, cartOf(counts))
	http.Redirect(w, r, "/cart", http.StatusSeeOther)
	return nil
}

// cartLine is a line of the cart with what stands in its way.
type cartLine struct {
	line
	Left int64
}

func (l cartLine) Short() bool { return l.Left < l.Count }

type cartView struct {
	Lines []cartLine
	Total int64
	Order uuid.UUID // the id that the order will have: the form may be sent twice
	Short bool

	Contact, Wrong string // what was typed, and the key of what is wrong with it
}

func (s *shop) showCart(w http.ResponseWriter, r *http.Request) error {
	return s.renderCart(w, r, http.StatusOK, cartView{Order: uuid.New()}, readCart(r))
}

// askContact shows the cart once more, with what the customer has typed.
func (s *shop) askContact(w http.ResponseWriter, r *http.Request, data cartView, lines []line) error {
	s.writeCart(w, lines)
	return s.renderCart(w, r, http.StatusBadRequest, data, lines)
}

func (s *shop) renderCart(w http.ResponseWriter, r *http.Request, status int, data cartView, lines []line) error {
	left, err := s.stock(r.Context())
	if err != nil {
		return err
	}
	data.Total = sum(lines)
	for _, l := range lines {
		one := cartLine{l, left[l.Product]}
		data.Short = data.Short || one.Short()
		data.Lines = append(data.Lines, one)
	}
	v := s.view(r, "cart", "cart")
	v.Data = data
	s.render(w, status, v)
	return nil
}

func (s *shop) updateCart(w http.ResponseWriter, r *http.Request) error {
	lines, err := cartForm(r)
	if err != nil {
		return err
	}
	s.writeCart(w, lines)
	http.Redirect(w, r, "/cart", http.StatusSeeOther)
	return nil
}

// cartForm reads the counts of the cart's form.
func cartForm(r *http.Request) ([]line, error) {
	if err := r.ParseForm(); err != nil {
		return nil, errors.Join(errBadForm, err)
	}
	counts := map[string]int64{}
	for _, p := range catalogue {
		field := r.PostForm.Get("count-" + p.ID)
		if field == "" {
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return nil, errBadForm
		}
		counts[p.ID] = n
	}
	return cartOf(counts), nil
}
