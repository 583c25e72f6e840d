package web

import "fmt"

// Refused is the form with this name if it was refused, else nil.
func (d *Dash) Refused(form string) *DashForm {
	if d.Form == nil || d.Form.Name != form {
		return nil
	}
	return d.Form
}

// Field is a field of a form. Its value is first or, after the form was refused, what was
// typed; label and hint are in the visitor's language.
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

// Need makes the field required.
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

// Choose makes the field a list of values, which are their own labels.
func (f Field) Choose(values []string) Field {
	for _, value := range values {
		f.Options = append(f.Options, Option{Value: value, Label: value})
	}
	return f
}

// Or adds a choice with a label of its own.
func (f Field) Or(value, label string) Field {
	f.Options = append(f.Options, Option{Value: value, Label: label})
	return f
}

// Among makes the field a list to choose from.
func (f Field) Among(options []Option) Field {
	f.Options = append(f.Options, options...)
	return f
}
