package banks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/depositpay/depositpay-go/internal/transport"
	"github.com/depositpay/depositpay-go/internal/wire"
)

var (
	opList         = &transport.Op{Name: "List", Method: http.MethodGet, Path: "/mobile/banks", Class: transport.ReadOnly}
	opListDetailed = &transport.Op{Name: "ListDetailed", Method: http.MethodGet, Path: "/mobile/banks", Class: transport.ReadOnly}
)

// Bank is a supported bank (interface §2.3). List fills the basic fields,
// ListDetailed all of them.
type Bank struct {
	Name    string // display name
	Package string // package name of the bank's app, for filtering notifications
	Logo    string // URL

	// Detailed reports whether the response had the fields below.
	Detailed    bool
	ID          int64
	Status      bool // whether the bank is currently supported
	Icon        string
	AppPackage  string
	LastUpdated time.Time // last_updated_ts in UTC; if unreadable, the zero time, and the value is in Extra

	// Extra holds every other field, as its JSON; nil if there is none.
	Extra map[string]json.RawMessage
}

// List reads the supported banks (GET /mobile/banks, interface §4.4).
func (c *Client) List(ctx context.Context) ([]Bank, error) { return c.list(ctx, opList, "") }

// ListDetailed reads the supported banks with all fields (interface §4.5).
func (c *Client) ListDetailed(ctx context.Context) ([]Bank, error) {
	return c.list(ctx, opListDetailed, "details=true")
}

func (c *Client) list(ctx context.Context, op *transport.Op, query string) ([]Bank, error) {
	reply, failure := c.caller.DoList(ctx, op, query)
	if failure != nil {
		return nil, newError(failure)
	}
	list := []Bank{}
	for raw := range wire.Elements(reply.List) {
		bank, err := c.bank(raw)
		if err != nil {
			return nil, newError(c.caller.Undecodable(op, reply.Outcome, err.Error()))
		}
		list = append(list, bank)
	}
	return list, nil
}

// bank reads one record. Name and package must be readable: a filter without the package
// would silently drop that bank's notifications.
func (c *Client) bank(raw []byte) (Bank, error) {
	if !wire.IsObject(raw) {
		return Bank{}, fmt.Errorf("a bank is %s, not an object", wire.Describe(raw))
	}
	var b Bank
	for name, raw := range wire.Members(raw) {
		if wire.IsNull(raw) {
			continue
		}
		known, err := b.field(name, raw)
		if err != nil && (name == "name" || name == "package") {
			return Bank{}, fmt.Errorf("a bank's field %s %w", name, err)
		}
		if !known || err != nil {
			b.Extra = wire.Keep(b.Extra, name, raw, c.caller.Transport.Redactor().Bytes)
		}
	}
	if b.Package == "" && b.AppPackage == "" {
		return Bank{}, errors.New("a bank has no package")
	}
	return b, nil
}

func (b *Bank) field(name string, raw []byte) (known bool, err error) {
	switch name {
	case "name":
		b.Name, err = wire.String(raw)
	case "package":
		b.Package, err = wire.String(raw)
	case "logo":
		b.Logo, err = wire.String(raw)
	case "icon":
		b.Icon, err = wire.String(raw)
	case "app_package":
		b.AppPackage, err = wire.String(raw)
	case "id":
		err = json.Unmarshal(raw, &b.ID)
	case "status":
		err = json.Unmarshal(raw, &b.Status)
		b.Detailed = err == nil
	case "last_updated_ts":
		var ok bool
		if b.LastUpdated, ok = wire.Time(raw); !ok {
			err = errors.New("is no timestamp")
		}
	default:
		return false, nil
	}
	return true, err
}
