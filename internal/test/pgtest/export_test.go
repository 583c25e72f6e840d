package pgtest

// What the tests look at from outside.
var (
	FindBinaries = findBinaries
	WithDatabase = withDatabase
	Missing      = missing
)
