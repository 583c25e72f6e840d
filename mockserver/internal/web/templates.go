package web

import (
	"errors"
	"html/template"
	"io/fs"
	"strings"
	"sync"
)

// pages are the parsed pages by language and name. They are parsed at the first request, so
// that a server without visitors pays nothing.
var pages = sync.OnceValues(parseAll)

type pageKey struct {
	lang Lang
	name string
}

func parseAll() (map[pageKey]*template.Template, error) {
	all := make(map[pageKey]*template.Template)
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		return nil, err
	}
	for _, lang := range Langs {
		base, err := template.New("").Funcs(functions(lang)).ParseFS(files, "layout.html", "*parts.html")
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			if file == "layout.html" || strings.HasSuffix(file, "parts.html") {
				continue
			}
			page, err := base.Clone()
			if err == nil {
				page, err = page.ParseFS(files, file)
			}
			if err != nil {
				return nil, err
			}
			all[pageKey{lang, strings.TrimSuffix(file, ".html")}] = page
		}
	}
	return all, nil
}

func functions(lang Lang) template.FuncMap {
	return template.FuncMap{
		"t":        templateText(lang),
		"money":    func(amount int64) string { return Money(lang, amount) },
		"number":   number,
		"when":     when,
		"local":    local(lang),
		"running":  running,
		"wait":     wait(lang),
		"span":     span(lang),
		"say":      func(text string) string { return Say(lang, text) },
		"sayEvent": func(kind, text string) string { return SayEvent(lang, kind, text) },
		"short":    Short,
		"folded":   folded,
		"cut":      cut,
		"length":   length,
		"dict":     dict,
		"asset":    func(name string) string { return Root + "/" + name },
	}
}

// dict makes a map of alternating names and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("web: dict takes names and values in turn")
	}
	out := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, errors.New("web: a name in dict is not a text")
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}
