package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUpwardArrowIsCounted: of two files that use each other, only the lower one's use
// runs against the layers; fields, methods and functions count, local names do not.
func TestUpwardArrowIsCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.test/house\n\ngo 1.26\n",
		"ground.go": "package house\n\ntype Wall struct{ height int }\n\nfunc (w *Wall) Grow() { w.height++; paint(w) }\n",
		"roof.go":   "package house\n\nfunc paint(w *Wall) {\n\theight := w.height\n\t_ = height\n}\n",
		"cellar.go": "package house\n\nfunc Dig() int { return Depth }\n\nconst Depth = 3\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := load(dir)
	require.NoError(t, err)
	m := p.measure("Wall")
	assert.Equal(t, map[arrow]string{{"ground", "roof"}: "paint", {"roof", "ground"}: "Wall"}, m.arrows)
	assert.Equal(t, 1, m.methods)
	assert.Equal(t, 4, m.exported, "Wall, Grow, Dig and Depth")
	assert.Equal(t, "roof.go 6", m.longestFile)

	list := parseLayers("Wall\nground cellar\nroof\n")
	assert.Equal(t, []arrow{{"ground", "roof"}}, list.against(m.arrows))
	assert.Empty(t, parseLayers("Wall\nroof\nground\n").against(map[arrow]string{{"ground", "roof"}: "paint"}))
	assert.Equal(t, []string{"roof"}, parseLayers("Wall\nground cellar\n").unlisted(m.files))
}

// TestLayersHold: mockserver and inbox keep to their layers. Every file is in a layer.
func TestLayersHold(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it asks the go command for what the packages import")
	}
	t.Parallel()
	for name, most := range map[string]struct{ against, methods int }{
		"inbox":      {30, 40},
		"mockserver": {40, 60},
	} {
		text, err := lists.ReadFile(name + ".layers")
		require.NoError(t, err)
		p, err := load(filepath.Join("..", "..", "..", name))
		require.NoError(t, err)
		list := parseLayers(string(text))
		m := p.measure(list.mainType)
		assert.LessOrEqual(t, m.methods, most.methods, "%s: methods of %s", name, list.mainType)
		assert.Empty(t, list.unlisted(m.files), "%s: add these files to a layer", name)
		if against := list.against(m.arrows); len(against) > most.against {
			t.Errorf("%s: %d dependencies against the layers, at most %d: %s", name, len(against), most.against, render(against))
		}
	}
}

func render(list []arrow) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString("\n" + a.from + " -> " + a.to)
	}
	return b.String()
}
