package grant

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A client of the Source RCON protocol. The libraries there are give every command the same
// id, so a late answer passes for that of the next command, and do not tell a command that
// was not sent from one whose answer is lost; here items hang on both.

const (
	rconAuth         = 3
	rconAuthResponse = 2
	rconExec         = 2
	rconValue        = 0
	rconMaxPacket    = 4096 + 64 // some servers count the header
)

var errRCONPassword = errors.New("rcon: the server does not accept the password")

// rconConn is one authenticated connection. It is used by one goroutine.
type rconConn struct {
	net.Conn
	id int32
}

func dialRCON(ctx context.Context, address, password string) (*rconConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &rconConn{Conn: conn}
	if err := c.auth(ctx, password); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (c *rconConn) auth(ctx context.Context, password string) error {
	id, err := c.send(ctx, rconAuth, password)
	if err != nil {
		return fmt.Errorf("rcon: logging in: %w", err)
	}
	for {
		got, kind, _, err := c.receive()
		switch {
		case err != nil:
			return fmt.Errorf("rcon: logging in: %w", err)
		case kind != rconAuthResponse:
			continue // an empty value comes first
		case got != id:
			return errRCONPassword
		}
		return nil
	}
}

// exec runs a command. After an error the server may have run it.
func (c *rconConn) exec(ctx context.Context, command string) (answer string, err error) {
	id, err := c.send(ctx, rconExec, command)
	if err != nil {
		// A packet that was not written whole cannot be run, but TCP does not tell how
		// much of it left.
		return "", fmt.Errorf("rcon: sending: %w", err)
	}
	for {
		got, kind, body, err := c.receive()
		if err != nil {
			return "", fmt.Errorf("rcon: no answer: %w", err)
		}
		if got == id && kind == rconValue {
			return body, nil
		}
	}
}

// send writes one packet in one piece, and sets the deadline for it and for its answer.
func (c *rconConn) send(ctx context.Context, kind int32, body string) (id int32, err error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(10 * time.Second)
	}
	if err := c.SetDeadline(deadline); err != nil {
		return 0, err
	}
	c.id++
	packet := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+10)) //nolint:gosec // at most maxCommand
	packet = binary.LittleEndian.AppendUint32(packet, uint32(c.id))       //nolint:gosec // the bits stay
	packet = binary.LittleEndian.AppendUint32(packet, uint32(kind))       //nolint:gosec // one of four
	packet = append(append(packet, body...), 0, 0)
	_, err = c.Write(packet)
	return c.id, err
}

func (c *rconConn) receive() (id, kind int32, body string, err error) {
	var size uint32
	if err := binary.Read(c, binary.LittleEndian, &size); err != nil {
		return 0, 0, "", err
	}
	if size < 10 || size > rconMaxPacket {
		return 0, 0, "", fmt.Errorf("a packet of %d bytes", size)
	}
	packet := make([]byte, size)
	if _, err := io.ReadFull(c, packet); err != nil {
		return 0, 0, "", err
	}
	id = int32(binary.LittleEndian.Uint32(packet))       //nolint:gosec // the bits stay
	kind = int32(binary.LittleEndian.Uint32(packet[4:])) //nolint:gosec // the bits stay
	return id, kind, string(bytes.TrimRight(packet[8:], "\x00")), nil
}
