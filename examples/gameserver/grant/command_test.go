package grant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// TestCommandInjection: what a player may have typed never gets to the console.
func TestCommandInjection(t *testing.T) {
	t.Parallel()
	s := newRCONServer(t, func(string) (string, bool) { return "Gave it", true })
	r := newRCON(t, s)
	for _, who := range []string{"a b", "a;op a", "a\nop a", `a"`, "@a", "", strings.Repeat("a", 65), "{item}", "Ａ"} {
		answer, err := r.Give(t.Context(), delivery(who))
		require.NoError(t, err)
		require.Equal(t, grant.Refused, answer, who)
		_, err = r.Player(t.Context(), who)
		require.ErrorContains(t, err, "it may not stand in a command", who)
	}
	require.Empty(t, s.commands())
}

// TestParseCommand: templates are checked when they are written.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"there is no placeholder {name}": "give {name} sword",
		"single braces are not taken":    "give {account",
		"control characters":             "give {account}\nop {account}",
		"it has 1 to 500 bytes":          " ",
	} {
		_, err := grant.ParseCommand(text)
		require.ErrorContains(t, err, want)
	}
}
