package inbox

// failpoint is a step between two things that must be durable one after the other. There
// tests kill the process, fail it or hold it up; see failpoint_unix_test.go, which does each
// of that at each of these, and fails for one that it cannot reach.
type failpoint int

const (
	stepAccepted failpoint = iota // what arrived is durable, and its caller does not know
	stepClaimed                   // a payment is claimed, and its handler not begun
	stepFenced                    // the fence is in the handler's transaction, and the handler not begun
	stepHandled                   // the handler has succeeded, and nothing is committed
	stepDone                      // the handler's transaction is committed, and this process does not know
	stepFolded                    // SQLite: the ledger has what was accepted, and this process does not know
	failpoints                    // how many there are
)

// hook is called at the steps, by tests alone: no Config of another package can set it.
type hook func(failpoint) error

// after is err, or if there is none what the hook says.
func (h hook) after(here failpoint, err error) error {
	if h == nil || err != nil {
		return err
	}
	return h(here)
}
