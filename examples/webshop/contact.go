package main

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"unicode"
)

// maxContact is how long a contact may be, in characters.
const maxContact = 200

// contactForm reads how the shop can reach the customer, on one line. wrong is the key of
// the text that says what is wrong with it; empty if nothing is.
func contactForm(r *http.Request) (contact, wrong string) {
	contact = strings.TrimSpace(strings.Map(printable, plain(r.PostFormValue("contact"))))
	switch {
	case contact == "":
		return "", "contact.missing"
	case len([]rune(contact)) > maxContact:
		return contact, "contact.long"
	}
	return contact, ""
}

// printable leaves out what nobody sees, such as marks that turn the text around.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}

// keepContact writes a contact down with its order. It has a table of its own: so an older
// database gets it, and it can be deleted while the order stays on the books.
func keepContact(ctx context.Context, tx *sql.Tx, id, contact string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO contacts (order_id, contact) VALUES ($1, $2)`, id, contact)
	return err
}

// contactTexts are the words about the contact.
var contactTexts = map[string][2]string{
	"contact":         {"Contact", "연락처"},
	"contact.label":   {"How we can reach you (for delivery and refunds)", "연락처 (배송과 환불 안내를 위해)"},
	"contact.hint":    {"A phone number or an e-mail address. Only the shop sees it.", "전화번호나 이메일을 적어 주세요. 가게에서만 봅니다."},
	"contact.missing": {"Please say how we can reach you.", "연락처를 적어 주세요."},
	"contact.long":    {"Please use at most 200 characters.", "200자 이내로 적어 주세요."},
	"contact.none":    {"None given", "없음"},
}
