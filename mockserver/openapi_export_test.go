package mockserver

// APIRoutes are the endpoints of the service, as in "POST /payments".
func APIRoutes() []string {
	var list []string
	for path, route := range apiRoutes {
		list = append(list, route.method+" "+path)
	}
	return list
}
