package mockserver_test

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/depositpay/depositpay-go/mockserver"
)

// A player buys a product in the game store. The record carries the product id under
// the field that the deployment has named after its brand.
func ExampleServer_Buy() {
	mock, err := mockserver.New(mockserver.Config{
		Applications: []mockserver.Application{{GameField: "gem_product"}},
	})
	must(err)
	defer func() { _ = mock.Close() }()
	product, err := mock.SaveProduct(mockserver.Product{Name: "100 diamonds", Price: 10000})
	must(err)
	user, err := mock.SaveStoreUser(mockserver.StoreUser{ID: "player-7", Name: "Kim"})
	must(err)

	payment, err := mock.Buy(product.ID, user.ID)
	must(err)
	_, err = mock.Deposit(payment.ID, mockserver.Deposit{Payer: "Kim"})
	must(err)

	client := &http.Client{Transport: mock.Transport()}
	resp, err := client.Get(mock.URL() + "/callback/rest?token=" + mock.Token())
	must(err)
	var record struct {
		Identifier string
		PaidAmount int64 `json:"paid_amount"`
		Metadata   map[string]string
	}
	readJSON(resp, &record)
	fmt.Println(record.Identifier, "paid", record.PaidAmount)
	fmt.Println("for the product:", record.Metadata["gem_product"] == product.ID)
	// Output:
	// player-7 paid 10000
	// for the product: true
}

// The same empty poll, as five deployments might answer it.
func ExampleServer_SetDialect() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	client := &http.Client{Transport: mock.Transport()}
	for _, text := range []string{"default", "old", "rest", "codes", "errors=object,status=4xx"} {
		dialect, err := mockserver.ParseDialect(text)
		must(err)
		must(mock.SetDialect(mock.Token(), dialect))
		resp, err := client.Get(mock.URL() + "/callback/rest?token=" + mock.Token())
		must(err)
		fmt.Printf("%s: %d %.42s\n", text, resp.StatusCode, cmp.Or(bodyOf(resp), "(no body)"))
	}
	// Output:
	// default: 200 {"error":"NO_PROCESSED_PAYMENT","error_msg
	// old: 200 {"error":"NO_PROGRESS_PAYMENTS","error_msg
	// rest: 204 (no body)
	// codes: 200 null
	// errors=object,status=4xx: 404 {"error":{"code":"NO_PROCESSED_PAYMENT","m
}

// The customer says who will pay, and the bank's app reports the deposit to the phone.
// The server reads that and finds the payment.
func ExampleServer_SendNotification() {
	mock, err := mockserver.New(mockserver.Config{})
	must(err)
	defer func() { _ = mock.Close() }()
	payToken := order(mock)
	_, err = mock.GivePayer(payToken, "홍길동", 0) // 0: the price is fixed
	must(err)

	told, err := mock.SendNotification("com.kakaobank.channel", "홍길동", 9000)
	must(err)
	fmt.Println(told.Result, mock.Unmatched()[0].Reason)

	told, err = mock.SendNotification("com.kakaobank.channel", "홍길동", 10000)
	must(err)
	p, _ := mock.Payment(payToken)
	fmt.Println(told.Result, told.PaymentID == payToken, p.Status, p.PaidAmount)
	// Output:
	// UNMATCHED AMOUNT_DIFFERS
	// MATCHED true PROGRESS 10000
}
