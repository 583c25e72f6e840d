package mockserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// dashCall is a request to a page of the dashboard, or one of its forms.
type dashCall struct {
	*visit
	// id is the payment, deposit or product that the page or the form is about.
	id string
}

// text is a posted text of several lines; browsers end them with CR LF.
func (c *dashCall) text(name string) string { return strings.ReplaceAll(c.value(name), "\r\n", "\n") }

// whole is a posted whole number as people write it: 10,000 or 10000.
func (c *dashCall) whole(name string) (n int64, given bool, problem *Error) {
	text := strings.NewReplacer(",", "", " ", "", "\u00a0", "", "원", "", "₩", "").Replace(c.value(name))
	if text == "" {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false, invalidParameter(name, "must be a whole number, as in 10000")
	}
	return n, true, nil
}

// count is a posted number that is small, 0 if nothing was given.
func (c *dashCall) count(name string) (int, *Error) {
	n, _, problem := c.whole(name)
	if problem == nil && (n < 0 || n > 1<<31-1) {
		problem = invalidParameter(name, "must be from 0 to 2147483647")
	}
	return int(n), problem
}

// refusal is the form as it goes back to who typed it. A token does not go back.
func (c *dashCall) refusal(problem *Error) *web.DashForm {
	name := c.value("do")
	if target := c.value("target"); target != "" {
		name += "-" + target
	}
	values := make(map[string]string, len(c.form))
	for name := range c.form {
		if name != "token" {
			values[name] = c.hide(c.text(name))
		}
	}
	field, text := "", problem.Message
	if rest, quoted := strings.CutPrefix(text, `"`); quoted {
		if name, said, ok := strings.Cut(rest, `" `); ok {
			text = said
			if c.form.Has(name) {
				field = name
			}
		}
	}
	return &web.DashForm{Name: name, Values: values, Field: field, Code: string(problem.Code), Text: c.hide(text)}
}

// problemOf is the refusal inside an error of a Server method.
func problemOf(err error) *Error {
	var problem *Error
	if errors.As(err, &problem) {
		return problem
	}
	return answerLost(err)
}

// answerLost is what a fault has made of the phone's upload.
func answerLost(err error) *Error {
	return &Error{Code: CodeFaultInjected, Message: fmt.Sprintf("the answer to the notification was lost (%v); "+
		"look at the list below to see whether the service got it", err)}
}
