package mockserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver/internal/strictjson"
)

// itemsField is the field of a creation and of metadata that holds the items.
const itemsField = "items"

// Item is one thing paid for (interface §2.1, §2.2).
type Item struct {
	// Name is the name of the item.
	Name string
	// Price is a whole number of the currency's unit, at least 0.
	Price int64
	// Count is at least 1; 1 where the creation gave none.
	Count int64
	// Icon is the https:// address given at creation; empty without one. The
	// record does not carry it.
	Icon string
}

// readItems turns the items of a creation into the metadata of the record, in the
// same order, and the icons that the record leaves out. Both are nil when there
// is nothing to keep.
func readItems(o object) (metadata []byte, icons []string, problem *Error) {
	raw, ok := o.Get(itemsField)
	if !ok {
		return nil, nil, nil
	}
	elements, ok := strictjson.SplitArray(raw)
	if !ok {
		return nil, nil, invalidParameter(itemsField, "must be an array of objects")
	}
	if len(elements) == 0 {
		return nil, nil, nil
	}
	metadata = []byte(`{"items":[`)
	for i, element := range elements {
		item, problem := readItem(element, fmt.Sprintf("items[%d]", i))
		if problem != nil {
			return nil, nil, problem
		}
		if i > 0 {
			metadata = append(metadata, ',')
		}
		metadata = item.append(metadata)
		if item.Icon != "" {
			if icons == nil {
				icons = make([]string, len(elements))
			}
			icons[i] = item.Icon
		}
	}
	return append(metadata, "]}"...), icons, nil
}

func readItem(raw []byte, path string) (item Item, problem *Error) {
	if raw[0] != '{' {
		return item, invalidParameter(path, "must be an object with name and price")
	}
	o, problem := splitObject(raw)
	if problem != nil {
		return item, problem
	}
	if item.Name, problem = o.required("name", path+".name"); problem != nil {
		return item, problem
	}
	var present bool
	if item.Price, present, problem = o.whole("price", path+".price", 0); problem != nil {
		return item, problem
	}
	if !present {
		return item, invalidParameter(path+".price", "is required: send a whole number")
	}
	if item.Count, present, problem = o.whole("count", path+".count", 1); problem != nil {
		return item, problem
	}
	if !present {
		item.Count = 1
	}
	item.Icon, problem = readIcon(o, path+".icon")
	return item, problem
}

// append renders the item as the record has it.
func (i Item) append(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = strictjson.AppendString(b, i.Name)
	b = append(b, `,"price":`...)
	b = strconv.AppendInt(b, i.Price, 10)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, i.Count, 10)
	return append(b, '}')
}

// items reads the items back from what is kept of them, so that 100,000 payments
// hold them once.
func (p *payment) items() []Item {
	if p.metadata == nil || p.GameProduct != "" {
		return nil
	}
	o, _ := splitObject(p.metadata)
	raw, _ := o.Get(itemsField)
	elements, _ := strictjson.SplitArray(raw)
	list := make([]Item, len(elements))
	for i, element := range elements {
		list[i], _ = readItem(element, itemsField)
		if p.icons != nil {
			list[i].Icon = p.icons[i]
		}
	}
	return list
}

// readIcon reads an optional icon; an empty one is as wrong as any other.
func readIcon(o object, path string) (string, *Error) {
	icon, problem := o.text("icon", path)
	if _, present := o.Get("icon"); problem == nil && present {
		problem = checkIcon(icon, path)
	}
	return icon, problem
}

func checkIcon(icon, path string) *Error {
	if !strings.HasPrefix(icon, "https://") {
		return invalidParameter(path, `must start with "https://"`)
	}
	return nil
}
