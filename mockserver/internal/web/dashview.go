package web

import "time"

// Dash is the data that every page of the dashboard shows around its body.
type Dash struct {
	// Now is the time of the server's clock, Rate how many of its seconds pass in one of
	// real time; 0 if it does not run.
	Now  time.Time
	Rate float64
	// Unmatched, Pending and Failed are the numbers next to the navigation: deposits
	// that wait for a person, and webhook deliveries that are pending or have failed.
	Unmatched, Pending, Failed int
	// Faults reports whether faults are set, which explains many surprises.
	Faults bool
	// Form is the form that was refused, nil without one.
	Form *DashForm
	// Body is the page's own view: what its template reads.
	Body any
}

// DashForm is a form that the server refused. Its values are as typed, without a token.
type DashForm struct {
	// Name names the form among those of the page.
	Name   string
	Values map[string]string
	// Field is the wrong field, empty if the error is not about one field.
	Field string
	// Code is the error code, Text the message of the server.
	Code, Text string
}

// DashSection is an entry of the navigation.
type DashSection struct{ Name, Path string }

// Sections is the navigation.
func (d *Dash) Sections() []DashSection {
	list := []DashSection{{"overview", "/_mock/"}}
	for _, name := range []string{
		"payments", "deliveries", "phone", "unmatched", "store", "applications", "clock", "faults", "requests",
	} {
		list = append(list, DashSection{name, "/_mock/ui/" + name})
	}
	return list
}
