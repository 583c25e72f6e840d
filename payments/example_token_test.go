package payments_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// The token is read from a file at each call, so replacing the file is all that a rotation
// asks of the program.
func ExampleConfig_tokenSource() {
	mock, err := mockserver.New(mockserver.Config{Applications: []mockserver.Application{{Token: "test_new"}}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	dir, err := os.MkdirTemp("", "token")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "token")
	replace := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	replace("test_old")

	client, err := payments.New(payments.Config{
		BaseURL: mock.URL(), Transport: mock.Transport(),
		TokenSource: func(context.Context) (string, error) {
			token, err := os.ReadFile(file) // at each call; a rename replaces it in one step
			return strings.TrimSpace(string(token)), err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, token := range []string{"test_old", "test_new"} {
		replace(token)
		_, err = client.Next(context.Background())
		fmt.Println(token, "refused:", errors.Is(err, payments.ErrTokenRefused))
	}
	// Output:
	// test_old refused: true
	// test_new refused: false
}
