package mockserver_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// The table of the control API names every call, so readers do not have to look at the code.
func TestControlAPIIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var rows []string
	for _, line := range strings.Split(string(doc), "\n") {
		if words := strings.Fields(strings.TrimPrefix(line, "//")); len(words) > 2 && strings.HasPrefix(words[1], "/") {
			rows = append(rows, words[0]+" "+words[1])
		}
	}
	for _, route := range mockserver.ControlRoutes() {
		assert.Contains(t, rows, route)
	}
}
