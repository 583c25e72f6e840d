package inbox

import "errors"

const lockTimeout = "55P03"

// isDeadlock reports whether the server undid a transaction because of another one: a deadlock
// or a serialization failure.
func isDeadlock(err error) bool { return hasState(err, "40P01") || hasState(err, "40001") }

func hasState(err error, want string) bool { return sqlState(err) == want }

// sqlState is the error's code in PostgreSQL; "" if it has none.
func sqlState(err error) string {
	var state interface{ SQLState() string } // of pgx and of lib/pq
	if !errors.As(err, &state) || len(state.SQLState()) != 5 {
		return ""
	}
	return state.SQLState()
}

// refusedData reports whether the database refused what a statement says, as opposed to
// being unable to work: a data exception, a violated constraint, a limit.
func refusedData(err error) bool {
	state := sqlState(err)
	if state == "" {
		return false
	}
	switch state[:2] {
	case "22", "23", "54":
		return true
	}
	return false
}
