package banks

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/internal/wire"
)

// UploadResult is what became of an upload. The interface shows no answer (§4.6), so it is
// an open set: a value not named here passes through unchanged.
type UploadResult string

// Results of this project's mock; see docs/interpretation.md.
const (
	UploadMatched   UploadResult = "MATCHED"   // the deposit paid the payment PayToken
	UploadUnmatched UploadResult = "UNMATCHED" // a person must assign the deposit; Reason says why
	UploadReceived  UploadResult = "RECEIVED"  // not a deposit: an advertisement, a withdrawal
	UploadIgnored   UploadResult = "IGNORED"   // the app is not in the list of banks
	UploadDismissed UploadResult = "DISMISSED" // a person has dismissed the deposit
)

// Uploaded is the response to an upload. Fields that the response does not have are empty.
type Uploaded struct {
	Result    UploadResult
	PayToken  uuid.UUID // the payment that it paid
	DepositID string    // the service's own name for the deposit
	Reason    string
	Repeated  bool // the service had this notification already

	// Extra holds every other field and every unreadable field, as its JSON; nil if there is
	// none.
	Extra map[string]json.RawMessage
}

func isUploaded(name string) bool {
	return name == "result" || name == "payToken" || name == "deposit_id"
}

func (c *Client) uploaded(object []byte) Uploaded {
	var u Uploaded
	redact := c.caller.Transport.Redactor().Bytes
	for name, raw := range wire.Members(object) {
		raw = redact(raw)
		if !wire.IsNull(raw) && !u.field(name, raw) {
			u.Extra = wire.Keep(u.Extra, name, raw, redact)
		}
	}
	return u
}

// field reports whether it could read the field. Nothing is granted by an Uploaded, so an
// unreadable field goes to Extra instead of failing the call.
func (u *Uploaded) field(name string, raw []byte) (ok bool) {
	var err error
	switch name {
	case "result":
		err = json.Unmarshal(raw, &u.Result)
	case "payToken":
		err = json.Unmarshal(raw, &u.PayToken)
	case "deposit_id":
		u.DepositID, err = wire.String(raw)
	case "reason":
		u.Reason, err = wire.String(raw)
	case "repeated":
		err = json.Unmarshal(raw, &u.Repeated)
	default:
		return false
	}
	return err == nil
}
