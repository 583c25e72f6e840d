package transport

// Class defines what a lost response means for an operation, and so how it may be retried.
type Class int

const (
	// ReadOnly changes nothing at the service: retried freely, never ambiguous.
	ReadOnly Class = iota
	// Idempotent may be retried; if the last response is lost too, the outcome is ambiguous.
	Idempotent
	// Once is retried only if the service has certainly not acted on it.
	Once
	// Destructive is Once and must not be aborted either: once it is on the wire, the caller's
	// cancellation does not stop it, and net/http must not re-send it.
	Destructive
)

// resendable reports whether the operation is retried after a response may have been lost.
func (c Class) resendable() bool { return c == ReadOnly || c == Idempotent }

// TokenPlace defines where the service expects the API token (interface §5).
type TokenPlace int

const (
	// NoToken sends none.
	NoToken TokenPlace = iota
	// TokenInQuery adds the query parameter token.
	TokenInQuery
	// TokenInBody adds the field token to the JSON object of the body.
	TokenInBody
)

// Op describes one operation of the interface. Its fields never change after startup.
type Op struct {
	Name   string // as the caller knows it: "Create"
	Method string
	Path   string // below the base URL, with a leading slash
	Class  Class
	Token  TokenPlace
	// IfLost completes "ambiguous: …": what may have happened and what to do.
	IfLost string
}
