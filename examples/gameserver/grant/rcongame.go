package grant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// RCON is a Game behind the Source RCON protocol, which Minecraft, Rust, Palworld and others
// speak. Answers of a console are text for people: what none of the patterns matches needs
// review, and nothing is guessed. Keep the port on loopback or in a private network, since
// the protocol is not encrypted.
type RCON struct {
	// Address is host:port; Password is the console's, which appears in no error.
	Address, Password string
	// Look asks how a player stands: "data get entity {account} Pos". OnlineAnswer is what
	// the answer for a player who is online looks like; every other answer means offline.
	Look         Command
	OnlineAnswer *regexp.Regexp
	// If OnlineAnswer has a group called "free", that is the number of free slots.
	// Otherwise any number is taken to be free.

	// GiveUnit gives a unit: "give {account} {item}". A command that takes {key}, of a mod
	// that keeps it, is the one way by which a console can refuse a second time.
	GiveUnit Command
	// What the answers look like. GivenAnswer is required.
	GivenAnswer, AlreadyAnswer, OfflineAnswer, FullAnswer *regexp.Regexp
	// RefusesTwice: see Game.Refuses.
	RefusesTwice bool

	mu   sync.Mutex
	conn *rconConn
}

// Refuses is RefusesTwice.
func (r *RCON) Refuses() bool { return r.RefusesTwice }

// Player runs Look.
func (r *RCON) Player(ctx context.Context, account string) (Player, error) {
	command, err := r.Look.fill(Delivery{Account: account})
	if err != nil {
		return Player{}, err
	}
	answer, _, err := r.exec(ctx, command)
	if err != nil {
		return Player{}, err
	}
	found := r.OnlineAnswer.FindStringSubmatch(answer)
	if found == nil {
		return Player{}, nil
	}
	p := Player{Online: true, Free: -1}
	if i := r.OnlineAnswer.SubexpIndex("free"); i >= 0 {
		if p.Free, err = strconv.Atoi(found[i]); err != nil {
			return Player{}, fmt.Errorf("rcon: the free slots of %s are no number: %q", account, found[i])
		}
	}
	return p, nil
}

// Give runs GiveUnit.
func (r *RCON) Give(ctx context.Context, d Delivery) (Answer, error) {
	command, err := r.GiveUnit.fill(d)
	if err != nil {
		return Refused, nil //nolint:nilerr // nothing is sent, and it will never fit
	}
	answer, sent, err := r.exec(ctx, command)
	if err != nil {
		if !sent {
			err = errors.Join(ErrNotGiven, err)
		}
		return "", err
	}
	for _, known := range []struct {
		pattern *regexp.Regexp
		answer  Answer
	}{{r.AlreadyAnswer, AlreadyGranted}, {r.OfflineAnswer, Offline}, {r.FullAnswer, Full}, {r.GivenAnswer, Given}} {
		if known.pattern != nil && known.pattern.MatchString(answer) {
			return known.answer, nil
		}
	}
	return "", fmt.Errorf("rcon: the console answered %.200q, which no pattern knows", answer)
}

// exec runs a command on the one connection, which is made when it is needed and given up
// after an error: its next answer might be that of this command.
func (r *RCON) exec(ctx context.Context, command string) (answer string, sent bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		if r.conn, err = dialRCON(ctx, r.Address, r.Password); err != nil {
			r.conn = nil
			return "", false, err
		}
	}
	answer, err = r.conn.exec(ctx, command)
	if err != nil {
		_ = r.conn.Close() // it is broken already
		r.conn = nil
	}
	return answer, true, err
}

// Close ends the connection.
func (r *RCON) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return nil
	}
	err := r.conn.Close()
	r.conn = nil
	return err
}
