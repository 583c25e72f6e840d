// Package house holds the rules of the repository as tests: which package may import
// what, and that the README says what is so.
package house
