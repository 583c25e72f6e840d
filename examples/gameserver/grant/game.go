package grant

import (
	"context"
	"errors"
)

// Game is the game server as the worker sees it. A game in the same process implements it;
// HTTP reaches others. The worker calls it from one goroutine and recovers its panics.
type Game interface {
	// Give gives one unit and returns what became of it. An error that wraps ErrNotGiven
	// means that nothing was given; after any other error the outcome is unknown.
	Give(ctx context.Context, d Delivery) (Answer, error)

	// Refuses reports whether the game stores Delivery.Key with the item, in one transaction
	// of its own, and answers AlreadyGranted for a key that it has. Only then is a unit whose
	// outcome is unknown given again.
	Refuses() bool
}

// ErrNotGiven is wrapped by errors of Game.Give after which nothing was given.
var ErrNotGiven = errors.New("nothing was given")

// Delivery is one unit to give.
type Delivery struct {
	Key     string `json:"key"`     // identifies the unit forever: payment id and number; store it with the item
	Account string `json:"account"` // the player's account id
	Item    string `json:"item"`    // the game's id of the item, from the catalogue
}

// Answer is what became of a unit.
type Answer string

// The answers.
const (
	Given          Answer = "granted" // the player has it
	AlreadyGranted Answer = "already" // the game has the key
	Offline        Answer = "offline" // nothing was given
	Full           Answer = "full"    // no room in the inventory: nothing was given
	Refused        Answer = "refused" // no such account or item: nothing was given, and retrying will not help
)
