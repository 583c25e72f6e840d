package web

import (
	"fmt"
	"maps"
)

// text is one text in every language. Verbs are those of fmt.Sprintf.
type text struct{ ko, en string }

// texts are the texts of all pages by key; the part before the first dot is the page. A
// test checks that every text is there in every language.
var texts = join(commonTexts, checkoutTexts, storeTexts, dashTexts, openapiTexts)

func join(tables ...map[string]text) map[string]text {
	all := make(map[string]text)
	for _, table := range tables {
		for key := range table {
			if _, twice := all[key]; twice {
				panic("web: two texts have the key " + key)
			}
		}
		maps.Copy(all, table)
	}
	return all
}

// Text is the text of a key in a language. An unknown key comes back as it is, and a test
// finds it.
func Text(lang Lang, key string, args ...any) string {
	found, ok := texts[key]
	if !ok {
		return key
	}
	if len(args) == 0 {
		return found.in(lang)
	}
	return fmt.Sprintf(found.in(lang), args...)
}

func (t text) in(lang Lang) string {
	if lang == Korean {
		return t.ko
	}
	return t.en
}

// templateText is Text for templates, where an unknown key is an error.
func templateText(lang Lang) func(string, ...any) (string, error) {
	return func(key string, args ...any) (string, error) {
		if _, ok := texts[key]; !ok {
			return "", fmt.Errorf("web: no text has the key %q", key)
		}
		return Text(lang, key, args...), nil
	}
}
