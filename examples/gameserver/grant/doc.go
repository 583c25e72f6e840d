// Package grant gives items that players paid for to a game, each unit exactly once. A game
// server or its panel embeds it next to package inbox.
//
//	ledger, err := sqlite.Open("payments.db", nil)
//	book, err := grant.Open(ctx, ledger, catalogue)
//	box, err := inbox.Open(ctx, inbox.Config{
//		SQLite: ledger, Client: client, Handler: book.Handle, Catalogue: catalogue.Inbox(),
//		NotBefore: began, // a new ledger does not know what was given before
//	})
//	go func() { boxRan <- box.Run(ctx) }()
//	err = book.Run(ctx, game) // gives units to the game until ctx ends
//
// The game calls book.Joined when a player joins, or types /claim.
//
// # How a unit reaches its player
//
// Book.Handle, the inbox's handler, writes one row for each unit that was paid for, in the
// inbox's transaction, and does nothing else. The unit's key is its payment and number, and
// never changes. A worker, Book.Run, gives the units to the Game:
//
//	pending → granting → granted
//	            ├──────→ pending      (offline or full: until the next join, or a minute)
//	            └──────→ needs review (outcome unknown, or the game refuses it)
//
// "granting" is committed before the game is asked. If the process is killed there, the
// outcome is unknown. A Game that stores the keys (Game.Refuses) is asked again: each unit
// arrives exactly once. With any other Game the unit needs review: it arrives at most once,
// and is given again only by a person. The worker asks for one unit at a time, so a kill
// leaves at most one unit for review. Players take turns, one unit each.
package grant
