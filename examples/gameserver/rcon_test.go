package main

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// rconGame is the RCON port of a game, on which one player is online.
type rconGame struct {
	ln     net.Listener
	player string
	mu     sync.Mutex
	ran    map[string]int
	conns  sync.WaitGroup
}

func newRCONGame(t *testing.T, player string) *rconGame {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &rconGame{ln: ln, player: player, ran: map[string]int{}}
	c.conns.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.conns.Go(func() { c.serve(conn) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, ln.Close())
		c.conns.Wait()
	})
	return c
}

func (c *rconGame) address() string { return c.ln.Addr().String() }

// count is how often a command was run.
func (c *rconGame) count(command string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran[command]
}

// serve answers one connection until its other end closes it.
func (c *rconGame) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for loggedIn := false; ; {
		var head struct{ Size, ID, Kind int32 }
		if binary.Read(conn, binary.LittleEndian, &head) != nil {
			return
		}
		body := make([]byte, head.Size-8)
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		text := strings.TrimRight(string(body), "\x00")
		switch {
		case head.Kind == 3 && text == gameSecret:
			loggedIn = true
			reply(conn, head.ID, 2, "")
		case head.Kind == 3 || !loggedIn:
			reply(conn, -1, 2, "")
		default:
			reply(conn, head.ID, 0, c.run(text))
		}
	}
}

func (c *rconGame) run(command string) (answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran[command]++
	item, gives := strings.CutPrefix(command, "give "+c.player+" ")
	switch {
	case gives:
		return "Gave 1 [" + strings.TrimSuffix(item, " 1") + "] to Steve"
	case strings.HasPrefix(command, "data get entity "+c.player+" "):
		return "Steve has the following entity data: [1.5d, 64.0d, 3.5d]"
	}
	return "No player was found"
}

func reply(conn net.Conn, id, kind int32, body string) {
	packet := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+10))
	packet = binary.LittleEndian.AppendUint32(packet, uint32(id))
	packet = binary.LittleEndian.AppendUint32(packet, uint32(kind))
	_, _ = conn.Write(append(append(packet, body...), 0, 0))
}
