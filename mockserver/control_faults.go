package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// faultJSON is Fault on the control API.
type faultJSON struct {
	Operation   string  `json:"operation"`
	Kind        string  `json:"kind"`
	Nth         int     `json:"nth,omitempty"`
	Every       int     `json:"every,omitempty"`
	First       int     `json:"first,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	Delay       string  `json:"delay,omitempty"`
	Bytes       int     `json:"bytes,omitempty"`
	Status      int     `json:"status,omitempty"`
	RetryAfter  int     `json:"retry_after,omitempty"`
}

// chanceJSON is the part of Faults that comes by chance.
type chanceJSON struct {
	Rate       float64  `json:"rate"`
	Seed       uint64   `json:"seed"`
	Operations []string `json:"operations,omitempty"`
	Kinds      []string `json:"kinds,omitempty"`
	MaxDelay   string   `json:"max_delay,omitempty"`
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

// faults is what is set and what it did: {"rules":[…],"chance":{…},"log":[…]}.
func (c control) faults() any {
	set := c.s.Faults()
	rules, log := []faultJSON{}, []faultEventJSON{}
	for _, f := range set.Rules {
		rules = append(rules, faultJSON{
			Operation: f.Operation, Kind: f.Kind, Nth: f.Nth, Every: f.Every, First: f.First,
			Probability: f.Probability, Seed: f.Seed, Delay: length(f.Delay),
			Bytes: f.Bytes, Status: f.Status, RetryAfter: f.RetryAfter,
		})
	}
	for _, e := range c.s.FaultLog() {
		log = append(log, faultEventJSON(e))
	}
	out := map[string]any{"rules": rules, "log": log}
	if set.Rate > 0 {
		out["chance"] = chanceJSON{set.Rate, set.Seed, set.Operations, set.Kinds, length(set.MaxDelay)}
	}
	return out
}

func (c control) listFaults(*call) (any, *Error) { return c.faults(), nil }

// addFault adds a rule or, given "rate", sets what comes by chance.
func (c control) addFault(r *call) (any, *Error) {
	f := r.fields()
	if f.problem != nil {
		return nil, f.problem
	}
	var problem *Error
	if _, byChance := f.Get("rate"); byChance {
		problem = c.setChance(r.body)
	} else {
		problem = c.addRule(r.body)
	}
	c.s.changes.note()
	return c.faults(), problem
}

func (c control) setChance(body []byte) *Error {
	var in chanceJSON
	problem := decodeStrict(body, &in)
	if problem != nil {
		return problem
	}
	set, problem := in.faults()
	if problem != nil {
		return problem
	}
	return c.s.faults.setChance(set)
}

func (c control) addRule(body []byte) *Error {
	var in faultJSON
	problem := decodeStrict(body, &in)
	if problem != nil {
		return problem
	}
	rule, problem := in.fault()
	if problem != nil {
		return problem
	}
	return c.s.faults.add(rule)
}

// clearFaults ends all faults and empties the log.
func (c control) clearFaults(*call) (any, *Error) {
	c.s.ClearFaults()
	c.s.changes.note()
	return c.faults(), nil
}

// removeFault removes the rule at a place of the list, from 0. With ?rule= it must be the
// rule that reads like this, because the list may have changed meanwhile.
func (c control) removeFault(r *call) (any, *Error) {
	text, problem := r.param("rule")
	if problem != nil {
		return nil, problem
	}
	place, err := strconv.Atoi(r.PathValue("place"))
	if err != nil || !c.dropFault(place, text) {
		return nil, &Error{Code: CodeNotFound, Message: "there is no such fault rule any more; look at the list"}
	}
	c.s.changes.note()
	return c.faults(), nil
}

// line is all of a rule in one line, as in "next nth=2 cut bytes=17".
func (f *Fault) line() string {
	return strings.Join(strings.Fields(f.Operation+" "+f.calls()+" "+f.String()), " ")
}

// calls says which calls a rule means, as its fields are called on the control API.
func (f *Fault) calls() string {
	switch {
	case f.Nth > 0:
		return fmt.Sprintf("nth=%d", f.Nth)
	case f.Every > 0:
		return fmt.Sprintf("every=%d", f.Every)
	case f.First > 0:
		return fmt.Sprintf("first=%d", f.First)
	case f.Probability > 0:
		return fmt.Sprintf("probability=%g seed=%d", f.Probability, f.Seed)
	}
	return ""
}

// chance says what comes by chance, "" when nothing does.
func (f *Faults) chance() string {
	if f.Rate == 0 {
		return ""
	}
	text := fmt.Sprintf("rate=%g seed=%d", f.Rate, f.Seed)
	if len(f.Operations) > 0 {
		text += " operations=" + strings.Join(f.Operations, ",")
	}
	if len(f.Kinds) > 0 {
		text += " kinds=" + strings.Join(f.Kinds, ",")
	}
	if f.MaxDelay > 0 {
		text += " max_delay=" + f.MaxDelay.String()
	}
	return text
}

func (in *faultJSON) fault() (Fault, *Error) {
	delay, problem := parseLength("delay", in.Delay)
	return Fault{
		Operation: in.Operation, Kind: in.Kind, Nth: in.Nth, Every: in.Every, First: in.First,
		Probability: in.Probability, Seed: in.Seed, Delay: delay,
		Bytes: in.Bytes, Status: in.Status, RetryAfter: in.RetryAfter,
	}, problem
}

func (in *chanceJSON) faults() (Faults, *Error) {
	delay, problem := parseLength("max_delay", in.MaxDelay)
	return Faults{
		Rate: in.Rate, Seed: in.Seed, Operations: in.Operations, Kinds: in.Kinds, MaxDelay: delay,
	}, problem
}

// length is a length of time as text, empty for none.
func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func parseLength(name, text string) (time.Duration, *Error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, invalidParameter(name, `must be a length of time, as in "200ms" or "5s": `+err.Error())
	}
	return d, nil
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
	set, problem := in.Chance.faults()
	for i := range in.Rules {
		rule, wrong := in.Rules[i].fault()
		if wrong != nil && problem == nil {
			problem = &Error{Code: wrong.Code, Message: fmt.Sprintf("rules[%d]: %s", i, wrong.Message)}
		}
		set.Rules = append(set.Rules, rule)
	}
	if problem == nil {
		problem = set.check()
	}
	if problem != nil {
		return problem
	}
	*f = set
	return nil
}

// decodeStrict refuses a field that does not exist: a rule whose "nth" is misspelled would
// strike every call.
func decodeStrict(body []byte, into any) *Error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalidParameter(wrong.Field, "must be "+wanted(wrong.Type.Kind())+"; the fault cannot be read")
	}
	if err != nil {
		return &Error{Code: CodeInvalidParameter, Message: "the fault cannot be read: " + err.Error()}
	}
	return nil
}

// wanted says what a field of a fault has to be.
func wanted(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a text"
	case reflect.Float64:
		return "a number, as in 0.25"
	case reflect.Int, reflect.Uint64:
		return "a whole number, as in 10000"
	default:
		return "of another kind; see GET /_mock/openapi.yaml"
	}
}
