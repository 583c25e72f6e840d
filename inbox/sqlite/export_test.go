package sqlite

// Failure gives an error its kind, for the test of the kinds.
var Failure = failure
