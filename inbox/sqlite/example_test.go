package sqlite_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/depositpay/depositpay-go/inbox/sqlite"
)

// One process has the ledger's file. A second one is told who has it.
func ExampleOpen() {
	directory, err := os.MkdirTemp("", "shop")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	path := filepath.Join(directory, "payments.db")
	ledger, err := sqlite.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = ledger.Close() }()

	_, err = sqlite.Open(path, nil)
	fmt.Println("a second time:", errors.Is(err, sqlite.ErrLocked))
	// Output:
	// a second time: true
}
