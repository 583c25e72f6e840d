package chrome

// Troubled reports whether the page has done something that it should not do.
func (p *Page) Troubled() bool { return len(p.watch.troubles()) > 0 }
