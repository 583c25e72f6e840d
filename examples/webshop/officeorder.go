package main

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/depositpay/depositpay-go/inbox"
)

// paymentView is a payment of an order, as the ledger has it.
type paymentView struct {
	inbox.Entry
	Audit []inbox.AuditLine
}

// StageKey is the key of the text that says how the payment stands.
func (p paymentView) StageKey() string { return "stage." + p.Stage.String() }

// officeOrder is an order as the shopkeeper sees it.
type officeOrder struct {
	orderView
	Payments []paymentView
}

// CanSend reports whether goods are to be sent: the order is paid, and nobody has sent them.
func (o officeOrder) CanSend() bool { return o.Status == paid && o.SentAt.IsZero() }

// showOfficeOrder shows an order with its contact, its payments and the decisions about them.
func (s *shop) showOfficeOrder(w http.ResponseWriter, r *http.Request, actor string) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	var data officeOrder
	if data.orderView, err = s.look(r.Context(), o); err != nil {
		return err
	}
	for _, e := range data.entries {
		audit, err := s.box.Audit(r.Context(), e.Key)
		if err != nil {
			return err
		}
		data.Payments = append(data.Payments, paymentView{e, audit})
	}
	v := s.officeView(r, "officeorder", actor, data)
	v.Title = "order"
	s.render(w, http.StatusOK, v)
	return nil
}

// markSent notes that the goods of a paid order are on their way. The first to say so counts.
func (s *shop) markSent(w http.ResponseWriter, r *http.Request, actor string) error {
	o, err := s.orderOf(r)
	if err != nil {
		return err
	}
	result, err := s.db.write.ExecContext(r.Context(), `INSERT INTO shipments (order_id, sent_at, sent_by)
		SELECT id, $2, $3 FROM orders WHERE id = $1 AND status = 'paid' ON CONFLICT DO NOTHING`, o.ID, s.now().Unix(), actor)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errOr(err, errOutdated)
	}
	http.Redirect(w, r, "/office/orders/"+o.ID, http.StatusSeeOther)
	return nil
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// selectFound are the orders with a number, a payment or a contact, the newest first. The
// contact is compared as its index has it: without hyphens, spaces and capitals.
const selectFound = `SELECT created_at, id, id FROM orders WHERE id IN (
	SELECT id FROM orders WHERE id >= $1 AND id < $2
	UNION SELECT order_id FROM pay_links WHERE payment = $3
	UNION SELECT order_id FROM contacts WHERE lower(replace(replace(contact, '-', ''), ' ', '')) = lower(replace(replace($3, '-', ''), ' ', '')))
	ORDER BY created_at DESC, id DESC LIMIT $4`

// numberLike is an order's number or its whole id.
var numberLike = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f-]{27})?$`)

// found are the arguments of selectFound for what was typed.
func foundArgs(text string) []any {
	from, to := "", ""
	if number := strings.ToLower(text); numberLike.MatchString(number) {
		from, to = number, number+"g" // behind all that begin with it
	}
	return []any{from, to, text, officePage}
}

// search is what the shopkeeper has typed, as a database takes it.
func search(r *http.Request) string {
	return strings.TrimSpace(plain(r.URL.Query().Get("q")))
}
