package web

import "fmt"

// Refused is the form with this name if it was refused, else nil.
func (d *Dash) Refused(form string) *DashForm {
	if d.Form == nil || d.Form.Name != form {
		return nil
	}
	return d.Form
}

// Field is a field of a form. It holds what was typed if the form was refused, else
// first; label and hint are finished texts.
func (d *Dash) Field(form, name, label, hint string, first any) Field {
	f := Field{ID: form + "-" + name, Name: name, Label: label, Hint: hint, Value: fmt.Sprint(first)}
	if refused := d.Refused(form); refused != nil {
		f.Value = refused.Values[name]
		if refused.Field == name {
			f.Error = refused.Text
		}
	}
	return f
}

// Need makes the field one that must be filled in.
func (f Field) Need() Field {
	f.Required = true
	return f
}

// Numeric makes a phone show its digits.
func (f Field) Numeric() Field {
	f.Mode = "numeric"
	return f
}

// Lines makes the field a text area.
func (f Field) Lines(n int) Field {
	f.Rows = n
	return f
}

// Choose makes the field a list of values that stand for themselves.
func (f Field) Choose(values []string) Field {
	for _, value := range values {
		f.Options = append(f.Options, Option{Value: value, Label: value})
	}
	return f
}

// Or adds one more choice, with a label of its own.
func (f Field) Or(value, label string) Field {
	f.Options = append(f.Options, Option{Value: value, Label: label})
	return f
}

// Banks makes the field a list of banks.
func (f Field) Banks(banks []DashBank) Field {
	for _, b := range banks {
		f.Options = append(f.Options, Option{Value: b.Package, Label: b.Name})
	}
	return f
}

// Among makes the field a list to choose from.
func (f Field) Among(options []Option) Field {
	f.Options = append(f.Options, options...)
	return f
}
