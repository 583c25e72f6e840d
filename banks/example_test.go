package banks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/depositpay/depositpay-go/banks"
	"github.com/depositpay/depositpay-go/mockserver"
)

// A phone app passes on what its banks' apps show, and nothing else.
func Example() {
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	client, err := banks.New(banks.Config{BaseURL: mock.URL(), Transport: mock.Transport()})
	if err != nil {
		log.Fatal(err)
	}
	list, err := client.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	filter := banks.NewFilter(list)
	for _, n := range []banks.Notification{
		{Package: "com.example.chat", Title: "Kim", Text: "See you at 7"},
		{Package: list[0].Package, Title: "입금 10,000원", Text: "김철수"},
	} {
		if !filter.Match(n.Package) {
			fmt.Println("not a bank's:", n.Package)
			continue
		}
		if _, err := client.UploadDeposit(context.Background(), n); err != nil {
			log.Fatal(err)
		}
	}
	for _, deposit := range mock.Unmatched() {
		fmt.Println("nobody waits for", deposit.Amount, "from", deposit.Payer)
	}
	// Output:
	// not a bank's: com.example.chat
	// nobody waits for 10000 from 김철수
}
