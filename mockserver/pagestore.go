package mockserver

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// storeRoot is the path of the game stores: the first application's is /store/1, and so on.
// Applications keep their order, so an address stays valid.
const storeRoot = "/store"

// storePage is how many products one page of the store shows.
const storePage = 60

func storeRoutes() []pageRoute {
	return []pageRoute{
		{http.MethodGet, storeRoot, (*visit).stores},
		{http.MethodGet, storeRoot + "/", (*visit).stores},
		{http.MethodGet, storeRoot + "/{shop}", inStore((*visit).store)},
		{http.MethodGet, storeRoot + "/{shop}/user", inStore((*visit).backToStore)},
		{http.MethodGet, storeRoot + "/{shop}/buy", inStore((*visit).backToStore)},
		{http.MethodPost, storeRoot + "/{shop}/user", inStore((*visit).storeUser)},
		{http.MethodPost, storeRoot + "/{shop}/buy", inStore((*visit).storeBuy)},
	}
}

// shop is the store of one application.
type shop struct {
	path string
	app  string // the name
}

// inStore finds the store of the address or answers that there is none.
func inStore(serve func(*visit, shop)) func(*visit) {
	return func(v *visit) {
		number, apps := v.PathValue("shop"), v.control.s.Applications()
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(apps) || strconv.Itoa(n) != number {
			v.refuse(http.StatusNotFound, "store.unknown")
			return
		}
		serve(v, shop{path: storeRoot + "/" + number, app: apps[n-1].Name})
	}
}

// stores redirects to the only store, or lists all stores.
func (v *visit) stores() {
	apps := v.control.s.Applications()
	if len(apps) == 1 && !web.IsFragment(v.Request) {
		v.goTo(storeRoot + "/1")
		return
	}
	list := make(web.StoreList, len(apps))
	for i, app := range apps {
		list[i] = web.StoreLink{Name: v.shopName(app.Name), Href: storeRoot + "/" + strconv.Itoa(i+1)}
	}
	v.show(web.Page{Name: "stores", Title: v.t("store.choose"), Data: list, Live: true})
}

// store shows the products of an application to the user of ?user=, or to the only one.
func (v *visit) store(at shop) {
	v.showStore(at, storeEntry{user: v.param("user")}, http.StatusOK)
}

// backToStore is for a visitor who reloads the page after a form.
func (v *visit) backToStore(at shop) { v.goTo(at.path) }

// storeEntry is what was typed into the forms of the store, with error messages.
type storeEntry struct {
	user, name, id               string
	whoError, nameError, idError string
}

func (v *visit) showStore(at shop, e storeEntry, status int) {
	var products []Product
	for _, p := range v.control.s.Products() {
		if p.Application == at.app {
			products = append(products, p)
		}
	}
	page := web.Page{Name: "store", Status: status, Title: v.t("store.title"), Live: true}
	if status != http.StatusOK {
		page.Title, page.At = v.t("field.error")+" "+page.Title, at.path
	}
	out := web.Store{Name: v.shopName(at.app), Path: at.path, NewUser: v.newUserForm(e)}
	v.chooseUser(&out, e)
	var from, to int
	out.Pager, from, to = web.NewPager(v.Request, len(products), storePage)
	products = products[from:to]
	has := false
	for _, p := range products {
		has = has || p.Icon != ""
	}
	out.Icons = web.NewIcons(v.Request, has)
	for _, p := range products {
		out.Products = append(out.Products, web.StoreProduct{
			ID: p.ID, Name: p.Name, Price: p.Price,
			Icon: web.Icon{URL: p.Icon, Show: out.Icons.Show, Name: p.Name},
		})
	}
	page.Data, page.Icons = out, out.Icons.Has && out.Icons.Show
	v.show(page)
}

// storeBuy buys one product and redirects to its checkout page.
func (v *visit) storeBuy(at shop) {
	user := v.form.Get("user")
	p, problem := v.control.buyFrom(at.app, v.form.Get("product"), user)
	switch {
	case problem == nil:
		v.goTo(checkoutRoot + "/" + p.ID)
	case problem.Code == CodeUserNotFound:
		v.showStore(at, storeEntry{whoError: v.t("store.who.missing")}, http.StatusUnprocessableEntity)
	case problem.Code == CodeProductNotFound:
		v.failed(at.forUser(user), v.t("store.gone"))
	default:
		v.refuseWith(problem)
	}
}

// forUser is the address of the store for a user.
func (at shop) forUser(id string) string {
	if id == "" {
		return at.path
	}
	return at.path + "?" + url.Values{"user": {id}}.Encode()
}
