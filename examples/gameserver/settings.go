package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// settings are the file gameserver.json. The secrets come from the environment:
// DEPOSITPAY_TOKEN is the API token; GAME_SECRET authenticates this program and the game to
// each other.
type settings struct {
	URL    string `json:"url"`    // of the service
	Ledger string `json:"ledger"` // the SQLite file
	// NotBefore is when this ledger was created, or an older copy of it was restored: payments
	// that were verified before and are not in it go to review.
	NotBefore time.Time `json:"not_before"`
	// Listen is where webhooks come in, at /hook, and the game's calls POST /joined/{account}.
	Listen string `json:"listen"`
	// Game is the address of the game, see grant.HTTP. RefusesTwice states that it stores the
	// key of a unit with the item.
	Game         string `json:"game"`
	RefusesTwice bool   `json:"refuses_twice"`
	// ProductField is the deployment's name of metadata.game_product.
	ProductField string          `json:"product_field,omitempty"`
	Catalogue    []grant.Product `json:"catalogue"`

	token, secret string
	pollEvery     time.Duration // for the demo and tests; 0 is the default
}

func readSettings(file string) (settings, error) {
	s := settings{token: os.Getenv("DEPOSITPAY_TOKEN"), secret: os.Getenv("GAME_SECRET")}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return s, fmt.Errorf("%w (try --demo, or write one as README.md says)", err)
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, s.check()
}

func (s *settings) check() error {
	switch {
	case s.token == "":
		return errors.New("DEPOSITPAY_TOKEN is not set: it is the API token from the dashboard")
	case s.secret == "":
		return errors.New("GAME_SECRET is not set: the game must know who calls")
	case s.Ledger == "" || s.Listen == "" || s.Game == "":
		return errors.New("ledger, listen and game are required")
	case s.NotBefore.IsZero() || time.Until(s.NotBefore) > time.Minute:
		return errors.New("not_before: set it to when this ledger begins, in UTC as in 2026-11-22T18:00:00Z, " +
			"or with an offset as in 2026-11-23T03:00:00+09:00")
	}
	return nil
}
