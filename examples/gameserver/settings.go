package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// settings are the file gameserver.json. The secrets come from the environment:
// DEPOSITPAY_TOKEN is the API token, GAME_SECRET what the game and this program tell each
// other (or the RCON password).
type settings struct {
	URL    string `json:"url"`    // of the service
	Ledger string `json:"ledger"` // the SQLite file
	// ProductField is the deployment's name of metadata.game_product.
	ProductField string          `json:"product_field,omitempty"`
	Catalogue    []grant.Product `json:"catalogue"`
	// NotBefore is when an older copy of the ledger was put back, in UTC as in
	// 2026-11-22T18:00:00Z, or with an offset: what was verified before and is not in it waits
	// for a person. So does, in any case, what was verified before the ledger was made.
	NotBefore time.Time `json:"not_before,omitzero"`

	// Listen, if set, is where the service's webhooks come, at /hook, and the game's calls
	// POST /joined/{account} and POST /claim/{account}.
	Listen string `json:"listen,omitempty"`
	// HookSecret, if set, keeps strangers off: webhooks come to /hook/ and this, and to no
	// other path. At least 22 letters or digits, made by chance.
	HookSecret string `json:"hook_secret,omitempty"`

	// One of these is the game. Town is where players of the text-mode game connect to.
	Town string        `json:"town,omitempty"`
	HTTP *httpSettings `json:"http,omitempty"`
	RCON *rconSettings `json:"rcon,omitempty"`

	token, secret string
	pace          pace
}

type httpSettings struct {
	URL          string `json:"url"`
	RefusesTwice bool   `json:"refuses_twice,omitempty"`
}

type rconSettings struct {
	Address      string `json:"address"`
	Look         string `json:"look"`
	Online       string `json:"online"`
	Give         string `json:"give"`
	Given        string `json:"given"`
	Already      string `json:"already,omitempty"`
	Offline      string `json:"offline,omitempty"`
	Full         string `json:"full,omitempty"`
	RefusesTwice bool   `json:"refuses_twice,omitempty"`
}

// pace is how often things happen; zero is the packages' own.
type pace struct {
	pollMin, pollMax time.Duration
	every, look      time.Duration
	backoff          time.Duration
	margin           time.Duration
}

func readSettings(file string) (settings, error) {
	var s settings
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return s, fmt.Errorf("%w (try --demo, or write one after README.md)", err)
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	s.token, s.secret = os.Getenv("DEPOSITPAY_TOKEN"), os.Getenv("GAME_SECRET")
	return s, s.check()
}

func (s *settings) check() error {
	games := 0
	for _, chosen := range []bool{s.Town != "", s.HTTP != nil, s.RCON != nil} {
		if chosen {
			games++
		}
	}
	switch {
	case s.token == "":
		return errors.New("DEPOSITPAY_TOKEN is not set: it is the API token from the dashboard")
	case s.Ledger == "":
		return errors.New("ledger: name the file")
	case games != 1:
		return errors.New("name one game: town, http or rcon")
	case s.Town == "" && s.secret == "":
		return errors.New("GAME_SECRET is not set: the game must know who asks")
	case time.Until(s.NotBefore) > time.Minute:
		return fmt.Errorf("not_before: %s is still to come: write it in UTC, as in 2026-11-22T18:00:00Z, or with an offset, as in 2026-11-23T03:00:00+09:00",
			s.NotBefore.Format(time.RFC3339))
	}
	return nil
}

// game makes the adapter, but for the town, which needs the book.
func (s *settings) game() (grant.Game, error) {
	if s.HTTP != nil {
		return &grant.HTTP{URL: s.HTTP.URL, Secret: s.secret, RefusesTwice: s.HTTP.RefusesTwice}, nil
	}
	r := s.RCON
	g := &grant.RCON{Address: r.Address, Password: s.secret, RefusesTwice: r.RefusesTwice}
	var err error
	if g.Look, err = grant.ParseCommand(r.Look); err != nil {
		return nil, err
	}
	if g.GiveUnit, err = grant.ParseCommand(r.Give); err != nil {
		return nil, err
	}
	if r.Online == "" || r.Given == "" {
		return nil, errors.New("rcon: online and given are required: what the console's answers look like")
	}
	for _, p := range []struct {
		to   **regexp.Regexp
		text string
	}{{&g.OnlineAnswer, r.Online}, {&g.GivenAnswer, r.Given}, {&g.AlreadyAnswer, r.Already}, {&g.OfflineAnswer, r.Offline}, {&g.FullAnswer, r.Full}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = regexp.Compile(p.text); err != nil {
			return nil, fmt.Errorf("rcon: %w", err)
		}
	}
	return g, nil
}
