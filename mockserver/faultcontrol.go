package mockserver

import (
	"bytes"
	"encoding/json"
	"time"
)

// faultJSON is Fault on the control API.
type faultJSON struct {
	Operation   string       `json:"operation"`
	Kind        string       `json:"kind"`
	Nth         int          `json:"nth,omitempty"`
	Every       int          `json:"every,omitempty"`
	First       int          `json:"first,omitempty"`
	Probability float64      `json:"probability,omitempty"`
	Seed        uint64       `json:"seed,omitempty"`
	Delay       durationJSON `json:"delay,omitempty"`
	Bytes       int          `json:"bytes,omitempty"`
	Status      int          `json:"status,omitempty"`
	RetryAfter  int          `json:"retry_after,omitempty"`
}

// chanceJSON is the part of Faults that comes by chance.
type chanceJSON struct {
	Rate       float64      `json:"rate"`
	Seed       uint64       `json:"seed"`
	Operations []string     `json:"operations,omitempty"`
	Kinds      []string     `json:"kinds,omitempty"`
	MaxDelay   durationJSON `json:"max_delay,omitempty"`
}

type faultEventJSON struct {
	Operation string `json:"operation"`
	Call      uint64 `json:"call"`
	Fault     string `json:"fault"`
}

// faultSetJSON is Faults in a file. It has the members of GET /_mock/faults, so that
// an answer can be kept and used again; its log says what was.
type faultSetJSON struct {
	Rules  []faultJSON     `json:"rules"`
	Chance chanceJSON      `json:"chance"`
	Log    json.RawMessage `json:"log"`
}

// durationJSON is a length of time as text: "200ms".
type durationJSON time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d durationJSON) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *durationJSON) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = durationJSON(parsed)
	return err
}

// controlFaults answers what is set and what it did:
// {"rules":[…],"chance":{…},"log":[…]}.
func (s *Server) controlFaults(*call) ([]byte, *Error) { return s.faultsJSON(), nil }

// controlAddFault adds a rule or, given "rate", sets what comes by chance.
func (s *Server) controlAddFault(c *call) ([]byte, *Error) {
	if problem := s.postFault(c.body); problem != nil {
		return nil, problem
	}
	return s.faultsJSON(), nil
}

// controlClearFaults ends all faults and empties the log.
func (s *Server) controlClearFaults(*call) ([]byte, *Error) {
	s.ClearFaults()
	return s.faultsJSON(), nil
}

func (s *Server) postFault(body []byte) *Error {
	o, problem := parseObject(body)
	if problem != nil {
		return problem
	}
	if _, byChance := o.Get("rate"); byChance {
		var in chanceJSON
		if problem := decodeStrict(body, &in); problem != nil {
			return problem
		}
		return s.faults.setChance(in.faults())
	}
	var in faultJSON
	if problem := decodeStrict(body, &in); problem != nil {
		return problem
	}
	return s.faults.add(in.fault())
}

func (in *faultJSON) fault() Fault {
	return Fault{
		Operation: in.Operation, Kind: in.Kind, Nth: in.Nth, Every: in.Every, First: in.First,
		Probability: in.Probability, Seed: in.Seed, Delay: time.Duration(in.Delay),
		Bytes: in.Bytes, Status: in.Status, RetryAfter: in.RetryAfter,
	}
}

func (in *chanceJSON) faults() Faults {
	return Faults{
		Rate: in.Rate, Seed: in.Seed, Operations: in.Operations, Kinds: in.Kinds, MaxDelay: time.Duration(in.MaxDelay),
	}
}

// UnmarshalJSON reads what GET /_mock/faults answers, such as
// {"rules":[{"operation":"next","kind":"cut","nth":2}],"chance":{"rate":0.1,"seed":7}};
// both may be left out, and a log is passed over. A field that does not exist is an
// error, as is a fault that [Server.SetFaults] would refuse.
func (f *Faults) UnmarshalJSON(text []byte) error {
	var in faultSetJSON
	if problem := decodeStrict(text, &in); problem != nil {
		return problem
	}
	set := in.Chance.faults()
	for i := range in.Rules {
		set.Rules = append(set.Rules, in.Rules[i].fault())
	}
	if problem := set.check(); problem != nil {
		return problem
	}
	*f = set
	return nil
}

// decodeStrict refuses a field that does not exist: a rule whose "nth" is misspelt
// would strike every call.
func decodeStrict(body []byte, into any) *Error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &Error{Code: CodeInvalidParameter, Message: "the fault cannot be read: " + err.Error()}
	}
	return nil
}

func (s *Server) faultsJSON() []byte {
	set := s.Faults()
	rules, log := []faultJSON{}, []faultEventJSON{}
	for _, f := range set.Rules {
		rules = append(rules, faultJSON{
			Operation: f.Operation, Kind: f.Kind, Nth: f.Nth, Every: f.Every, First: f.First,
			Probability: f.Probability, Seed: f.Seed, Delay: durationJSON(f.Delay),
			Bytes: f.Bytes, Status: f.Status, RetryAfter: f.RetryAfter,
		})
	}
	for _, e := range s.FaultLog() {
		log = append(log, faultEventJSON(e))
	}
	out := map[string]any{"rules": rules, "log": log}
	if set.Rate > 0 {
		out["chance"] = chanceJSON{set.Rate, set.Seed, set.Operations, set.Kinds, durationJSON(set.MaxDelay)}
	}
	return marshal(out)
}
