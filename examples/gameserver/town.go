package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
)

// town is a text-mode game: players connect over TCP, log in, carry things and leave. It
// believes anyone who says a name, so keep it on loopback.
type town struct {
	chest
	book *grant.Book
	ln   net.Listener

	mu     sync.Mutex
	online map[string]*visitor
	guests sync.WaitGroup
}

// listen is how long a player may take to read what is said.
const listen = 2 * time.Second

// visitor is one connection. A player who does not read holds up the others once, and is put
// out.
type visitor struct {
	net.Conn
	mu      sync.Mutex
	account string
}

var accountPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func openTown(ctx context.Context, address string, ledger *inbox.SQLite, book *grant.Book) (*town, error) {
	if _, err := ledger.Writer.ExecContext(ctx, chestSchema); err != nil {
		return nil, err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &town{chest: chest{ledger}, book: book, ln: ln, online: map[string]*visitor{}}, nil
}

func (t *town) serve(ctx context.Context) error {
	defer t.guests.Wait()
	stop := context.AfterFunc(ctx, func() { _ = t.ln.Close() })
	defer stop()
	for failures := 0; ; {
		conn, err := t.ln.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("the town's port failed: %w", err)
		}
		if err != nil { // too many open files, or a player who is gone already
			slog.WarnContext(ctx, "gameserver: a player did not get in", slog.Any("error", err))
			pause(ctx, min(time.Second, 5*time.Millisecond<<min(failures, 10)))
			failures++
			continue
		}
		failures = 0
		t.guests.Go(func() { t.visit(ctx, &visitor{Conn: conn}) })
	}
}

func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (t *town) close() error {
	if err := t.ln.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

const townHelp = "login ACCOUNT, inventory, drop KEY, claim, quit"

// visit is one player, from hello to goodbye.
func (t *town) visit(ctx context.Context, v *visitor) {
	stop := context.AfterFunc(ctx, func() { _ = v.Close() })
	defer func() {
		t.leave(v)
		stop()
		_ = v.Close()
	}()
	v.say("Welcome to the town. %s", townHelp)
	for lines := bufio.NewScanner(v); lines.Scan(); {
		verb, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "/"), " ")
		if verb == "quit" {
			return
		}
		if err := t.do(ctx, v, verb, rest); err != nil {
			v.say("That did not work: %v", err)
		}
	}
}

func (t *town) do(ctx context.Context, v *visitor, verb, rest string) error {
	switch {
	case verb == "help" || verb == "":
		v.say("%s", townHelp)
		return nil
	case verb == "login":
		return t.join(ctx, v, rest)
	case v.account == "":
		return errors.New("log in first")
	case verb == "inventory":
		things, err := t.carried(ctx, v.account)
		v.say("You carry %d things: %s", len(things), strings.Join(things, ", "))
		return err
	case verb == "drop":
		return t.drop(ctx, v.account, rest)
	case verb == "claim":
		n, err := t.book.Claim(ctx, v.account)
		v.say("%d things are on their way", n)
		return err
	}
	return fmt.Errorf("there is no %q here; try help", verb)
}

func (t *town) join(ctx context.Context, v *visitor, account string) error {
	if v.account != "" {
		return fmt.Errorf("you are %s already", v.account)
	}
	if !accountPattern.MatchString(account) {
		return errors.New("an account is made of letters, digits, _ and -")
	}
	t.mu.Lock()
	if t.online[account] != nil {
		t.mu.Unlock()
		return fmt.Errorf("%s is in town already, on another connection", account)
	}
	v.account = account
	t.online[account] = v
	t.mu.Unlock()
	n, err := t.book.Joined(ctx, account)
	v.say("Hello %s. In your claim box: %d", account, n)
	return err
}

func (t *town) leave(v *visitor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v.account != "" {
		delete(t.online, v.account)
	}
}

func (v *visitor) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.SetWriteDeadline(time.Now().Add(listen))
	if _, err := fmt.Fprintf(v, format+"\n", args...); err != nil {
		_ = v.Close() // who has left hears nothing, and who does not listen has to leave
	}
}
