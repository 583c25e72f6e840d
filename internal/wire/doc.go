// Package wire reads the service's JSON: the default dialect and every variant
// that the interface leaves open. It knows shapes, not meanings: which fields a
// payment has is the business of package payments.
//
// It reads from the bytes as they are. Numbers stay digits, unknown members stay
// as they came, and a member that occurs twice is an error, because two readers
// could take it for two different things.
package wire
