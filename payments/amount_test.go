package payments_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/payments"
)

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "10000": "10000", "10000.0": "10000", "1e4": "10000", "1E+4": "10000", "10000e0": "10000",
		"0.5": "0.5", "0.50": "0.5", "-0.05": "-0.05", "123.456": "123.456", "1.5e1": "15", "1.5e-1": "0.15",
		"9223372036854775807": "9223372036854775807", "-9223372036854775807": "-9223372036854775807",
		"1e18": "1000000000000000000", "0.000000000000000001": "0.000000000000000001",
		"10." + strings.Repeat("0", 100): "10", "0.0e5": "0",
		"1.000000000000000000000000": "1", "100000e-5": "1",
	} {
		a, err := payments.ParseAmount(text)
		require.NoError(t, err, text)
		require.Equal(t, want, a.String(), text)
		encoded, err := json.Marshal(a)
		require.NoError(t, err)
		require.Equal(t, want, string(encoded))
		again, err := payments.ParseAmount(want)
		require.NoError(t, err)
		require.Equal(t, a, again, "equal amounts are equal values")
	}
}

// TestAmountsExponentAtTheBorder: digits times their exponent are read exactly up to the
// largest int64, and refused from the next number on; nothing wraps around.
func TestAmountsExponentAtTheBorder(t *testing.T) {
	t.Parallel()
	power := int64(1)
	for e := range 19 {
		largest := math.MaxInt64 / power
		for _, sign := range []string{"", "-"} {
			fits := fmt.Sprintf("%s%de%d", sign, largest, e)
			a, err := payments.ParseAmount(fits)
			require.NoError(t, err, fits)
			want := largest * power
			if sign != "" {
				want = -want
			}
			require.Equal(t, payments.NewAmount(want), a, fits)
			for _, more := range []string{
				fmt.Sprintf("%s%de%d", sign, uint64(largest)+1, e),
				fmt.Sprintf("%s%d%se0", sign, uint64(largest)+1, strings.Repeat("0", e)),
				fmt.Sprintf("%s%d.0e%d", sign, uint64(largest)+1, e),
			} {
				_, err = payments.ParseAmount(more)
				require.ErrorIs(t, err, payments.ErrAmountRange, more)
			}
		}
		if e < 18 {
			power *= 10
		}
	}
	for _, text := range []string{"37e18", "-37e18", "10e18", "19e18", "1844674407370955162e1", "99e17", "3.7e19"} {
		_, err := payments.ParseAmount(text)
		require.ErrorIs(t, err, payments.ErrAmountRange, text)
		var a payments.Amount
		require.ErrorIs(t, a.UnmarshalJSON([]byte(text)), payments.ErrAmountRange, text)
		require.True(t, a.IsZero(), text)
	}
}

func TestParseAmountRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": payments.ErrAmountSyntax, "-": payments.ErrAmountSyntax, "+1": payments.ErrAmountSyntax, "1.": payments.ErrAmountSyntax,
		".5": payments.ErrAmountSyntax, "01": payments.ErrAmountSyntax, "1,000": payments.ErrAmountSyntax, " 1": payments.ErrAmountSyntax,
		"1e": payments.ErrAmountSyntax, "1e+": payments.ErrAmountSyntax, "1e1.5": payments.ErrAmountSyntax, "0x10": payments.ErrAmountSyntax,
		"NaN": payments.ErrAmountSyntax, "Inf": payments.ErrAmountSyntax, "-Infinity": payments.ErrAmountSyntax, "1_000": payments.ErrAmountSyntax,
		"９": payments.ErrAmountSyntax, "10000원": payments.ErrAmountSyntax, "--1": payments.ErrAmountSyntax,
		"1e1000000000": payments.ErrAmountRange, "1e-1000000000": payments.ErrAmountRange, "0e1000000000": payments.ErrAmountRange,
		"1e19": payments.ErrAmountRange, "9223372036854775808": payments.ErrAmountRange, "-9223372036854775808": payments.ErrAmountRange,
		"0.0000000000000000001": payments.ErrAmountRange, "1." + strings.Repeat("0", 18) + "1": payments.ErrAmountRange,
		strings.Repeat("9", 5000): payments.ErrAmountRange, "1e18446744073709551617": payments.ErrAmountRange,
	} {
		a, err := payments.ParseAmount(text)
		require.ErrorIs(t, err, want, text)
		require.Zero(t, a, text)
	}
}

func TestAmountCostsNothing(t *testing.T) {
	for _, text := range []string{"10000", "10000.5", "1e1000000000", strings.Repeat("9", 100), "NaN"} {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = payments.ParseAmount(text) }), text)
	}
}

func TestAmountJSON(t *testing.T) {
	t.Parallel()
	var a payments.Amount
	require.NoError(t, json.Unmarshal([]byte(`"10000.50"`), &a))
	require.Equal(t, "10000.5", a.String())
	for _, raw := range []string{`null`, `true`, `""`, `"1\u0030"`, `{}`, `[1]`, `"NaN"`} {
		before := a
		require.ErrorIs(t, json.Unmarshal([]byte(raw), &a), payments.ErrAmountSyntax, raw)
		require.Equal(t, before, a)
	}
}

func TestAmountCmp(t *testing.T) {
	t.Parallel()
	ordered := []string{"-9223372036854775807", "-10", "-1.5", "-1.05", "-1", "-0.5", "0", "0.000000000000000001", "0.05", "0.5", "1", "1.05", "1.5", "10", "9223372036854775807"}
	for i, x := range ordered {
		for j, y := range ordered {
			a, err := payments.ParseAmount(x)
			require.NoError(t, err)
			b, err := payments.ParseAmount(y)
			require.NoError(t, err)
			require.Equal(t, big.NewInt(int64(i)).Cmp(big.NewInt(int64(j))), a.Cmp(b), "%s %s", x, y)
		}
	}
	n, whole := payments.NewAmount(math.MaxInt64).Int64()
	require.True(t, whole)
	require.Equal(t, int64(math.MaxInt64), n)
	half, _ := payments.ParseAmount("0.5")
	n, whole = half.Int64()
	require.False(t, whole)
	require.Zero(t, n)
	require.True(t, payments.Amount{}.IsZero())
	require.Equal(t, 1, half.Sign())
}

// FuzzAmount: every parsed amount is exact by math/big and survives a round trip.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"0", "10000", "-1.50", "1e4", "1e1000000000", "0.000000000000000001", "9223372036854775807", "NaN", "1e-19", "00", "1.5E+2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := payments.ParseAmount(text)
		if err != nil {
			if !errorsIsEither(err) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("accepted %q, which is no JSON number", text)
		}
		want, ok := new(big.Rat).SetString(text)
		got, ok2 := new(big.Rat).SetString(a.String())
		if !ok || !ok2 || want.Cmp(got) != 0 {
			t.Fatalf("%q read as %s", text, a)
		}
		again, err := payments.ParseAmount(a.String())
		if err != nil || again != a || again.Cmp(a) != 0 {
			t.Fatalf("%q: %s does not survive: %v", text, a, err)
		}
	})
}

func errorsIsEither(err error) bool {
	return err == payments.ErrAmountSyntax || err == payments.ErrAmountRange //nolint:errorlint // promised as is
}
