package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/wire"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	var got []string
	for name, raw := range wire.Members([]byte("{ \"a\" : 1 ,\"b\\n\":\"x\\\"}\",\n\"c\":[1,{\"d\":\"]\"}], \"e\":{\"f\":{}} ,\"g\":null,\"\":true}")) {
		got = append(got, name+"="+string(raw))
	}
	require.Equal(t, []string{"a=1", "b\n=\"x\\\"}\"", "c=[1,{\"d\":\"]\"}]", "e={\"f\":{}}", "g=null", "=true"}, got)
	for range wire.Members([]byte("{ }")) {
		t.Fatal("an empty object has no members")
	}
	for name := range wire.Members([]byte(`{"a":1,"b":2}`)) {
		require.Equal(t, "a", name)
		break
	}
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "한글", `"\`, "\x00\n\t", "<script>&", "\xff", "a\u2028b", "😀"} {
		b := wire.AppendString(nil, s)
		var back, want string
		require.NoError(t, json.Unmarshal(b, &back))
		encoded, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(encoded, &want))
		require.Equal(t, want, back)
	}
}

// FuzzMembers compares with encoding/json: the same members with the same values.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":"\"}","b":[{"c":"]"}]}`, ` {"é":null , "x":-1.5e+3}`, `{"\u0061":{}}`, `{"a":1,"a":2}`, `{"a":"\\"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		body = wire.Trim(body)
		if !json.Valid(body) || !wire.IsObject(body) {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil {
			return // deeper than encoding/json goes
		}
		got := map[string]json.RawMessage{}
		for name, raw := range wire.Members(body) {
			if !json.Valid(raw) {
				t.Fatalf("%q: member %q is %q", body, name, raw)
			}
			got[name] = raw
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, not %d", body, len(got), len(want))
		}
		for name, raw := range want {
			if string(got[name]) != string(raw) {
				t.Fatalf("%q: member %q is %q, not %q", body, name, got[name], raw)
			}
		}
	})
}
