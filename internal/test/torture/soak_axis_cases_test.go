//go:build unix

package torture

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSoakPath: a line is one, where something was not seen too.
func TestSoakPath(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	assert.Equal(t, "M60 16h6l3 42l3 42", path([]float64{none, 2, 2, 2, 1, 0}, 2, 16+plotHeight))
	assert.Equal(t, "M57 100l9 -84", path([]float64{0, none, none, 2}, 2, 16+plotHeight))
}

// TestSoakGrowth: what grows evenly is a level line.
func TestSoakGrowth(t *testing.T) {
	t.Parallel()
	d := &drawing{length: 3600, all: recorded("", nil)}
	line := d.growth(panel{of: granted, unit: 1, rate: true}, "SQLite")
	require.Len(t, line, points)
	for i, v := range line[1:] {
		require.InDelta(t, 8, v, 1e-9, i)
	}
	assert.Nil(t, d.growth(panel{of: granted, unit: 1}, theService))
}

// TestSoakAxis: an axis holds the highest value, and its marks are round.
func TestSoakAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ highest, step, end float64 }{{0, 1, 1}, {1, 0.25, 1}, {37.2, 10, 40}, {41, 20, 60}, {0.3, 0.1, 0.3}, {200, 50, 200}} {
		step, end := axis(c.highest)
		assert.InDelta(t, c.step, step, 1e-9, c)
		assert.InDelta(t, c.end, end, 1e-9, c)
	}
	assert.InDelta(t, 15, everyMinutes(120), 0)
	assert.InDelta(t, 240, everyMinutes(3000), 0)
}
