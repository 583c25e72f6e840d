package grant_test

import (
	"encoding/binary"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

const rconPassword = "hunter2-hunter2"

// rconServer is a small server of the protocol. answer is given each command; false cuts
// the connection instead of answering.
type rconServer struct {
	ln     net.Listener
	answer func(command string) (string, bool)
	mu     sync.Mutex
	ran    []string
	conns  sync.WaitGroup
}

func newRCONServer(t *testing.T, answer func(string) (string, bool)) *rconServer {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &rconServer{ln: ln, answer: answer}
	s.conns.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.conns.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, ln.Close())
		s.conns.Wait()
	})
	return s
}

func (s *rconServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		id, kind, body, err := readPacket(conn)
		switch {
		case err != nil:
			return
		case kind == 3: // log in: an empty value, then the verdict
			writePacket(conn, id, 0, "")
			if body != rconPassword {
				id = -1
			}
			writePacket(conn, id, 2, "")
		default:
			s.mu.Lock()
			s.ran = append(s.ran, body)
			text, ok := s.answer(body)
			s.mu.Unlock()
			if !ok {
				return
			}
			writePacket(conn, id-1, 0, "the late answer to another command: Gave it")
			writePacket(conn, id, 0, text)
		}
	}
}

func (s *rconServer) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.ran...)
}

func readPacket(r io.Reader) (id, kind int32, body string, err error) {
	var head struct{ Size, ID, Kind int32 }
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return 0, 0, "", err
	}
	rest := make([]byte, head.Size-8)
	_, err = io.ReadFull(r, rest)
	return head.ID, head.Kind, strings.TrimRight(string(rest), "\x00"), err
}

func writePacket(w io.Writer, id, kind int32, body string) {
	packet := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+10))
	packet = binary.LittleEndian.AppendUint32(packet, uint32(id))
	packet = binary.LittleEndian.AppendUint32(packet, uint32(kind))
	_, _ = w.Write(append(append(packet, body...), 0, 0))
}

func newRCON(t *testing.T, s *rconServer) *grant.RCON {
	look, err := grant.ParseCommand("look {account}")
	require.NoError(t, err)
	give, err := grant.ParseCommand("give {account} {item} 1")
	require.NoError(t, err)
	r := &grant.RCON{
		Address: s.ln.Addr().String(), Password: rconPassword,
		Look: look, OnlineAnswer: regexp.MustCompile(`^online, (?P<free>\d+) free`),
		GiveUnit: give, GivenAnswer: regexp.MustCompile(`^Gave `), OfflineAnswer: regexp.MustCompile(`^No player`), FullAnswer: regexp.MustCompile(`^No room`),
	}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// TestRCON: from the payment to the console, with every answer that the patterns know.
func TestRCON(t *testing.T) {
	t.Parallel()
	answers := []string{"Gave it to you", "No room", "What?"}
	s := newRCONServer(t, func(command string) (string, bool) {
		if strings.HasPrefix(command, "look ") {
			return "online, 7 free", true
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, true
	})
	b := newBench(t)
	b.run(newRCON(t, s))
	id := b.pay("p-sword", 3000, account)
	units := b.await(id, grant.Granted, grant.Claimable, grant.Review)
	require.Contains(t, units[2].Reason, `the console answered "What?", which no pattern knows`)
	require.Equal(t, []string{"look " + account, "give " + account + " sword 1"}, s.commands()[:2])
}

// TestRCONCut: the console ran the command or not; nobody knows, so a person looks. The
// next unit takes a new connection.
func TestRCONCut(t *testing.T) {
	t.Parallel()
	cuts := 1
	s := newRCONServer(t, func(command string) (string, bool) {
		if strings.HasPrefix(command, "look ") {
			return "online, 7 free", true
		}
		cuts--
		return "Gave it", cuts < 0
	})
	b := newBench(t)
	b.run(newRCON(t, s))
	id := b.pay("p-sword", 2000, account)
	units := b.await(id, grant.Review, grant.Granted)
	require.Contains(t, units[0].Reason, "rcon: no answer")
}

// TestRCONRefused: a wrong password and a port where nobody listens give nothing, and no
// error shows the password.
func TestRCONRefused(t *testing.T) {
	t.Parallel()
	s := newRCONServer(t, func(string) (string, bool) { return "", true })
	r := newRCON(t, s)
	r.Password = "wrong-" + rconPassword
	_, err := r.Give(t.Context(), delivery(account))
	require.ErrorIs(t, err, grant.ErrNotGiven)
	require.ErrorContains(t, err, "does not accept the password")
	require.NotContains(t, err.Error(), rconPassword)
	require.Empty(t, s.commands())

	r = newRCON(t, s)
	r.Address = "127.0.0.1:1"
	_, err = r.Give(t.Context(), delivery(account))
	require.ErrorIs(t, err, grant.ErrNotGiven)
}

func delivery(who string) grant.Delivery {
	return grant.Delivery{Key: "9bb5bb65-cd48-4b04-89d5-b1848ab1a914:1:1", Account: who, Item: "sword", Slots: 1}
}
