//go:build unix

package torture

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/mockserver"
)

// TestExplain: a lost response of a poll is ambiguous if its own poll is reported and nobody
// could know the id; otherwise it breaks a promise.
func TestExplain(t *testing.T) {
	t.Parallel()
	start := time.Now()
	// The polls come every 100 ms, and take the payments a, b, c ...
	answers := func(faults ...string) (polls []poll) {
		for i, fault := range faults {
			p := poll{n: i, at: start.Add(time.Duration(i) * 100 * time.Millisecond), payment: string(rune('a' + i)), fault: fault, whole: fault == ""}
			if named, empty := strings.CutPrefix(fault, "empty "); empty {
				p.payment, p.fault = "", named
			}
			polls = append(polls, p)
		}
		return polls
	}
	at := func(ms int, outcome string) line {
		then := start.Add(time.Duration(ms) * time.Millisecond).UnixMicro()
		return line{opened: then, beat: then, outcome: outcome}
	}
	run := at(-50, "clean")
	const drop, ambiguous = "drop-after", "ambiguous: EOF"
	proven := at(1, ambiguous)
	proven.closed, proven.proven = true, true
	for _, c := range []struct {
		name           string
		polls          []poll
		lines          []line
		arrived        string // payments whose raw answer was written down
		missing        string // from the ledger
		told           string // whose id was answered 200
		ends           []int  // ms, of the poller, by the campaign
		away           []int  // ms, of the database
		process        []int  // of each poll; nil: of one that is not over
		ambiguous      int
		brought        int // back
		lost           string
		untold         string // the numbers of the polls
		falsePositives int
	}{
		{name: "all arrived", polls: answers("", ""), lines: []line{run}, arrived: "ab"},
		{name: "a report", polls: answers(drop), lines: []line{run, at(1, ambiguous)}, missing: "a", ambiguous: 1},
		{name: "no report", polls: answers(drop), lines: []line{run}, missing: "a", lost: "a", untold: "0"},
		{name: "no report, and it came back", polls: answers(drop), lines: []line{run}, brought: 1, untold: "0"},
		{name: "of another poll", polls: answers("", drop, ""), lines: []line{run, at(10, ambiguous), at(210, ambiguous)}, arrived: "ac", missing: "b", lost: "b", untold: "1", falsePositives: 2},
		{name: "one for two", polls: answers(drop, drop), lines: []line{run, at(110, ambiguous)}, missing: "ab", ambiguous: 1, lost: "a", untold: "0"},
		{name: "one for two, at the edge", polls: answers(drop, drop), lines: []line{run, at(98, ambiguous)}, missing: "ab", ambiguous: 1, lost: "b", untold: "1"},
		{name: "two for two", polls: answers(drop, drop), lines: []line{run, at(1, ambiguous), at(101, ambiguous)}, missing: "ab", ambiguous: 2},
		{name: "killed at the last poll", polls: answers("", drop), lines: []line{at(-50, "unclean")}, arrived: "a", missing: "b", ends: []int{150}, ambiguous: 1},
		{name: "unclean, and nobody ended it", polls: answers("", drop), lines: []line{at(-50, "unclean")}, arrived: "a", missing: "b", lost: "b", untold: "1"},
		{name: "ended before that poll", polls: answers("", drop), lines: []line{at(-50, "unclean")}, arrived: "a", missing: "b", ends: []int{50}, lost: "b", untold: "1"},
		{name: "killed after it had polled on", polls: answers(drop, ""), lines: []line{at(-50, "unclean")}, ends: []int{150}, arrived: "b", missing: "a", lost: "a", untold: "0"},
		{name: "killed, and another polls", polls: answers(drop, ""), lines: []line{at(-50, "unclean"), at(50, "clean")}, arrived: "b", missing: "a", ends: []int{20}, ambiguous: 1},
		{name: "killed later, and another polls", polls: answers(drop, "", ""), lines: []line{at(-50, "unclean"), at(150, "clean")}, arrived: "bc", ends: []int{120}, missing: "a", lost: "a", untold: "0"},
		{name: "the other one was killed", polls: answers(drop, ""), lines: []line{at(-50, "clean"), at(50, "unclean")}, arrived: "b", ends: []int{20, 150}, missing: "a", lost: "a", untold: "0"},
		{name: "killed before it stored it", polls: answers(""), lines: []line{at(-50, "unclean")}, missing: "a", ends: []int{20}, ambiguous: 1},
		{name: "complete, reported as lost", polls: answers("", ""), lines: []line{run, at(10, ambiguous)}, arrived: "b", missing: "a", lost: "a", untold: "0", falsePositives: 1},
		{name: "complete, but too late", polls: answers(""), lines: []line{run, at(5010, ambiguous)}, missing: "a", ambiguous: 1},
		{name: "in hand while the database was away", polls: answers("", ""), lines: []line{at(-50, "unclean")}, arrived: "b", missing: "a", ends: []int{900}, away: []int{-20, 80}, ambiguous: 1},
		{name: "in hand, and the database was there", polls: answers("", ""), lines: []line{at(-50, "unclean")}, arrived: "b", missing: "a", ends: []int{900}, lost: "a", untold: "0"},
		{name: "in hand, and not killed", polls: answers("", ""), lines: []line{run}, arrived: "b", missing: "a", ends: []int{900}, away: []int{-20, 80}, lost: "a", untold: "0"},
		{name: "settled at once", polls: answers(drop), lines: []line{run, {opened: at(1, "").opened, beat: at(1, "").beat, outcome: ambiguous, closed: true}}, missing: "a", lost: "a", untold: "0"},
		{name: "settled with its proof, and it came back", polls: answers(drop), lines: []line{run, proven}, brought: 1},
		{name: "settled with its proof, and it did not come back", polls: answers(drop), lines: []line{run, proven}, missing: "a", lost: "a"},
		{name: "of an evicted id", polls: answers(drop, ""), lines: []line{at(-50, "clean"), at(50, "given up in doubt")}, arrived: "b", missing: "a", ends: []int{50}, lost: "a", untold: "0"},
		{name: "complete, and dropped", polls: answers("", ""), lines: []line{run}, arrived: "b", missing: "a", lost: "a", untold: "0"},
		{name: "stored, but not in the ledger", polls: answers(""), lines: []line{run}, arrived: "a", missing: "a", lost: "a"},
		{name: "its id was known", polls: answers(drop), lines: []line{run, at(1, ambiguous)}, missing: "a", told: "a", lost: "a"},
		{name: "a confirm took it", polls: answers(drop), lines: []line{run, at(1, ambiguous)}, missing: "x", brought: 1, lost: "x"},
		{name: "read by the service after the next poller began", polls: answers("", drop, ""), lines: []line{at(-50, "unclean"), at(90, "clean")}, arrived: "ac", missing: "b", ends: []int{50}, process: []int{0, 0, 1}, ambiguous: 1},
		{name: "nothing was waiting", polls: answers("empty drop-before", ""), lines: []line{run}, arrived: "b", untold: "0"},
		{name: "nothing was waiting, reported", polls: answers("empty reset-after"), lines: []line{run, at(3, ambiguous)}},
		{name: "reported, but its response arrived", polls: answers("", ""), lines: []line{run, at(10, ambiguous), at(110, ambiguous)}, arrived: "ab", falsePositives: 2},
		{name: "reported twice", polls: answers(drop), lines: []line{run, at(1, ambiguous), at(2, ambiguous)}, missing: "a", ambiguous: 1, falsePositives: 1},
		{name: "reported, and it was refused", polls: answers("empty status-before status=503"), lines: []line{run, at(3, ambiguous)}},
		{name: "read late, and stored", polls: answers(""), lines: []line{run, at(2600, ambiguous)}, arrived: "a"},
		{name: "refused, and the next one is lost", polls: answers("empty status-before status=503", drop), lines: []line{run, at(101, ambiguous)}, missing: "b", ambiguous: 1},
		{name: "nothing was waiting, and it said so", polls: answers("empty status-before status=503"), lines: []line{run}},
	} {
		then := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
		poller := &merchant{cfg: childConfig{Poll: true}}
		for _, ms := range c.ends {
			poller.ends = append(poller.ends, then(ms))
		}
		for i := range c.polls {
			c.polls[i].process = len(c.ends)
			if c.process != nil {
				c.polls[i].process = c.process[i]
			}
		}
		campaign := &campaign{merchants: []*merchant{{ends: []time.Time{start}}, poller}}
		if c.away != nil {
			campaign.away = []span{{then(c.away[0]), then(c.away[1])}}
		}
		l := ledgers{polls: c.lines, came: map[string]bool{}, payments: map[string]row{}}
		for _, id := range c.arrived {
			l.came[string(id)] = true
		}
		var missing []mockserver.Payment
		for _, id := range c.missing {
			missing = append(missing, mockserver.Payment{ID: string(id)})
		}
		for _, id := range c.told {
			campaign.told.add(string(id), "a webhook", nil)
		}
		got := campaign.explain(c.polls, missing, l)
		var lostIDs, untold string
		falsePositives := 0
		for _, f := range got.wrongs {
			switch f.Kind {
			case lost:
				lostIDs += f.ID
			case falsePositive:
				falsePositives++
			default: // unreported; see below
			}
		}
		_, unreportedPolls, _ := campaign.lostPolls(c.polls, l)
		for _, p := range unreportedPolls {
			untold += fmt.Sprint(p.n)
		}
		assert.Equal(t, c.ambiguous, got.ambiguous, c.name)
		assert.Equal(t, c.brought, got.broughtBack, c.name)
		assert.Equal(t, c.lost, lostIDs, c.name)
		assert.Equal(t, c.untold, untold, c.name)
		assert.Equal(t, c.falsePositives, falsePositives, c.name)
	}
}

// TestArrived: a payment counts as arrived if a poll stored it or its complete raw response.
func TestArrived(t *testing.T) {
	t.Parallel()
	c := &campaign{}
	p := poll{payment: "a", whole: true}
	assert.False(t, c.arrived(p, ledgers{}), "the service's word is not enough")
	assert.True(t, c.arrived(p, ledgers{came: map[string]bool{"a": true}}))
	assert.True(t, c.arrived(p, ledgers{payments: map[string]row{"a": {source: inbox.ChannelPoll | inbox.ChannelWebhook}}}))
	assert.False(t, c.arrived(p, ledgers{payments: map[string]row{"a": {source: inbox.ChannelWebhook}}}))
	c.soaks = true
	assert.True(t, c.arrived(p, ledgers{}), "where nobody is killed and old answers are dropped")
	assert.False(t, c.arrived(poll{payment: "a"}, ledgers{}))
}

// TestWitness: the witness knows for each poll which payment it took and whether its
// response left the service complete.
func TestWitness(t *testing.T) {
	t.Parallel()
	s, err := newService(nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.SetWebhook(s.Token(), ""))
	buy := seller(t, s)
	for i, c := range []struct {
		fault        mockserver.Fault
		taken, whole bool
	}{
		{mockserver.Fault{}, true, true},
		{mockserver.Fault{Kind: "drop-before"}, false, false},
		{mockserver.Fault{Kind: "reset-after"}, true, false},
		{mockserver.Fault{Kind: "cut", Bytes: 30}, true, false},
		{mockserver.Fault{Kind: "malformed"}, true, false},
		{mockserver.Fault{Kind: "html"}, true, false},
		{mockserver.Fault{Kind: "status-after", Status: 502}, true, false},
		{mockserver.Fault{Kind: "delay-after", Delay: time.Millisecond}, true, true},
	} {
		_, err = s.Deposit(buy().ID, mockserver.Deposit{})
		require.NoError(t, err)
		s.ClearFaults()
		if c.fault.Kind != "" {
			c.fault.Operation = "next"
			require.NoError(t, s.AddFault(c.fault))
		}
		before := time.Now()
		pollOnce(t, s, i)
		polls, err := s.polls()
		require.NoError(t, err)
		require.Len(t, polls, i+1)
		p := polls[i]
		assert.Equal(t, c.whole, p.whole, "%+v", c)
		assert.Equal(t, i, p.process)
		assert.Equal(t, c.taken, p.payment != "", "%+v", c)
		assert.True(t, strings.HasPrefix(p.fault, c.fault.Kind), p.fault)
		assert.False(t, p.at.Before(before))
		if found, ok := s.witness.of(p.payment); c.taken {
			assert.True(t, ok)
			assert.Equal(t, p, found)
		}
	}
	require.NoError(t, s.witness.read(s.Requests()), "the same log again")
	require.ErrorContains(t, s.witness.read([]mockserver.Request{{Path: pollPath}}), "past the witness")
	known := len(s.witness.polls)
	s.witness.polls = append(s.witness.polls, poll{n: 99})
	polls, err := s.witness.first(s.witness.count())
	require.NoError(t, err, "the last one may be under way")
	require.Len(t, polls, known)
	s.witness.polls = append(s.witness.polls, poll{n: 100, logged: true})
	_, err = s.witness.first(s.witness.count())
	require.ErrorContains(t, err, "poll 99", "a poll that the log forgot is told")
}

// seller opens a store with one product and one customer and returns a function that buys
// it.
func seller(t *testing.T, s *service) (buy func() mockserver.Payment) {
	t.Helper()
	product, err := s.SaveProduct(mockserver.Product{Name: "Sword", Price: price})
	require.NoError(t, err)
	user, err := s.SaveStoreUser(mockserver.StoreUser{Name: "Kim"})
	require.NoError(t, err)
	return func() mockserver.Payment {
		p, err := s.Buy(product.ID, user.ID)
		require.NoError(t, err)
		return p
	}
}

func pollOnce(t *testing.T, s *service, process int) {
	t.Helper()
	by := &http.Transport{DisableKeepAlives: true} // sends nothing twice
	defer by.CloseIdleConnections()
	response, err := (&http.Client{Transport: by}).Get(addressOf(s.URL(), process) + pollPath + "?token=" + s.Token())
	if err != nil {
		return // it may be lost
	}
	_, _ = io.Copy(io.Discard, response.Body)
	require.NoError(t, response.Body.Close())
}

// TestTold: an id counts as known once a merchant that could store it has answered a webhook
// that names it.
func TestTold(t *testing.T) {
	t.Parallel()
	status, away, asked := 0, false, false
	k := &told{}
	by := noting{k, func(span) bool { return away }, func(string) bool { return asked }, roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Contains(t, string(body), `{"payment_id":"`)
		return &http.Response{StatusCode: status, Body: http.NoBody}, nil
	})}
	for _, c := range []struct {
		status int
		away   bool
		asked  bool
		known  bool
	}{
		{200, false, true, true}, {503, false, false, true}, {429, false, false, false}, {429, false, true, true},
		{429, true, true, false}, {503, true, false, false}, {200, true, true, true},
	} {
		status, away, asked = c.status, c.away, c.asked
		id := fmt.Sprint(c)
		request, err := http.NewRequest(http.MethodPost, hookURL, strings.NewReader(`{"payment_id":"`+id+`"}`))
		require.NoError(t, err)
		response, err := by.RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, c.known, k.by(id) != "", "%v", c)
	}
	c := &campaign{away: []span{{time.Unix(10, 0), time.Unix(11, 0)}}}
	for at, want := range map[int64]bool{8: false, 10: true, 12: true, 14: false} {
		assert.Equal(t, want, c.wasAway(span{time.Unix(at, 0), time.Unix(at, 5e8)}), at)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRealTime: the service's times convert to real time, also across a step of its clock.
func TestRealTime(t *testing.T) {
	t.Parallel()
	s := &service{}
	start := time.Now()
	mock := start.Add(time.Hour)
	s.clock = []reading{{mock, start}, {mock.Add(10 * time.Second), start.Add(10 * time.Second)}, {mock.Add(10*time.Second + 5*time.Minute), start.Add(11 * time.Second)}}
	for _, c := range []struct{ at, want time.Duration }{
		{0, 0}, {4 * time.Second, 4 * time.Second}, {10 * time.Second, 10 * time.Second},
		{10*time.Second + 150*time.Second, 10500 * time.Millisecond}, {10*time.Second + 5*time.Minute, 11 * time.Second},
		{12*time.Second + 5*time.Minute, 13 * time.Second}, {-time.Second, -time.Second},
	} {
		assert.WithinDuration(t, start.Add(c.want), s.realTime(mock.Add(c.at)), time.Millisecond, c.at)
	}
}

// TestNeglected: a payment that a merchant knows or could know to be paid is found if nobody
// works on it.
func TestNeglected(t *testing.T) {
	t.Parallel()
	told := func(id string) string { return map[string]string{"told": "a webhook"}[id] }
	for _, c := range []struct {
		id     string
		status mockserver.Status
		stage  inbox.Stage
		held   bool
		want   bool
	}{
		{"a", mockserver.StatusComplete, inbox.StageReady, true, true},
		{"a", mockserver.StatusComplete, inbox.StageExpected, true, true},
		{"a", mockserver.StatusProgress, inbox.StageHint, true, true},
		{"a", mockserver.StatusCreated, inbox.StageHint, true, false},
		{"a", mockserver.StatusComplete, inbox.StageDone, true, false},
		{"a", mockserver.StatusComplete, inbox.StageReview, true, false},
		{"a", mockserver.StatusProgress, 0, false, false},
		{"told", mockserver.StatusProgress, 0, false, true},
	} {
		l := ledgers{payments: map[string]row{}}
		if c.held {
			l.payments[c.id] = row{stage: c.stage}
		}
		all := neglected(l, []mockserver.Payment{{ID: c.id, Status: c.status}}, told)
		assert.Equal(t, c.want, len(all) == 1, "%+v", c)
	}
}

// TestEnded: polls between the signal and the end of a process keep their time. Moved back
// to the signal, they would not match their reports.
func TestEnded(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, in: in, ended: make(chan struct{}), wait: sync.OnceValue(cmd.Wait)}
	m := &merchant{now: p}
	polled := make(chan poll, 1)
	go func() {
		for !p.told.Load() {
			runtime.Gosched()
		}
		polled <- poll{n: 1, at: time.Now()}
		close(p.ended)
	}()
	require.NoError(t, m.end(syscall.SIGTERM))
	last := <-polled
	require.Equal(t, []poll{last}, sent([]poll{last}, m.ended()))
}

// TestListen: a merchant that exits without a signal from the campaign fails the campaign.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		var failed []string
		m := &merchant{failed: func(err error) { failed = append(failed, err.Error()) }, ambiguous: &reports{}}
		p := &process{ended: make(chan struct{}), wait: func() error { return errors.New("exit status 2") }}
		p.told.Store(told)
		m.listen(p, strings.NewReader("ready 127.0.0.1:1\nreconciled\nambiguous 7\ncut off"))
		assert.Equal(t, "127.0.0.1:1", *m.address.Load())
		assert.EqualValues(t, 1, m.reconciled.Load())
		assert.Equal(t, []int64{7}, m.ambiguous.at)
		if told {
			assert.Empty(t, failed)
		} else {
			assert.Equal(t, []string{"a merchant has ended by itself: exit status 2"}, failed)
		}
		m.listen(&process{ended: make(chan struct{}), wait: func() error { return nil }}, strings.NewReader("nonsense\n"))
		assert.Contains(t, failed[len(failed)-1], "ended by itself: exit status 0")
		assert.Contains(t, strings.Join(failed, "\n"), `merchant said "nonsense`)
	}
}

// TestHistories: each finding comes with what both sides have, also that of a poll which
// took no payment.
func TestHistories(t *testing.T) {
	t.Parallel()
	c := &campaign{t: t, seed: 7, profile: usual("sqlite")}
	var err error
	c.service, err = newService(nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.service.Close()) })
	p := seller(t, c.service)()
	c.prepare()
	then := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	c.alone(func(db *sql.DB) {
		c.do(db, `INSERT INTO depositpay_polls (poll_id, opened_at, beat_at, outcome) VALUES ('k', 0, 1767323045006000, 'ambiguous: EOF')`)
	})
	c.openReader()

	told := c.histories([]finding{{Kind: unreported, Why: "quiet", at: then, poll: &poll{n: 3, at: then, fault: "drop-before"}}, {Kind: lost, ID: p.ID, Why: "gone"}})
	assert.Contains(t, told, "unreported: of no payment: quiet (seed 7)\n"+
		"    service: poll 3 at 03:04:05.006 (fault \"drop-before\")\n"+
		"    poll journal: k opened 00:00:00.000, beat 03:04:05.006, ambiguous: EOF\n")
	assert.Contains(t, told, "lost: payment "+p.ID+": gone (seed 7)\n    service: CREATED, identifier \""+p.Identifier+"\"")
}
