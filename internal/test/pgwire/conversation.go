package pgwire

import (
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// conversation knows which statement each message of a connection is about.
type conversation struct {
	proxy *Proxy

	mu       sync.Mutex
	prepared map[string]string // texts by the names of prepared statements
	portals  map[string]string // texts by the names of portals
	asked    *cycle            // what the client is sending
	waiting  []*cycle          // what the server has not answered
	before   string            // the last statement of the open transaction
	flowing  bool              // the client does not wait for the server to be ready
}

// cycle is what a client sends until it waits for the server to be ready.
type cycle struct {
	runs  []*run
	at    int    // which of the runs the server answers
	about string // what is prepared, if nothing runs
}

// run is one execution.
type run struct {
	statement, before string
	nth, rows         int
	tag               string
}

func newConversation(p *Proxy) *conversation {
	return &conversation{proxy: p, prepared: map[string]string{}, portals: map[string]string{}, asked: &cycle{}}
}

// kind is the protocol's name of a message, which is that of its type.
func kind(m pgproto3.Message) string { return reflect.TypeOf(m).Elem().Name() }

// sent is what a message of the client is about. The lock is that of the conversation,
// since the server may answer at once.
func (t *conversation) sent(conn int, msg pgproto3.FrontendMessage) Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := Message{Conn: conn, From: Client, Kind: kind(msg)}
	switch msg := msg.(type) {
	case *pgproto3.Parse:
		t.prepared[msg.Name], t.asked.about = msg.Query, msg.Query
		m.Statement = msg.Query
	case *pgproto3.Bind:
		t.portals[msg.DestinationPortal] = t.prepared[msg.PreparedStatement]
		m.Statement = t.prepared[msg.PreparedStatement]
	case *pgproto3.Describe:
		m.Statement = t.portals[msg.Name]
		if msg.ObjectType == 'S' {
			m.Statement = t.prepared[msg.Name]
		}
	case *pgproto3.Execute:
		t.execute(&m, t.portals[msg.Portal])
	case *pgproto3.Query:
		t.execute(&m, msg.String)
		t.wait()
	case *pgproto3.Sync:
		m = t.lastAsked(m)
		t.wait()
	case *pgproto3.FunctionCall:
		t.wait()
	case *pgproto3.Flush:
		t.flowing = true
	}
	return m
}

func (t *conversation) execute(m *Message, statement string) {
	m.Statement, m.Before = statement, t.before
	m.Nth = t.proxy.execution(nameOf(statement, t.before))
	t.asked.runs = append(t.asked.runs, &run{statement: statement, before: t.before, nth: m.Nth})
	t.before = statement // outside of a transaction ready forgets it
}

// wait ends what is asked.
func (t *conversation) wait() {
	t.waiting = append(t.waiting, t.asked)
	t.asked = &cycle{}
}

// lastAsked is about the last execution of what is asked.
func (t *conversation) lastAsked(m Message) Message {
	m.Statement = t.asked.about
	if n := len(t.asked.runs); n > 0 {
		last := t.asked.runs[n-1]
		m.Statement, m.Before, m.Nth = last.statement, last.before, last.nth
	}
	return m
}

// answer is a message of the server, before it is known what the whole answer is.
type answer struct {
	Message
	run   *run // nil if nothing runs
	bytes []byte
}

// received is what a message of the server is about, and whether what came until now may
// be forwarded.
func (t *conversation) received(conn int, msg pgproto3.BackendMessage) (a answer, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.Message = Message{Conn: conn, From: Server, Kind: kind(msg)}
	if len(t.waiting) == 0 && len(t.asked.runs) == 0 {
		return a, true // the server speaks by itself
	}
	of := t.asked
	if len(t.waiting) > 0 {
		of = t.waiting[0]
	}
	a.Statement = of.about
	if n := len(of.runs); n > 0 {
		a.run = of.runs[min(of.at, n-1)]
		a.Statement, a.Before, a.Nth = a.run.statement, a.run.before, a.run.nth
	}
	switch msg := msg.(type) {
	case *pgproto3.DataRow:
		if a.run != nil {
			a.run.rows++
			a.Row = a.run.rows
		}
	case *pgproto3.CommandComplete:
		if a.run != nil {
			a.run.tag = string(msg.CommandTag)
		}
		of.at++
	case *pgproto3.EmptyQueryResponse, *pgproto3.PortalSuspended:
		of.at++
	case *pgproto3.CopyInResponse, *pgproto3.CopyOutResponse, *pgproto3.CopyBothResponse:
		t.flowing = true
	case *pgproto3.ReadyForQuery:
		if msg.TxStatus == 'I' {
			t.before = ""
		}
		if len(t.waiting) > 0 {
			t.waiting = t.waiting[1:]
		}
		t.flowing = false
		return a, true
	}
	return a, t.flowing
}

// finished is the message with what is known of the whole answer.
func (a answer) finished() Message {
	if a.run != nil {
		a.Rows, a.Tag = a.run.rows, a.run.tag
	}
	return a.Message
}
