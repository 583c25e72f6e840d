package web

// Field is a labeled field of a form: the template "field". Label, Hint and Error are in the
// visitor's language.
type Field struct {
	// ID is the id of the element and, unless Name is set, the name of the value.
	ID, Name string
	Label    string
	Hint     string // below the label
	Error    string // next to the field; it makes the field invalid
	Value    string
	// Mode is the inputmode, such as "numeric"; Autocomplete as in HTML, "off" if empty.
	Mode, Autocomplete string
	Required           bool
	// Rows makes it a text area with that many lines.
	Rows int
	// Options makes it a list to choose from; Value is the selected one.
	Options []Option
}

// Option is one choice of a Field.
type Option struct{ Value, Label string }

// FormName is the name of the value in the form.
func (f Field) FormName() string {
	if f.Name == "" {
		return f.ID
	}
	return f.Name
}

// DescribedBy names the hint and the error, for aria-describedby.
func (f Field) DescribedBy() string {
	switch {
	case f.Hint != "" && f.Error != "":
		return f.ID + "-error " + f.ID + "-hint"
	case f.Hint != "":
		return f.ID + "-hint"
	case f.Error != "":
		return f.ID + "-error"
	}
	return ""
}
