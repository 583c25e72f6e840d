// Package grant turns payments into items in a game, each unit once. A game server or its
// panel embeds it next to package inbox.
//
// # First use
//
//	ledger, err := sqlite.Open("payments.db", nil)
//	book, err := grant.Open(ctx, grant.Config{SQLite: ledger, Catalogue: catalogue})
//	box, err := inbox.Open(ctx, inbox.Config{
//		SQLite: ledger, Client: client, Handler: book.Handle, Catalogue: catalogue.Inbox(),
//		NotBefore: book.Born().Add(-time.Minute), // a new book does not know what was given before
//	})
//	go func() { boxRan <- box.Run(ctx) }()
//	err = book.Run(ctx, game) // hands units to the game until ctx ends
//
// and the game calls book.Joined when a player joins, and book.Claim for /claim.
//
// # What is promised
//
// The inbox's handler writes grants and nothing else, in the inbox's transaction: one for
// each unit of each line of a payment, with a Key that never changes. A worker of its own
// hands them to the Game.
//
//	pending → granting → granted
//	                  ↘ claimable   (offline, or no free slot: at the next join, or by /claim)
//	                  ↘ needs review (nobody knows whether the game gave it, or it refuses)
//
// "granting" is durable before the game is asked. If the process is killed there, nobody
// knows whether the item arrived. A Game that keeps the keys and refuses a second time
// (Game.Refuses) is asked again: each unit arrives exactly once. For any other Game the
// unit needs review: it arrives at most once, and never twice without a person. One unit at
// a time is in the game's hands, so a kill costs one look at most.
//
// # Players
//
// A player is an account id, never a display name; what does not look like one needs
// review. Players with something due take turns. Before each unit the game is asked whether the player is online and how many slots
// are free, and the batch stops when the player has left.
//
// # One process
//
// The ledger is a SQLite file, which one process has open. One token has one poller; Watch
// says loudly when payments were completed by another one.
package grant
