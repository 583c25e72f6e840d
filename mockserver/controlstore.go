package mockserver

type productJSON struct {
	ID          string `json:"id"`
	Application string `json:"application"`
	Name        string `json:"name"`
	Icon        string `json:"icon,omitempty"`
	Price       int64  `json:"price"`
}

type userJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type accountJSON struct {
	Bank   string `json:"bank"`
	Number string `json:"number"`
	Holder string `json:"holder"`
}

// controlAccount answers {"bank","number","holder"}.
func (s *Server) controlAccount(*call) ([]byte, *Error) {
	return marshal(accountJSON(s.Account())), nil
}

// controlProducts answers {"products":[…]}.
func (s *Server) controlProducts(*call) ([]byte, *Error) {
	list := []productJSON{}
	for _, p := range s.Products() {
		list = append(list, productJSON(p))
	}
	return marshal(map[string]any{"products": list}), nil
}

// controlSaveProduct saves {"id","application","name","icon","price"}, without an id
// as a new product, and answers the product as saved.
func (s *Server) controlSaveProduct(c *call) ([]byte, *Error) {
	var p Product
	o, problem := parseObject(c.body)
	if problem == nil {
		problem = o.texts(textField{"id", &p.ID}, textField{"application", &p.Application},
			textField{"name", &p.Name}, textField{"icon", &p.Icon})
	}
	if problem == nil {
		p.Price, _, problem = o.whole("price", "price", 1)
	}
	if problem == nil {
		p, problem = asProblem(s.SaveProduct(p))
	}
	if problem != nil {
		return nil, problem
	}
	return marshal(productJSON(p)), nil
}

// controlDeleteProduct answers {}.
func (s *Server) controlDeleteProduct(c *call) ([]byte, *Error) {
	return []byte("{}"), problemIn(s.DeleteProduct(c.PathValue("id")))
}

// controlUsers answers {"users":[…]}.
func (s *Server) controlUsers(*call) ([]byte, *Error) {
	list := []userJSON{}
	for _, u := range s.StoreUsers() {
		list = append(list, userJSON(u))
	}
	return marshal(map[string]any{"users": list}), nil
}

// controlSaveUser saves {"id","name"} and answers the user as saved.
func (s *Server) controlSaveUser(c *call) ([]byte, *Error) {
	var u StoreUser
	o, problem := parseObject(c.body)
	if problem == nil {
		problem = o.texts(textField{"id", &u.ID}, textField{"name", &u.Name})
	}
	if problem == nil {
		u, problem = asProblem(s.SaveStoreUser(u))
	}
	if problem != nil {
		return nil, problem
	}
	return marshal(userJSON(u)), nil
}

// controlBuy is a user in the game store: {"product","user"}, both ids. It answers
// the payment.
func (s *Server) controlBuy(c *call) ([]byte, *Error) {
	o, problem := parseObject(c.body)
	if problem != nil {
		return nil, problem
	}
	product, problem := o.required("product", "product")
	if problem != nil {
		return nil, problem
	}
	user, problem := o.required("user", "user")
	if problem != nil {
		return nil, problem
	}
	p, problem := asProblem(s.Buy(product, user))
	if problem != nil {
		return nil, problem
	}
	return renderPayment(p), nil
}
