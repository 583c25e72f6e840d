package banks

// Filter keeps the notifications of supported banks (interface §4.6). It is
// immutable and safe for concurrent use; the zero value matches nothing.
type Filter struct{ packages map[string]bool }

// NewFilter makes a Filter of the packages of list, both Package and AppPackage.
// Banks whose Status is known to be false are left out. Package names are compared
// exactly: the mobile systems distinguish upper and lower case.
func NewFilter(list []Bank) Filter {
	f := Filter{packages: make(map[string]bool, len(list))}
	for _, b := range list {
		if b.Detailed && !b.Status {
			continue
		}
		for _, name := range []string{b.Package, b.AppPackage} {
			if name != "" {
				f.packages[name] = true
			}
		}
	}
	return f
}

// Match reports whether to upload notifications of the app packageName.
func (f Filter) Match(packageName string) bool { return f.packages[packageName] }

// Len is the number of packages.
func (f Filter) Len() int { return len(f.packages) }
