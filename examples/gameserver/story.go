package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// story is played over TCP, as players do.
func (d *demo) story(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, chapter := range []func(context.Context) error{d.online, d.offline, d.desk, d.verdict} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// online: who is in town gets the thing at once.
func (d *demo) online(ctx context.Context) error {
	d.say("1. Steve is in town and buys a sword.")
	steve, err := d.enter(ctx, d.steve.ID, "Steve")
	if err != nil {
		return err
	}
	if _, err := d.buy(d.sword, d.steve); err != nil {
		return err
	}
	if err := steve.hear("You got: sword"); err != nil {
		return err
	}
	return steve.quit()
}

// offline: the claim box waits for the next join, and for room.
func (d *demo) offline(ctx context.Context) (err error) {
	d.say("2. Alex is not in town and buys the hero pack: a rank and five potions.")
	if d.packKey, err = d.buy(d.pack, d.alex); err != nil {
		return err
	}
	if err := d.await(ctx, d.packKey, grant.Claimable, 6); err != nil {
		return err
	}
	d.say("  all six are in the claim box; Alex joins, and has four pockets")
	alex, err := d.enter(ctx, d.alex.ID, "Alex")
	if err != nil {
		return err
	}
	if err := alex.hear("You got: rank:hero", "You got: potion", "You got: potion", "You got: potion", "You got: potion"); err != nil {
		return err
	}
	if err := d.await(ctx, d.packKey, grant.Claimable, 1); err != nil {
		return err
	}
	for _, words := range []string{"drop " + d.packKey + ":2:1", "/claim"} {
		if err := alex.enterLine(words); err != nil {
			return err
		}
	}
	if err := alex.hear("You got: potion"); err != nil {
		return err
	}
	if err := d.await(ctx, d.packKey, grant.Granted, 6); err != nil {
		return err
	}
	return alex.quit()
}

// desk: the operator looks, and cannot double anything by mistake.
func (d *demo) desk(ctx context.Context) error {
	d.say("3. Alex says that a potion never came. The operator looks.")
	for _, c := range []struct{ line, want string }{
		{"history " + d.alex.ID, "granted at "},
		{"resend " + d.packKey + ":2:1 Alex asked", "was already granted at "},
		{"pending", "nothing is pending"},
	} {
		answer, err := d.operator(ctx, c.line)
		if err != nil {
			return err
		}
		if !strings.Contains(answer, c.want) {
			return fmt.Errorf("the operator was answered %q, and not %q", answer, c.want)
		}
	}
	return nil
}

// verdict counts in the game's own book.
func (d *demo) verdict(ctx context.Context) error {
	var things int
	if err := d.s.ledger.Reader.QueryRowContext(ctx, `SELECT count(*) FROM town_things`).Scan(&things); err != nil {
		return err
	}
	counts, err := d.s.book.Counts(ctx)
	if err != nil {
		return err
	}
	if things != 7 || counts[grant.Granted] != 7 || len(counts) != 1 {
		return fmt.Errorf("the game gave %d of 7 things; the book has %v", things, counts)
	}
	d.say("granted 7 of 7 units, each once")
	return nil
}

// await waits until n units of a payment are in a state, and none is on its way.
func (d *demo) await(ctx context.Context, payment string, state grant.State, n int) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		units, err := d.s.book.OfPayment(ctx, payment)
		if err != nil {
			return err
		}
		found, moving := 0, len(units) == 0
		for _, u := range units {
			if u.State == state {
				found++
			}
			moving = moving || u.State == grant.Pending || u.State == grant.Granting
		}
		if found == n && !moving {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%d units of %s are %s, want %d: %w", found, payment, state, n, ctx.Err())
		}
	}
}

// player is somebody at the other end of a connection to the town.
type player struct {
	d     *demo
	conn  net.Conn
	lines *bufio.Scanner
	name  string
}

func (d *demo) enter(ctx context.Context, account, name string) (*player, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.s.town.ln.Addr().String())
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	p := &player{d, conn, bufio.NewScanner(conn), name}
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if err := p.enterLine("login " + account); err != nil {
		return nil, err
	}
	return p, p.hear("Hello " + account)
}

func (p *player) enterLine(words string) error {
	p.d.say("  %s> %s", p.name, words)
	_, err := fmt.Fprintln(p.conn, words)
	return err
}

// hear reads until all that is wanted was said, in this order.
func (p *player) hear(wanted ...string) error {
	for len(wanted) > 0 && p.lines.Scan() {
		p.d.say("  %s sees: %s", p.name, p.lines.Text())
		if strings.HasPrefix(p.lines.Text(), wanted[0]) {
			wanted = wanted[1:]
		}
	}
	if len(wanted) > 0 {
		return fmt.Errorf("%s did not see %q (%w)", p.name, wanted, context.DeadlineExceeded)
	}
	return nil
}

// quit leaves, and waits until the town has noticed.
func (p *player) quit() error {
	if err := p.enterLine("quit"); err != nil {
		return err
	}
	for p.lines.Scan() {
		p.d.say("  %s sees: %s", p.name, p.lines.Text())
	}
	return p.conn.Close()
}
