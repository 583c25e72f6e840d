package mockserver_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func TestApplicationsHaveDefaults(t *testing.T) {
	t.Parallel()
	s := stopped(t, func(c *mockserver.Config) {
		c.Applications = []mockserver.Application{{Name: " Shop "}, {Token: "test_b", GameField: "brand_product"}}
	})
	assert.Equal(t, []mockserver.Application{
		{Name: "Shop", Token: "test_demo", GameField: "game_product"},
		{Name: "Application 2", Token: "test_b", GameField: "brand_product"},
	}, s.Applications())
}

func TestSaveApplication(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_b", WebhookURL: hookURL}))
	list := s.Applications()
	require.Len(t, list, 2)
	assert.Equal(t, mockserver.Application{Name: "Application 2", Token: "test_b", WebhookURL: hookURL, GameField: "game_product"}, list[1])
	assert.Contains(t, api(t, s, "GET", "/callback/rest?token=test_b", ""), "NO_PROCESSED_PAYMENT", "it may be used at once")

	dialect, err := mockserver.ParseDialect("errors=code")
	require.NoError(t, err)
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_b", Dialect: dialect}))
	assert.Equal(t, mockserver.Application{Name: "Application 2", Token: "test_b", GameField: "game_product", Dialect: dialect},
		s.Applications()[1], "an empty name stays, the rest is replaced")
	assert.Contains(t, api(t, s, "GET", "/callback/rest?token=test_b", ""), `{"code":"NO_PROCESSED_PAYMENT"`)

	id := create(t, s, "")
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_demo", Name: "Renamed"}))
	p, ok := s.Payment(id)
	require.True(t, ok)
	assert.Equal(t, "Renamed", p.Application)
}

func TestSaveApplicationRefuses(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	before := s.Applications()
	for field, a := range map[string]mockserver.Application{
		`"token" is refused`: {Name: "n"},
		`begin with "test_"`: {Token: "live_s3cret"},
		`characters`:         {Token: "test_b", Name: strings.Repeat("가", 41)},
		`control`:            {Token: "test_b", Name: "a\x00b"},
		`hold the token`:     {Token: "test_b", Name: "my test_b"},
		`another`:            {Token: "test_b", Name: "Application 1"},
		`"webhook_url"`:      {Token: "test_b", WebhookURL: "http://shop.example/"},
		`not "items"`:        {Token: "test_b", GameField: "items"},
		`"game_field" must`:  {Token: "test_b", GameField: "a-b"},
		`up to 64`:           {Token: "test_b", GameField: strings.Repeat("a", 65)},
	} {
		err := s.SaveApplication(a)
		wantCode(t, mockserver.CodeInvalidParameter, err)
		require.ErrorContains(t, err, field)
		assert.NotContains(t, err.Error(), "s3cret")
	}
	assert.Equal(t, before, s.Applications())
	for i := range 99 {
		require.NoError(t, s.SaveApplication(mockserver.Application{Token: fmt.Sprint("test_more", i)}))
	}
	err := s.SaveApplication(mockserver.Application{Token: "test_b"})
	wantCode(t, mockserver.CodeStorageFull, err)
	require.ErrorContains(t, err, "100 applications")
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_demo", Name: "at the cap"}), "those that are there can be changed")
}

// A token that came after the start is as secret as any other.
func TestTokensOfSavedApplicationsAreNotShown(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	const token = "test_later-s3cret"
	a := mockserver.Application{Name: "Shop", Token: token}
	require.NoError(t, s.SaveApplication(a))
	api(t, s, "GET", "/callback/rest?nothing="+token, "")
	control(t, s, 200, "PUT", "/applications", `{"token":"`+token+`","webhook_url":"http://127.0.0.1/`+token+`"}`)
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "app", a)
	for _, text := range []string{
		fmt.Sprint(s.Requests()), fmt.Sprintf("%v %+v %#v %s %q %x %d", a, a, a, a, a, a, a),
		fmt.Sprintf("%+v", mockserver.Config{Applications: []mockserver.Application{a}}), logged.String(),
		control(t, s, 200, "GET", "/applications", ""),
	} {
		assert.NotContains(t, text, "s3cret")
	}
	assert.Contains(t, logged.String(), "Shop")
	assert.Contains(t, fmt.Sprint(s.Requests()), "[REDACTED]")
}

func TestApplicationsSeeTheirOwnPaymentsOnly(t *testing.T) {
	t.Parallel()
	s := stopped(t)
	require.NoError(t, s.SaveApplication(mockserver.Application{Token: "test_b"}))
	deposit(t, s, create(t, s, ""), 5)
	assert.Contains(t, api(t, s, "GET", "/callback/rest?token=test_b", ""), "NO_PROCESSED_PAYMENT")
	assert.Contains(t, poll(t, s), "COMPLETE")
}
