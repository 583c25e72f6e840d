package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
)

// fromGame is the call of a game in another process: a player has joined, or claims. The
// answer is the number of units that are on their way.
func (s *server) fromGame(do func(context.Context, string) (int, error)) http.HandlerFunc {
	want := sha256.Sum256([]byte("Bearer " + s.cfg.secret))
	return func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if s.cfg.secret == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			http.Error(w, "the secret is wrong", http.StatusUnauthorized)
			return
		}
		n, err := do(r.Context(), r.PathValue("account"))
		if err != nil {
			slog.ErrorContext(r.Context(), "gameserver: a call of the game failed", slog.Any("error", err))
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "{\"units\":%d}\n", n)
	}
}
