package transport

// Class says what a lost answer means for an operation, and so what may be done about it.
type Class int

const (
	// ReadOnly changes nothing at the service: sent again freely, never ambiguous.
	ReadOnly Class = iota
	// Idempotent may be sent again; if the last answer is lost too, the outcome is ambiguous.
	Idempotent
	// Once is sent again only while the service has surely not acted on it.
	Once
	// Destructive is Once, and not to be aborted either: once it is on the wire the
	// caller's cancellation does not stop it, and net/http is kept from re-sending it.
	Destructive
)

// resendable reports whether a request whose answer may be lost is sent again.
func (c Class) resendable() bool { return c == ReadOnly || c == Idempotent }

// TokenPlace says where the service expects the API token (interface §5).
type TokenPlace int

const (
	// NoToken sends none.
	NoToken TokenPlace = iota
	// TokenInQuery adds the query parameter token.
	TokenInQuery
	// TokenInBody adds the field token to the JSON object of the body.
	TokenInBody
)

// Op describes one operation of the interface. Its fields never change after start-up.
type Op struct {
	Name   string // as the caller knows it: "Create"
	Method string
	Path   string // below the base URL, with a leading slash
	Class  Class
	Token  TokenPlace
	// IfLost completes "the answer is lost: …": what may have happened, what to do.
	IfLost string
}
