package secret_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/internal/secret"
)

func TestRedactor(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"test_token", `a/"\+<&>%41`, "é-토큰-😀", "%25%25"} {
		r := secret.NewRedactor(token)
		quoted, err := json.Marshal(token)
		require.NoError(t, err)
		twice, err := json.Marshal(string(quoted))
		require.NoError(t, err)
		escaped := ""
		for _, b := range []byte(token) {
			escaped += fmt.Sprintf("%%%02x", b)
		}
		for _, form := range []string{
			token, url.QueryEscape(token), url.PathEscape(token), url.QueryEscape(url.QueryEscape(token)),
			string(quoted[1 : len(quoted)-1]), string(twice[3 : len(twice)-3]),
			fmt.Sprintf("%q", token), fmt.Sprintf("%q", fmt.Sprintf("%+q", token)), escaped,
		} {
			got := r.String("<" + form + ">")
			require.Contains(t, got, secret.Mask, "%s as %s", token, form)
			require.NotContains(t, got, token)
			require.Equal(t, got, string(r.Bytes([]byte("<"+form+">"))))
		}
		require.Equal(t, "nothing here", r.String("nothing here"))
	}
}

// TestRedactorKeepsReplacedTokens: a token that was replaced is redacted like the last one,
// 64 tokens back, whichever is the beginning of another one.
func TestRedactorKeepsReplacedTokens(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor("test_0")
	for n := range 100 {
		r.Add(fmt.Sprintf("test_%d", n))
		r.Add("test_9")
	}
	for n := 37; n < 100; n++ {
		require.Equal(t, "<"+secret.Mask+">", r.String(fmt.Sprintf("<test_%d>", n)))
		require.Equal(t, "<"+secret.Mask+">", string(r.Bytes(fmt.Appendf(nil, "<test%%5f%d>", n))))
	}
	require.Equal(t, secret.Mask, r.String("test_9"), "added last, again and again")
	require.Equal(t, "test_36 ", r.String("test_36 "), "bounded")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", r, r, r), "test_")
	var none secret.Redactor
	none.Add("")
	require.Equal(t, "x", none.String("x"))
	none.Add("x")
	require.Equal(t, secret.Mask, none.String("x"))
}

func TestRedactorWithoutToken(t *testing.T) {
	t.Parallel()
	var none *secret.Redactor
	require.Equal(t, "x", none.String("x"))
	require.Equal(t, "x", secret.NewRedactor("").String("x"))
	require.Nil(t, none.Cause(nil))
}

func TestCause(t *testing.T) {
	t.Parallel()
	r := secret.NewRedactor("test_token")
	c := r.Cause(fmt.Errorf("read test_token: %w", errors.Join(io.ErrUnexpectedEOF, context.DeadlineExceeded)))
	require.ErrorIs(t, c, io.ErrUnexpectedEOF)
	require.ErrorIs(t, c, context.DeadlineExceeded)
	require.NotErrorIs(t, c, io.EOF)
	require.True(t, c.Timeout())
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), "test_token")
	outer := r.Cause(fmt.Errorf("again test_token: %w", c))
	require.ErrorIs(t, outer, io.ErrUnexpectedEOF)
	require.NotContains(t, outer.Error(), "test_token")
	require.Same(t, c, r.Cause(c))
}
