package mockserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func saveProduct(t *testing.T, s *mockserver.Server, p mockserver.Product) mockserver.Product {
	t.Helper()
	saved, err := s.SaveProduct(p)
	require.NoError(t, err)
	return saved
}

func saveUser(t *testing.T, s *mockserver.Server, u mockserver.StoreUser) mockserver.StoreUser {
	t.Helper()
	saved, err := s.SaveStoreUser(u)
	require.NoError(t, err)
	return saved
}

const uuidPattern = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

func TestProducts(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.Applications = apps("test_a", "test_b") })
	sword := saveProduct(t, s, mockserver.Product{Name: " Sword ", Icon: "https://i.example/s.png", Price: 300})
	assert.Regexp(t, uuidPattern, sword.ID)
	assert.Equal(t, mockserver.Product{ID: sword.ID, Application: "Application 1", Name: "Sword", Icon: "https://i.example/s.png", Price: 300}, sword)
	bow := saveProduct(t, s, mockserver.Product{Application: "Application 2", Name: "Bow", Price: 1})
	assert.NotEqual(t, sword.ID, bow.ID)

	saveProduct(t, s, mockserver.Product{ID: bow.ID, Name: "Crossbow", Price: 2})
	bow.Name, bow.Price = "Crossbow", 2
	assert.Equal(t, []mockserver.Product{sword, bow}, s.Products(), "saved again it keeps its id and its application")
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_b", Name: "Game"}))
	assert.Equal(t, "Game", s.Products()[1].Application)
	require.NoError(t, s.DeleteProduct(sword.ID))
	assert.Len(t, s.Products(), 1)
	wantCode(t, mockserver.CodeProductNotFound, s.DeleteProduct(sword.ID))

	for mentions, p := range map[string]mockserver.Product{
		`"name" is required`:      {Price: 1},
		"100 characters":          {Name: strings.Repeat("가", 101), Price: 1},
		`"price" must`:            {Name: "p"},
		`start with "https://"`:   {Name: "p", Price: 1, Icon: "http://i.example/"},
		"2048 bytes":              {Name: "p", Price: 1, Icon: "https://" + strings.Repeat("x", 2048)},
		"name of an application;": {Name: "p", Price: 1, Application: "Nobody's"},
	} {
		_, err := s.SaveProduct(p)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		require.ErrorContains(t, err, mentions)
	}
	_, err := s.SaveProduct(mockserver.Product{ID: sword.ID, Name: "p", Price: 1})
	wantCode(t, mockserver.CodeProductNotFound, err)
}

func TestStoreUsers(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	anna := saveUser(t, s, mockserver.StoreUser{Name: " Anna "})
	assert.Regexp(t, uuidPattern, anna.ID)
	assert.Equal(t, "Anna", anna.Name)
	saveUser(t, s, mockserver.StoreUser{ID: "player-7", Name: "Bo"})
	saveUser(t, s, mockserver.StoreUser{ID: "player-7", Name: "Bob"})
	assert.Equal(t, []mockserver.StoreUser{anna, {ID: "player-7", Name: "Bob"}}, s.StoreUsers())
	for mentions, u := range map[string]mockserver.StoreUser{
		`"name" is required`: {ID: "x"},
		"40 characters":      {Name: strings.Repeat("x", 41)},
		"100 characters":     {ID: strings.Repeat("x", 101), Name: "x"},
		"with a space":       {ID: " x", Name: "x"},
		`"id" must not hold`: {ID: "a\nb", Name: "x"},
	} {
		_, err := s.SaveStoreUser(u)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		require.ErrorContains(t, err, mentions)
	}
}

func TestBuy(t *testing.T) {
	t.Parallel()
	s := stopped(t, withHook(answers(200)), func(c *mockserver.Config) {
		c.Applications = []mockserver.Application{{WebhookURL: hookURL, GameField: "brand_product"}, {Token: "test_b"}}
	})
	sword := saveProduct(t, s, mockserver.Product{Name: "Sword", Icon: "https://i.example/s.png", Price: 300})
	user := saveUser(t, s, mockserver.StoreUser{ID: `player "7"`, Name: "Bo"})
	p, err := s.Buy(sword.ID, user.ID)
	require.NoError(t, err)
	assert.Regexp(t, uuidPattern, p.ID)
	assert.Equal(t, mockserver.Payment{
		ID: p.ID, Application: "Application 1", Identifier: `player "7"`, Title: "Sword", Icon: "https://i.example/s.png",
		GameProduct: sword.ID, Status: mockserver.StatusCreated, Amount: 300, CreatedAt: start,
	}, p)
	_, err = s.GivePayer(p.ID, "Bo", 0)
	require.NoError(t, err)
	deposit(t, s, p.ID, 300)
	s.Advance(0)
	assert.Equal(t, p.ID, onlyDelivery(t, s).PaymentID, "the webhook names it")
	require.NoError(t, s.DeleteProduct(sword.ID))
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_demo"}))
	assert.Equal(t, `{"id":"`+p.ID+`","identifier":"player \"7\"","status":"COMPLETE","method":"DEPOSIT","paid_amount":300,`+
		`"verified_ts":"2025-03-01T12:00:00Z","metadata":{"brand_product":"`+sword.ID+`"}}`, poll(t, s),
		"a payment stays as it was bought")

	_, err = s.Buy(sword.ID, user.ID)
	wantCode(t, mockserver.CodeProductNotFound, err)
	other := saveProduct(t, s, mockserver.Product{Application: "Application 2", Name: "Bow", Price: 5})
	_, err = s.Buy(other.ID, "nobody")
	wantCode(t, mockserver.CodeUserNotFound, err)
	p, err = s.Buy(other.ID, user.ID)
	require.NoError(t, err)
	deposit(t, s, p.ID, 5)
	assert.Contains(t, api(t, s, "GET", "/callback/rest?token=test_b", ""), `"metadata":{"game_product":"`+other.ID+`"}}`)
	require.NoError(t, s.Close())
	_, err = s.Buy(other.ID, user.ID)
	wantCode(t, mockserver.CodeServerClosed, err)
}

// Payments of POST /payments never carry the field (interface §1.5), whatever a
// client sends.
func TestOnlyTheStoreMakesProductPayments(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	product := saveProduct(t, s, mockserver.Product{Name: "p", Price: 1})
	for _, fields := range []string{
		`"metadata":{"game_product":"` + product.ID + `"}`, `"game_product":"` + product.ID + `"`,
		`"items":[{"name":"n","price":1,"game_product":"` + product.ID + `"}],"metadata":{"game_product":"x"}`,
	} {
		id := create(t, s, fields)
		deposit(t, s, id, 1)
		assert.NotContains(t, poll(t, s), "game_product")
		p, _ := s.Payment(id)
		assert.Empty(t, p.GameProduct)
	}
}

func TestStoreIsBounded(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) { c.MaxPayments = 1 })
	for i := range 10_000 {
		saveProduct(t, s, mockserver.Product{Name: fmt.Sprint(i), Price: 1})
		saveUser(t, s, mockserver.StoreUser{ID: fmt.Sprint("u", i), Name: "x"})
	}
	_, err := s.SaveProduct(mockserver.Product{Name: "p", Price: 1})
	wantCode(t, mockserver.CodeStorageFull, err)
	require.ErrorContains(t, err, "10000 products")
	_, err = s.SaveStoreUser(mockserver.StoreUser{Name: "p"})
	wantCode(t, mockserver.CodeStorageFull, err)
	require.ErrorContains(t, err, "10000 users")
	product := s.Products()[9999]
	saveProduct(t, s, product)
	saveUser(t, s, mockserver.StoreUser{ID: "u7", Name: "renamed"})
	_, err = s.Buy(product.ID, "u7")
	require.NoError(t, err)
	_, err = s.Buy(product.ID, "u7")
	wantCode(t, mockserver.CodeStorageFull, err)
	require.ErrorContains(t, err, "1 payments")
}
