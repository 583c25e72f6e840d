package house_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/banks"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// notShown lists what the interface leaves out ("not shown"), as section and topic.
var notShown = []string{
	"2.1 other fields of the creation response",
	"2.2 fields of the payment record beyond the table",
	"2.4 fields of the delivery record",
	"3 status values of the other stages",
	"3 whether confirm changes the stored state",
	"3 initial status at creation",
	"3 failure and expiry states",
	"3 all other transitions",
	"4.1 rest of the creation's response body",
	"4.2 envelope around the polled payment",
	"4.4 parameters of the bank list",
	"4.6 fields of the notification upload",
	"4.6 response to the notification upload",
	"4.7 request of webhook status",
	"4.7 response of webhook status",
	"4.7 request of webhook resend",
	"4.7 response of webhook resend",
	"5.5 how the token is issued",
	"5.6 authentication of the bank list",
	"5.6 authentication of the deposit upload",
	"5.7 authentication or signing of webhooks",
	"6 how the webhook URI is configured",
	"6 events for other status changes",
	"6.4 other webhook delivery states",
	"7 shape of errors",
	"7 HTTP status of errors",
	"7 error codes other than NO_PROCESSED_PAYMENT",
	"8 rate limits",
	"8 bounds of title and identifier",
	"8 bounds of amount",
	"8 bounds of items",
	"8 lifetime of an unpaid payment",
	"9 versioning",
}

// twoStatements lists where the interface contradicts itself.
var twoStatements = []string{
	"3 when a game-store payment reaches PROGRESS (two statements)",
	"4 path of creation (two statements)",
	"7 an empty poll (error or empty result, two statements)",
}

// interpretations reads the rows of the table by section and topic: choice, evidence
// and the way to change it.
func interpretations(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/interpretation.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| § ") {
			continue
		}
		require.Len(t, cells, 7, "five columns: %s", line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		topic := cells[1] + " " + cells[2]
		require.Nil(t, rows[topic], "the row of §%s appears twice", topic)
		rows[topic] = cells[3:6]
	}
	return rows
}

// TestEverySilenceIsInterpreted: each place has a row, and each row says what, why and
// how else.
func TestEverySilenceIsInterpreted(t *testing.T) {
	t.Parallel()
	rows := interpretations(t)
	for _, topic := range slices.Concat(notShown, twoStatements) {
		assert.NotNil(t, rows[topic], "docs/interpretation.md has no row for §%s", topic)
	}
	evidence := regexp.MustCompile(`\b([1-9]|1\d|2[0-5])\b.*\([ABC]|^None`)
	for topic, cells := range rows {
		assert.NotEmpty(t, cells[0], "%s: what was chosen", topic)
		assert.Regexp(t, evidence, cells[1], "%s: the evidence", topic)
		assert.NotEmpty(t, cells[2], "%s: how to change it", topic)
	}
}

// TestInterpretationNamesWhatExists: fields, methods, dialects, faults and routes. No
// option of a dialect is left out.
func TestInterpretationNamesWhatExists(t *testing.T) {
	t.Parallel()
	options := map[string]bool{}
	for topic, cells := range interpretations(t) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			assert.True(t, exists(t, m[1]), "%s: nothing is called %s", topic, m[1])
			option, _, _ := strings.Cut(m[1], "=")
			options[option] = true
		}
	}
	for _, o := range mockserver.DialectOptions() {
		assert.True(t, options[o.Name], "no row names the option %s of a dialect", o.Name)
	}
}

// exists reports whether the mock or a client has what the last column names.
func exists(t *testing.T, name string) bool {
	t.Helper()
	method, path, isRoute := strings.Cut(name, " /")
	owner, member, isMember := cutLast(name, ".")
	option, value, isOption := strings.Cut(name, "=")
	switch {
	case isRoute:
		return routeExists(t, method, "/"+path)
	case isMember && owner == "Server":
		_, ok := reflect.TypeFor[*mockserver.Server]().MethodByName(member)
		return ok
	case isMember && owners[owner] != nil:
		_, ok := owners[owner].FieldByName(member)
		return ok
	case isOption:
		return slices.ContainsFunc(mockserver.DialectOptions(), func(o mockserver.DialectOption) bool {
			return o.Name == option && slices.Contains(o.Values, value)
		})
	}
	return slices.ContainsFunc(mockserver.FaultOperations(), func(op string) bool {
		return slices.Contains(mockserver.FaultKinds(op), name)
	})
}

var owners = map[string]reflect.Type{
	"Config":          reflect.TypeFor[mockserver.Config](),
	"Application":     reflect.TypeFor[mockserver.Application](),
	"Deposit":         reflect.TypeFor[mockserver.Deposit](),
	"Fault":           reflect.TypeFor[mockserver.Fault](),
	"payments.Config": reflect.TypeFor[payments.Config](),
	"banks.Config":    reflect.TypeFor[banks.Config](),
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// routeExists reports whether a mock knows the path and the method.
func routeExists(t *testing.T, method, path string) bool {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, mock.Close()) }()
	req, err := http.NewRequestWithContext(t.Context(), method, mock.URL()+path, http.NoBody)
	require.NoError(t, err)
	resp, err := mock.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer func() { assert.NoError(t, resp.Body.Close()) }()
	var answer struct{ Error mockserver.Code }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer), "%s %s answers JSON", method, path)
	return answer.Error != mockserver.CodeNotFound && answer.Error != mockserver.CodeMethodNotAllowed
}
