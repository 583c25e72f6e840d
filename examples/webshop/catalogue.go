package main

// product is something on sale. Its name is in texts; how many are left is in the database.
type product struct {
	ID    string
	Price int64 // won
}

var catalogue = []product{{"cup", 28_000}, {"notebook", 12_000}, {"tea", 9_000}, {"spoon", 19_000}}
