package main

// product is a thing on sale. Its name and price are in the program; how many are left is in the
// database.
type product struct {
	ID    string
	Price int64 // won
	Stock int64 // at the very first start
	name  [2]string
}

var catalogue = []product{
	{"cup", 28_000, 500, [2]string{"Celadon cup", "청자 잔"}},
	{"notebook", 12_000, 500, [2]string{"Hanji notebook", "한지 공책"}},
	{"tea", 9_000, 500, [2]string{"First-flush tea", "우전 녹차"}},
	{"spoon", 19_000, 500, [2]string{"Brass spoon", "방짜 숟가락"}},
}
