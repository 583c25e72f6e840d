package mockserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

func sell(t *testing.T, s *mockserver.Server, p mockserver.Product) mockserver.Product {
	t.Helper()
	saved, err := s.SaveProduct(p)
	require.NoError(t, err)
	return saved
}

func TestStorePageBuys(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	sword := sell(t, s, mockserver.Product{Name: "Sword", Price: 5000})
	resp, body := browse(t, s, "POST", "/store/1/buy", url.Values{"product": {sword.ID}, "user": {""}})
	assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	assert.Contains(t, body, "Choose who you are first")
	assert.Empty(t, s.Payments())

	resp, _ = browse(t, s, "POST", "/store/1/user", url.Values{"name": {"Lee"}, "id": {"p&1 <x>"}})
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	assert.Equal(t, []mockserver.StoreUser{{ID: "p&1 <x>", Name: "Lee"}}, s.StoreUsers())
	_, body = browse(t, s, "GET", resp.Header.Get("Location"), nil)
	assert.Contains(t, body, `name="user" value="p&amp;1 &lt;x&gt;"`)

	resp, _ = browse(t, s, "POST", "/store/1/buy", url.Values{"product": {sword.ID}, "user": {"p&1 <x>"}})
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	list := s.Payments()
	require.Len(t, list, 1)
	assert.Equal(t, "/pay/"+list[0].ID, resp.Header.Get("Location"))
	assert.Equal(t, []any{sword.ID, "p&1 <x>", int64(5000)}, []any{list[0].GameProduct, list[0].Identifier, list[0].Amount})
	_, body = browse(t, s, "GET", "/pay/"+list[0].ID, nil)
	assert.Contains(t, body, "p&amp;1 &lt;x&gt;", "the game-user id can be seen")

	require.NoError(t, s.DeleteProduct(sword.ID))
	resp, _ = browse(t, s, "POST", "/store/1/buy", url.Values{"product": {sword.ID}, "user": {"p&1 <x>"}})
	_, body = browse(t, s, "GET", resp.Header.Get("Location"), nil, "Cookie", strings.Split(resp.Header.Get("Set-Cookie"), ";")[0])
	assert.Contains(t, body, "not sold any more")
	assert.Contains(t, body, "There are no products yet")
}

func TestStorePageUsers(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	_, err := s.SaveStoreUser(mockserver.StoreUser{ID: "u1", Name: "Kim"})
	require.NoError(t, err)
	resp, _ := browse(t, s, "POST", "/store/1/user", url.Values{"name": {"Thief"}, "id": {"u1"}})
	assert.Equal(t, "/store/1?user=u1", resp.Header.Get("Location"))
	assert.Equal(t, "Kim", s.StoreUsers()[0].Name, "a visitor renames nobody")
	for _, c := range []struct{ name, id, want string }{
		{"", "", "Enter a name."},
		{strings.Repeat("x", 41), "", "Use at most 40 characters."},
		{"a\x01b", "", "characters that cannot be shown"},
		{"ok", strings.Repeat("x", 101), "Use at most 100 characters."},
		{"ok", " u2", "a space at the start or end"},
	} {
		resp, body := browse(t, s, "POST", "/store/1/user", url.Values{"name": {c.name}, "id": {c.id}})
		assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode, "%+v", c)
		assert.Contains(t, body, c.want)
		assert.Contains(t, body, `<details id="new-user" open>`)
	}
	assert.Len(t, s.StoreUsers(), 1)
	_, body := browse(t, s, "GET", "/store/1", nil)
	assert.Contains(t, body, `id="user-id">u1<`, "the only user need not be chosen")
	_, body = browse(t, s, "GET", "/store/1?user=nobody", nil)
	assert.NotContains(t, body, `id="user-id"`)
}

func TestStoresOfSeveralApplications(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t, mockserver.Config{Applications: []mockserver.Application{
		{Name: "First <game>", Token: "test_a"}, {Name: "Second", Token: "test_b"},
	}})
	a := sell(t, s, mockserver.Product{Name: "Apple", Price: 1})
	b := sell(t, s, mockserver.Product{Name: "Banana", Price: 2, Application: "Second"})
	user, err := s.SaveStoreUser(mockserver.StoreUser{Name: "Kim"})
	require.NoError(t, err)
	resp, body := browse(t, s, "GET", "/store/", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Contains(t, body, `href="/store/2"`)
	assert.Contains(t, body, "First &lt;game&gt;")
	_, body = browse(t, s, "GET", "/store/2", nil)
	assert.Contains(t, body, "Banana")
	assert.NotContains(t, body, "Apple")
	resp, _ = browse(t, s, "POST", "/store/2/buy", url.Values{"product": {a.ID}, "user": {user.ID}})
	assert.Equal(t, "/store/2?user="+user.ID, resp.Header.Get("Location"), "another store's product is not sold here")
	assert.Empty(t, s.Payments())
	_, _ = browse(t, s, "POST", "/store/2/buy", url.Values{"product": {b.ID}, "user": {user.ID}})
	require.Len(t, s.Payments(), 1)
	assert.Equal(t, "Second", s.Payments()[0].Application)
}

func TestStorePages(t *testing.T) {
	t.Parallel()
	s := mockserver.RunT(t)
	for range 61 {
		sell(t, s, mockserver.Product{Name: "Thing", Price: 1, Icon: "https://shop.example/i.png"})
	}
	_, body := browse(t, s, "GET", "/store/1?user=x", nil)
	assert.Equal(t, 60, strings.Count(body, `class="sheet product"`))
	assert.Contains(t, body, `rel="next" href="/store/1?page=2&amp;user=x"`)
	assert.NotContains(t, body, "shop.example")
	_, body = browse(t, s, "GET", "/store/1?page=2&icons=1", nil)
	assert.Equal(t, 1, strings.Count(body, `src="https://shop.example/i.png"`))
}
