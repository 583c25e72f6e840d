package mockserver

import (
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/depositpay/depositpay-go/mockserver/internal/web"
)

// chooseUser fills in the buyer and the users to choose from.
func (v *visit) chooseUser(out *web.Store, e storeEntry) {
	users := v.control.s.StoreUsers()
	out.Who = web.Field{ID: "user", Label: v.t("store.who.label"), Error: e.whoError}
	switch {
	case slices.ContainsFunc(users, func(u StoreUser) bool { return u.ID == e.user }):
		out.UserID = e.user
	case len(users) == 1 && e.user == "":
		out.UserID = users[0].ID
	}
	if len(users) == 0 {
		out.NewUser.Open = true
		if out.NewUser.Name.Error == "" {
			out.NewUser.Name.Error = e.whoError
		}
		return
	}
	if out.UserID == "" {
		out.Who.Options = append(out.Who.Options, web.Option{Label: v.t("store.who.nobody")})
	}
	for _, u := range users {
		out.Who.Options = append(out.Who.Options, web.Option{
			Value: u.ID, Label: v.t("store.who.option", isolate(u.Name), isolate(web.Short(u.ID, maxNameLength))),
		})
	}
	out.Who.Value = out.UserID
}

// isolate isolates the direction of a text where no element can: in an option.
func isolate(text string) string { return "\u2068" + text + "\u2069" }

func (v *visit) newUserForm(e storeEntry) web.NewUser {
	return web.NewUser{
		Name: web.Field{
			ID: "new-name", Name: "name", Label: v.t("store.user.name"), Value: e.name, Error: e.nameError, Required: true,
		},
		ID: web.Field{
			ID: "new-id", Name: "id", Label: v.t("store.user.id"), Hint: v.t("store.user.id.hint"), Value: e.id, Error: e.idError,
		},
		Open: e.nameError != "" || e.idError != "",
	}
}

// storeUser continues as the user with the typed id, who is created if unknown.
func (v *visit) storeUser(at shop) {
	e := storeEntry{name: v.value("name"), id: v.form.Get("id")}
	if e.id != "" && slices.ContainsFunc(v.control.s.StoreUsers(), func(u StoreUser) bool { return u.ID == e.id }) {
		v.goTo(at.forUser(e.id))
		return
	}
	e.nameError = v.nameError(e.name, maxNameLength)
	if e.id != "" {
		e.idError = v.nameError(e.id, maxUserIDLength)
	}
	if e.nameError != "" || e.idError != "" {
		v.showStore(at, e, http.StatusUnprocessableEntity)
		return
	}
	saved, problem := asProblem(v.control.s.SaveStoreUser(StoreUser{ID: e.id, Name: e.name}))
	switch {
	case problem == nil:
		v.goTo(at.forUser(saved.ID))
	case problem.Code == CodeStorageFull:
		v.failed(at.path, v.t("store.user.full"))
	default:
		v.refuseWith(problem)
	}
}

// nameError is the error of checkName in the visitor's language.
func (v *visit) nameError(name string, longest int) string {
	kept, err := checkName(name, longest)
	switch {
	case err == nil && kept == name:
		return ""
	case name == "":
		return v.t("store.user.missing")
	case utf8.RuneCountInString(name) > longest:
		return v.t("store.user.long", strconv.Itoa(longest))
	}
	return v.t("store.user.invalid")
}
