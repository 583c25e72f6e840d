// Command layers measures how a package is built: how many of the dependencies between
// its files run against its layers, how many methods its main type has, and how long its
// files and functions are.
//
//	go run ./internal/test/layers ./mockserver ./inbox
//
// The layers of a package are in the file NAME.layers next to this program, after the
// name of the package's main type: one layer a line, the lowest first. A file may use the
// files of its own layer and of those below; any other use is against the layers.
package main

import (
	"embed"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

//go:embed *.layers
var lists embed.FS

func main() {
	log.SetFlags(0)
	verbose := flag.Bool("v", false, "also print each dependency against the layers")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *verbose); err != nil {
		log.Fatal(err)
	}
}

// run prints the table; a failed write shows when it is flushed.
func run(w io.Writer, dirs []string, verbose bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(table, format, args...) }
	printf("package\tfiles\tlines\texported\tmethods\tdependencies\tagainst\tlongest file\tlongest function\n")
	for _, dir := range dirs {
		name := filepath.Base(filepath.Clean(dir))
		text, err := lists.ReadFile(name + ".layers")
		if err != nil {
			return fmt.Errorf("layers: package %s has no list of layers: %w", name, err)
		}
		p, err := load(dir)
		if err != nil {
			return err
		}
		list := parseLayers(string(text))
		m := p.measure(list.mainType)
		against := list.against(m.arrows)
		printf("%s\t%d\t%d\t%d\t%s %d\t%d\t%d\t%s\t%s\n", name, len(m.files), m.lines, m.exported,
			list.mainType, m.methods, len(m.arrows), len(against), m.longestFile, m.longestFunc)
		for _, file := range list.unlisted(m.files) {
			printf("\t%s.go is in no layer: add it to %s.layers\n", file, name)
		}
		if verbose {
			for _, a := range against {
				printf("\t%s -> %s (%s)\n", a.from, a.to, m.arrows[a])
			}
		}
	}
	return table.Flush()
}

// layers is the list of one package: the number of each file's layer, 0 for the lowest.
type layers struct {
	mainType string
	of       map[string]int
}

func parseLayers(text string) layers {
	list := layers{of: map[string]int{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			list.mainType = strings.TrimSpace(line)
			continue
		}
		for _, file := range strings.Fields(line) {
			list.of[file] = i - 1
		}
	}
	return list
}

// against returns the dependencies of a lower layer on a higher one, sorted.
func (l layers) against(arrows map[arrow]string) []arrow {
	var list []arrow
	for a := range arrows {
		from, known := l.of[a.from]
		to, alsoKnown := l.of[a.to]
		if known && alsoKnown && to > from {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b arrow) int { return strings.Compare(a.from+" "+a.to, b.from+" "+b.to) })
	return list
}

func (l layers) unlisted(files []string) []string {
	var list []string
	for _, file := range files {
		if _, ok := l.of[file]; !ok {
			list = append(list, file)
		}
	}
	return list
}
