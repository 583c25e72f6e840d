package web

// StoreList are the stores of several applications.
type StoreList []StoreLink

// StoreLink leads to a store.
type StoreLink struct{ Name, Href string }

// Store is the game store of one application.
type Store struct {
	// Name is the name of the application, Path the address of the store.
	Name, Path string
	// Who chooses among the users; without options there are none yet.
	Who Field
	// UserID is the chosen user, empty while nobody is chosen.
	UserID   string
	NewUser  NewUser
	Products []StoreProduct
	Pager    Pager
	Icons    Icons
}

// NewUser is the form that makes a user, or finds one by the game-user id.
type NewUser struct {
	Name, ID Field
	// Open shows the form at once.
	Open bool
}

// StoreProduct is one thing on sale.
type StoreProduct struct {
	ID, Name string
	Icon     Icon
	Price    int64
}
