//go:build unix

package torture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// highest are the points of a measure of a process, NaN where nothing is known.
func (d *drawing) highest(p panel, of string) []float64 {
	line, has := nothing(), false
	for _, s := range d.all {
		v, there := s.Values[p.of]
		if s.Of != of || !there {
			continue
		}
		has = true
		if i := d.point(s.At); math.IsNaN(line[i]) || v/p.unit > line[i] {
			line[i] = v / p.unit
		}
	}
	if !has {
		return nil
	}
	return line
}

// growth are the points of what a measure grows by in a second, on average.
func (d *drawing) growth(p panel, of string) []float64 {
	line, has := nothing(), false
	var before, last sample
	for _, s := range d.all {
		v, there := s.Values[p.of]
		if s.Of != of || !there {
			continue
		}
		switch {
		case last.Values == nil:
			before = s
		case d.point(s.At) > d.point(last.At):
			before = last
		}
		if i := d.point(s.At); i > d.point(before.At) {
			line[i], has = (v-before.Values[p.of])/(s.At-before.At)/p.unit, true
		}
		last = s
	}
	if !has {
		return nil
	}
	return line
}

func nothing() []float64 { return slices.Repeat([]float64{math.NaN()}, points) }

func (d *drawing) point(at float64) int { return min(points-1, int(at/d.length*points)) }

// everyMinutes is the distance of the marks of time.
func everyMinutes(all float64) float64 {
	for _, m := range []float64{0.25, 0.5, 1, 2, 5, 10, 15, 30, 60} {
		if all/m <= 8 {
			return m
		}
	}
	return 240
}

func byNumber(a, b float64) int {
	switch {
	case math.IsNaN(b) || a > b:
		return 1
	case math.IsNaN(a) || a < b:
		return -1
	}
	return 0
}

// axis is the distance of the marks and the end of an axis that holds highest.
func axis(highest float64) (step, end float64) {
	if !(highest > 0) {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(highest)))
	for _, part := range []float64{0.2, 0.25, 0.5, 1, 2, 2.5, 5} {
		if math.Ceil(highest/(step*part)) <= 4 {
			return step * part, step * part * math.Ceil(highest/(step*part))
		}
	}
	return step, step * math.Ceil(highest/step)
}

func number(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }

// path is a line in whole pixels, each relative to the one before, which is short.
func path(line []float64, end float64, bottom int) string {
	var b strings.Builder
	pen, x, y, flat := false, 0, 0, 0
	level := func() {
		if flat > 0 {
			_, _ = fmt.Fprintf(&b, "h%d", flat)
			flat = 0
		}
	}
	for i, v := range line {
		if math.IsNaN(v) { // nothing was seen: the line goes on from the next point
			continue
		}
		toX, toY := left+i*pointWidth+pointWidth/2, bottom-int(math.Round(v/end*plotHeight))
		switch {
		case !pen:
			_, _ = fmt.Fprintf(&b, "M%d %d", toX, toY)
			pen = true
		case toY == y:
			flat += toX - x
		default:
			level()
			_, _ = fmt.Fprintf(&b, "l%d %d", toX-x, toY-y)
		}
		x, y = toX, toY
	}
	level()
	return b.String()
}
