package chrome

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// Screenshot keeps a picture of the whole page as out/screens/NAME.png in the root of the
// repository, which git ignores.
func (p *Page) Screenshot(name string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, Patience)
	defer stop()
	var picture []byte
	err := chromedp.Run(ctx, chromedp.FullScreenshot(&picture, 100))
	if err == nil {
		err = keep(name, picture)
	}
	if err != nil {
		p.t.Fatalf("chrome: the screenshot %s: %v", name, err)
	}
}

func keep(name string, picture []byte) error {
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		parent := filepath.Dir(root)
		if parent == root {
			return fmt.Errorf("no go.mod above the test: %w", os.ErrNotExist)
		}
		root = parent
	}
	folder := filepath.Join(root, "out", "screens")
	if err == nil {
		err = os.MkdirAll(folder, 0o750)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".png"), picture, 0o600)
}
