// Package powerloss cuts the power of the SQLite ledger, by seed, and looks at what is
// left. It holds tests alone.
//
// A file system is put under the very driver that package inbox/sqlite links: it stands
// in front of SQLite's own one and remembers which writes were synced. At a cut all
// others are lost, kept or torn into sectors of 512 bytes, each by the seed, and so are names
// of files that were not synced with their directory. The ledger is opened by sqlite.Open
// and used through inbox.Inbox as a merchant does, so nothing of either is rebuilt here.
//
// What must hold after each cut: both files pass integrity_check; what was acknowledged
// is there; what was done stays done, with its one effect; and the position in the intake
// file is one that the file has reached.
//
// The seed decides where the power goes and what the disk loses. It does not decide how
// goroutines take turns, so a seed that fails once may need some repetitions:
//
//	DEPOSITPAY_POWERLOSS_SEED=17 go test -count=100 -run 'TestPowerLoss$' ./inbox/sqlite/internal/powerloss
package powerloss
