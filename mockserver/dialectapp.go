package mockserver

import "net/http"

// SetDialect sets the dialect of the application that has the token, from the next
// answer on. A request that names no application (the bank list, a body that is no
// JSON) is answered in the dialect of the first one, a token that nobody has in the
// default. The error is an [*Error].
func (s *Server) SetDialect(token string, d Dialect) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	app, problem := s.application(token)
	if problem != nil {
		return problem
	}
	app.Dialect = d
	s.publishDialects()
	return nil
}

// dialects are the dialects of the applications by token, "" for a request that names
// none. It is never changed, only replaced.
type dialects map[string]Dialect

// publishDialects lets the answers know the applications' dialects. The caller holds
// s.mu. While every dialect is the default one there is nothing to know, and no
// request pays for looking.
func (s *Server) publishDialects() {
	var spoken dialects
	for token, app := range s.apps {
		if app.Dialect == (Dialect{}) {
			continue
		}
		if spoken == nil {
			spoken = dialects{}
		}
		spoken[token] = app.Dialect
		if token == s.Token() {
			spoken[""] = app.Dialect
		}
	}
	if spoken == nil {
		s.dialects.Store(nil)
		return
	}
	s.dialects.Store(&spoken)
}

// tokenSent is the token that a call carries, wherever it should stand.
func (c *call) tokenSent() string {
	if c.Method == http.MethodGet {
		token, _ := c.param("token")
		return token
	}
	o, problem := parseObject(c.body)
	if problem != nil {
		return ""
	}
	token, _ := o.text("token", "token")
	return token
}

// dialect is the one to answer a call in.
func (s *Server) dialect(c *call) Dialect {
	if spoken := s.dialects.Load(); spoken != nil {
		return (*spoken)[c.tokenSent()]
	}
	return Dialect{}
}
