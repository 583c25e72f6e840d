//go:build unix

package torture

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/depositpay/depositpay-go/internal/test/child"
	"github.com/depositpay/depositpay-go/payments"
)

// merchant runs one process at a time: when it is killed, the next one starts.
type merchant struct {
	cfg childConfig
	mu  sync.Mutex // of starting and ending
	now *process   // nil once it is to run no more

	ends       []time.Time            // of its processes, that the campaign ended; under mu
	address    atomic.Pointer[string] // nil while nobody answers
	reconciled atomic.Int64           // since the process began
	ambiguous  *reports
	failed     func(error)
}

// reports are the ambiguous polls that merchants reported at once.
type reports struct {
	mu sync.Mutex
	at []int64 // µs
}

func (r *reports) add(at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = append(r.at, at)
}

// process is a running merchant.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan struct{} // its output has ended
	told  atomic.Bool   // to end
	wait  func() error  // for its end; the first time counts

	unhanded []payments.Payment // once it has ended
}

// start starts a process. The caller holds mu, or nothing else runs.
func (m *merchant) start() error {
	cfg := m.cfg
	cfg.Service = addressOf(cfg.Service, len(m.ends)) // each that began has ended
	cmd, err := child.Command(childVariable, cfg)
	if err != nil {
		return err
	}
	p := &process{cmd: cmd, ended: make(chan struct{}), wait: sync.OnceValue(cmd.Wait)}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	m.now = p
	m.reconciled.Store(0)
	go m.listen(p, out)
	return nil
}

var errCleanly = errors.New("exit status 0")

// listen reads the output of a process.
func (m *merchant) listen(p *process, out io.Reader) {
	defer close(p.ended)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // a line that was cut was not said
			if !p.told.Load() {
				m.failed(fmt.Errorf("a merchant has ended by itself: %w", cmp.Or(p.wait(), errCleanly)))
			}
			return
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "ready":
			m.address.Store(&rest)
		case "reconciled":
			m.reconciled.Add(1)
		case "unhanded":
			var payment payments.Payment
			if err := json.Unmarshal([]byte(rest), &payment); err != nil {
				m.failed(fmt.Errorf("merchant: %q: %w", line, err))
				return
			}
			p.unhanded = append(p.unhanded, payment)
		case "ambiguous":
			at, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				m.failed(fmt.Errorf("merchant: %q: %w", line, err))
				return
			}
			m.ambiguous.add(at)
		default:
			m.failed(fmt.Errorf("merchant said %q", line))
		}
	}
}

// end signals the process and waits for it. A paused process is continued so that it can
// end.
func (m *merchant) end(s syscall.Signal) error {
	p := m.now
	p.told.Store(true)
	_ = p.cmd.Process.Signal(s)
	if s != syscall.SIGKILL {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		limit := time.AfterFunc(time.Minute, func() { _ = p.cmd.Process.Kill() })
		defer limit.Stop()
	}
	<-p.ended // Wait would cut off what is on its way
	m.ends = append(m.ends, time.Now())
	ready := m.address.Swap(nil) != nil
	m.now = nil
	if ready { // it has taken what it was given
		m.cfg.Unhanded = nil
	}
	m.cfg.Unhanded = append(m.cfg.Unhanded, p.unhanded...)
	err := p.wait()
	_ = p.in.Close()
	if s == syscall.SIGKILL || !ready { // it may not have come so far as to listen to signals
		return nil
	}
	return err
}

// ended returns when each process was over. A process may poll until then, even after the
// signal.
func (m *merchant) ended() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.ends)
}

// stop ends the process cleanly.
func (m *merchant) stop() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		return nil
	}
	return m.end(syscall.SIGTERM)
}

// again ends the process and starts the next one.
func (m *merchant) again(s syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		return nil // it did not start again, which has been told
	}
	err := m.end(s)
	if err != nil {
		err = fmt.Errorf("merchant after signal %v: %w", s, err)
	}
	return errors.Join(err, m.start())
}

// pause stops the process for a while and reports whether the same process continued.
func (m *merchant) pause(length time.Duration) bool {
	m.mu.Lock()
	p := m.now
	if p != nil {
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	}
	m.mu.Unlock()
	<-time.After(length)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now != p || p == nil {
		return false // killed meanwhile; its id may be another process's by now
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	return true
}
