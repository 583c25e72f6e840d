package banks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

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

// What the phone app keeps: the packages of the banks that work at the moment. An upload
// whose response may be lost is not retried: it might count twice.
func ExampleClient_ListDetailed() {
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	client, err := banks.New(banks.Config{BaseURL: mock.URL(), Transport: mock.Transport()})
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	ctx := context.Background()
	list, err := client.ListDetailed(ctx)
	if err != nil {
		log.Fatal(err)
	}
	supported := slices.DeleteFunc(list, func(b banks.Bank) bool { return !b.Status })
	filter := banks.NewFilter(supported)
	fmt.Println("all are watched:", filter.Len() == len(supported))

	if err := mock.AddFault(mockserver.Fault{Operation: "deposit", Kind: "drop-after", Nth: 1}); err != nil {
		log.Fatal(err)
	}
	_, err = client.UploadDeposit(ctx, banks.Notification{Package: supported[0].Package, Title: "입금 10,000원", Text: "김철수"})
	fmt.Println("again?", banks.SafeToRetry(err), "lost?", errors.Is(err, banks.ErrAmbiguous))
	// Output:
	// all are watched: true
	// again? false lost? true
}

// A client asks the service; what is wrong with a Config is said at once.
func ExampleNew() {
	mock, err := mockserver.New(mockserver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = mock.Close() }()
	client, err := banks.New(banks.Config{BaseURL: mock.URL(), Transport: mock.Transport()}) // yours has no Transport
	if err != nil {
		log.Fatal(err)
	}
	list, err := client.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("there are banks:", len(list) > 0)
	_, err = banks.New(banks.Config{BaseURL: "pay.example.com/api"})
	fmt.Println(err)
	// Output:
	// there are banks: true
	// banks: New: Config.BaseURL: is not an absolute URL such as "https://host/path"
}

// In the app: each notification of the phone comes by here. Nothing is sent to a service in
// this example, so it has no output.
func ExampleNew_app() {
	upload := func(ctx context.Context, notification banks.Notification) error {
		client, err := banks.New(banks.Config{BaseURL: "https://pay.example.com/api"})
		if err != nil {
			return err
		}
		list, err := client.List(ctx)
		if err != nil {
			return err
		}
		filter := banks.NewFilter(list)
		if filter.Match(notification.Package) {
			_, err = client.UploadDeposit(ctx, notification)
		}
		return err
	}
	_ = upload
}
