package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what goes wrong here is meant to
	goleak.VerifyTestMain(m)
}

// TestDemo: from the purchase in the store to the item, over TCP, with the claim box and
// the operator.
func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, command(t.Context(), []string{"--demo"}, strings.NewReader(""), &out))
	require.True(t, strings.HasSuffix(out.String(), "\ngranted 7 of 7 units, each once\n"), out.String())
	require.NotContains(t, out.String(), "test_demo", "the token is not part of the story")
}

// TestSettings: what is missing is named.
func TestSettings(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]settings{
		"DEPOSITPAY_TOKEN is not set": {},
		"ledger: name the file":       {token: "test_x"},
		"name one game":               {token: "test_x", Ledger: "x", Town: ":0", RCON: &rconSettings{}},
		"GAME_SECRET is not set":      {token: "test_x", Ledger: "x", RCON: &rconSettings{}},
		"write it in UTC":             {token: "test_x", Ledger: "x", Town: ":0", NotBefore: time.Now().Add(9 * time.Hour)},
	} {
		require.ErrorContains(t, s.check(), want)
	}
	now := settings{token: "test_x", Ledger: "x", Town: ":0", NotBefore: time.Now()}
	require.NoError(t, now.check())
	_, err := readSettings(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "try --demo")
}
