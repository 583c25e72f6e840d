package house_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTour: each stop of docs/tour.md names a file and functions or types that it declares, a flow has at most
// twelve stops, and no flow comes back to a file it has left.
func TestTour(t *testing.T) {
	t.Parallel()
	flows := strings.Split(read(t, filepath.Join(repository, "docs/tour.md")), "\n## ")[1:]
	require.Len(t, flows, 4)
	stop := regexp.MustCompile("(?m)^\\d+\\. \\[`([^`]+)`\\]\\(\\.\\./([^)]+)\\)((?:,? `[^`]+`)+): ")
	for _, flow := range flows {
		title, body, _ := strings.Cut(flow, "\n")
		stops := stop.FindAllStringSubmatch(body, -1)
		assert.Len(t, stops, len(regexp.MustCompile(`(?m)^\d+\. `).FindAllString(body, -1)), "%s: a stop of another form", title)
		assert.True(t, len(stops) >= 5 && len(stops) <= 12, "%s: %d stops", title, len(stops))
		visited := map[string]bool{}
		for _, m := range stops {
			assert.Equal(t, m[1], m[2], "%s: the link goes elsewhere", title)
			assert.False(t, visited[m[1]], "%s: comes back to %s", title, m[1])
			visited[m[1]] = true
			source := read(t, filepath.Join(repository, m[1]))
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[3], -1) {
				declared := regexp.MustCompile(`(?m)^(?:func (?:\(\w+ \*?\w+(?:\[\w+\])?\) )?|type |const |var |\t)` + regexp.QuoteMeta(name[1]) + `\b`)
				assert.Regexp(t, declared, source, "%s: %s does not declare %s", title, m[1], name[1])
			}
		}
	}
}
