package chrome

// install can do nothing here.
func install(why error) (string, error) { return "", why }
