//go:build unix

package torture

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// panel is one row of the drawing: a measure, with a line for each process.
type panel struct {
	title string
	of    measure
	unit  float64 // what 1 on the axis is
	rate  bool    // its growth in a second is drawn, over the time of a point
}

var panels = []panel{
	{title: "resident memory, MiB", of: resident, unit: mebibyte},
	{title: "heap alive after the last collection, MiB", of: heap, unit: mebibyte},
	{title: "goroutines", of: goroutines, unit: 1},
	{title: "open descriptors", of: files, unit: 1},
	{title: "write-ahead log, MiB", of: wal, unit: mebibyte},
	{title: "oldest payment that waits for its handler, s (60 is the limit)", of: oldest, unit: 1},
	{title: "payments granted a second", of: granted, unit: 1, rate: true},
}

// Sizes are pixels of the drawing. A point is the highest value of its share of the time.
const (
	points     = 240
	pointWidth = 3
	plotWidth  = points * pointWidth
	plotHeight = 84
	left       = 56
	top        = 108
	rowHeight  = plotHeight + 40
	fullWidth  = left + plotWidth + 36
)

const style = `svg{--b:#fff;--t:#24292f;--m:#57606a;--g:#d8dee4;--s:#f3f5f7;--c0:#0969da;--c1:#bc4c00;--c2:#1a7f37;--c3:#8250df;--c4:#6e7781}` +
	`@media(prefers-color-scheme:dark){svg{--b:#0d1117;--t:#e6edf3;--m:#9198a1;--g:#30363d;--s:#161b22;--c0:#58a6ff;--c1:#f0883e;--c2:#3fb950;--c3:#bc8cff;--c4:#9198a1}}` +
	`text{font:12px system-ui,sans-serif;fill:var(--m)}.h{font-size:15px;font-weight:600;fill:var(--t)}.p{fill:var(--t)}.e{text-anchor:end}.c{text-anchor:middle}` +
	`.g{stroke:var(--g);stroke-width:1}.s{fill:var(--s)}.l{fill:none;stroke-width:1.5;stroke-linejoin:round}` +
	`.l0{stroke:var(--c0)}.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}.l3{stroke:var(--c3)}.l4{stroke:var(--c4);stroke-dasharray:5 3}`

// drawing is an SVG under way.
type drawing struct {
	strings.Builder
	length float64 // seconds
	names  []string
	all    []sample
}

func (d *drawing) add(format string, args ...any) { _, _ = fmt.Fprintf(d, format+"\n", args...) }

// drawSoak draws what was recorded. It needs nothing but the samples.
func drawSoak(title, subtitle string, length float64, all []sample) string {
	d := &drawing{length: length, names: processes(all), all: all}
	height := top + len(panels)*rowHeight + 16
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">`, fullWidth, height)
	d.add(`<title id="title">%s</title>`, html.EscapeString(title))
	d.add(`<desc id="desc">%s. Each row is a measure over the time in minutes, with a line for each process.</desc>`, html.EscapeString(subtitle))
	d.add(`<style>%s</style>`, style)
	d.add(`<rect width="%d" height="%d" style="fill:var(--b)"/>`, fullWidth, height)
	d.add(`<text class="h" x="16" y="26">%s</text><text x="16" y="46">%s</text>`, html.EscapeString(title), html.EscapeString(subtitle))
	d.legend()
	for i, p := range panels {
		d.panel(p, top+i*rowHeight)
	}
	d.add(`</svg>`)
	return d.String()
}

func (d *drawing) class(of string) int {
	if of == theService {
		return 4
	}
	return min(3, slices.Index(d.names, of))
}

func (d *drawing) legend() {
	x := 16
	for _, name := range d.names {
		if name == theService {
			name = "the mock service"
		}
		d.add(`<path class="l l%d" d="M%d 66h22"/><text class="p" x="%d" y="70">%s</text>`, d.class(d.name(name)), x, x+28, html.EscapeString(name))
		x += 28 + 8*len(name) + 16
	}
	d.add(`<text x="16" y="90">Shaded: the two quarters whose medians are compared. A point is the highest of its %.3g s.</text>`, d.length/points)
}

// name undoes what legend makes of a name.
func (d *drawing) name(shown string) string {
	if slices.Contains(d.names, shown) {
		return shown
	}
	return theService
}

func (d *drawing) panel(p panel, y int) {
	lines := map[string][]float64{}
	highest := 0.0
	for _, of := range d.names {
		if of == theService && (p.of == resident || p.of == heap) {
			continue // see theService
		}
		draw := d.highest
		if p.rate {
			draw = d.growth
		}
		if line := draw(p, of); line != nil {
			lines[of] = line
			highest = max(highest, slices.MaxFunc(line, byNumber))
		}
	}
	step, end := axis(highest)
	d.add(`<text class="p" x="%d" y="%d">%s</text>`, left, y+8, p.title)
	plot := y + 16
	bottom := plot + plotHeight
	for _, quarter := range []int{1, 3} {
		d.add(`<rect class="s" x="%d" y="%d" width="%d" height="%d"/>`, left+quarter*plotWidth/4, plot, plotWidth/4, plotHeight)
	}
	for v := 0.0; v <= end+step/2; v += step {
		at := bottom - int(math.Round(v/end*plotHeight))
		d.add(`<path class="g" d="M%d %dh%d"/><text class="e" x="%d" y="%d">%s</text>`, left, at, plotWidth, left-6, at+4, number(v))
	}
	minutes := d.length / 60
	for m := 0.0; m <= minutes; m += everyMinutes(minutes) {
		d.add(`<text class="c" x="%d" y="%d">%s</text>`, left+int(m/minutes*plotWidth), bottom+15, number(m)+" min")
	}
	for _, of := range d.names {
		if line := lines[of]; line != nil {
			d.add(`<path class="l l%d" d="%s"/>`, d.class(of), path(line, end, bottom))
		}
	}
}
