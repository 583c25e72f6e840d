package web

import (
	"fmt"
	"maps"
)

// text is one text in every language. Verbs are those of fmt.Sprintf.
type text struct{ ko, en string }

// texts are all texts of all pages, by key: what comes before the first dot is the
// page. A test wants every text in every language.
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

// Text is the text of a key in a language. A key that does not exist comes back as it
// is, which a test finds.
func Text(lang Lang, key string, args ...any) string {
	found, ok := texts[key]
	if !ok {
		return key
	}
	format := found.en
	if lang == Korean {
		format = found.ko
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// templateText is Text for templates, where a key that does not exist is an error.
func templateText(lang Lang) func(string, ...any) (string, error) {
	return func(key string, args ...any) (string, error) {
		if _, ok := texts[key]; !ok {
			return "", fmt.Errorf("web: no text has the key %q", key)
		}
		return Text(lang, key, args...), nil
	}
}
