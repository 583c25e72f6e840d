package mockserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/depositpay/depositpay-go/internal/test/chrome"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestBrowserSpoken: anyone who hears the pages instead of seeing them learns what each thing
// is. Nothing that can be acted on is without a name, and two buttons that do different
// things are not called alike.
func TestBrowserSpoken(t *testing.T) {
	t.Parallel()
	s, paths := dashBusy(t)
	sell(t, s, mockserver.Product{Name: "방패", Price: 5})
	open := create(t, s, "")
	paths = append(paths, "/store/1", "/pay/"+open, "/pay/"+s.Payments()[0].ID, "/openapi")
	page := browser(t).Open(t, chrome.Options{Lang: "ko"})
	for _, path := range paths {
		page.Go(s.URL() + path)
		count := map[chrome.Spoken]int{}
		for _, said := range page.Spoken() {
			count[said]++
			switch said.Role {
			case "main", "banner", "contentinfo", "status", "alert":
			default:
				assert.NotEmpty(t, strings.TrimSpace(said.Name), "%s: a %s without a name", path, said.Role)
			}
			if said.Role == "button" && said.Name != "다음 시도로 이동" {
				assert.Equal(t, 1, count[said], "%s: two buttons are called %s", path, said.Name)
			}
		}
		for _, landmark := range []string{"main", "banner", "contentinfo"} {
			assert.Equal(t, 1, count[chrome.Spoken{Role: landmark}], "%s: %s", path, landmark)
		}
	}
	page.Go(s.URL() + "/pay/" + open)
	said := page.Spoken()
	assert.Contains(t, said, chrome.Spoken{Role: "textbox", Name: "입금자명"})
	assert.Contains(t, said, chrome.Spoken{Role: "textbox", Name: "입금할 금액"})
	assert.Contains(t, said, chrome.Spoken{Role: "button", Name: "다음"})
	page.Go(s.URL() + "/_mock/ui/faults")
	said = page.Spoken()
	assert.Contains(t, said, chrome.Spoken{Role: "button", Name: "삭제: banks status-before status=503"})
	assert.Contains(t, said, chrome.Spoken{Role: "combobox", Name: "장애 종류"})
}
