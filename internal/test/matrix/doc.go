// Package matrix runs the whole SDK against the mock service in every dialect that the
// mock speaks: what the clients read, grant and report must not depend on how a
// deployment words its answers.
package matrix
