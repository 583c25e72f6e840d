package grant

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// Game is the game server as the worker sees it. A game in the same process implements it;
// HTTP and RCON reach others. The worker calls it from one goroutine, never from that of a
// game tick, and contains its panics.
type Game interface {
	// Player tells how a player stands. An error means that the game cannot be asked now:
	// the player gets nothing, and the worker tries again with backoff. If others can be
	// asked meanwhile, the player's units need review after Config.MaxAttempts.
	Player(ctx context.Context, account string) (Player, error)

	// Give gives one unit, and says what became of it. An error that wraps ErrNotGiven
	// means that nothing was given for sure; after any other error nobody knows.
	Give(ctx context.Context, d Delivery) (Answer, error)

	// Refuses tells that the game keeps Delivery.Key with the item, in one transaction of
	// its own, and answers AlreadyGranted for a key that it has. Only then is a unit whose
	// fate is not known given again.
	Refuses() bool
}

// ErrNotGiven is wrapped by errors of Game.Give after which nothing was given for sure.
var ErrNotGiven = errors.New("nothing was given")

// Player is how a player stands now.
type Player struct {
	// Online tells that items can be given now.
	Online bool `json:"online"`
	// Free is how many slots of the inventory are free; negative: any number.
	Free int `json:"free"`
}

// Delivery is one unit to give.
type Delivery struct {
	// Key names the unit for ever: payment id, line and unit. Keep it with the item.
	Key     string    `json:"key"`
	Payment uuid.UUID `json:"payment"`
	// Account is the player's account id.
	Account string `json:"account"`
	// Item is the game's id of the item, from the catalogue.
	Item string `json:"item"`
	// Slots is how many slots it takes.
	Slots int `json:"slots"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
}

// Answer is what became of a unit.
type Answer string

// The answers.
const (
	Given          Answer = "granted" // the player has it
	AlreadyGranted Answer = "already" // the game has the key
	Offline        Answer = "offline" // the player has left: nothing was given
	Full           Answer = "full"    // no free slot: nothing was given
	Refused        Answer = "refused" // no such account or item: nothing was given, and asking again will not help
)
