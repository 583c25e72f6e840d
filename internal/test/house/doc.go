// Package house checks the rules of the repository: which package may import what, what an
// importer's go.mod gains, and that documents name commands and files that exist.
package house
