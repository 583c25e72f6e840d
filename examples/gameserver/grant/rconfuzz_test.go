package grant_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// FuzzRCON lets a console send any bytes. An answer is believed only if it stands in a whole
// packet with the number of the command, a login only if the verdict is on its own number;
// whatever else comes is an error.
func FuzzRCON(f *testing.F) {
	for _, p := range [][]packet{
		{{1, 0, "Gave it"}}, {{0, 0, "late"}, {1, 2, ""}, {1, 0, "Gave\x00it"}}, {{1, 0, ""}, {1, 2, ""}}, {{-1, 2, ""}}, {{2, 2, ""}}, {{2, 0, "of another command"}}, {},
		{{1, 0, strings.Repeat("long ", 850)}},
	} {
		var sent bytes.Buffer
		for _, p := range p {
			writePacket(&sent, p.id, p.kind, p.body)
		}
		f.Add(sent.Bytes())
		f.Add(append(sent.Bytes(), 0xff, 0xff, 0xff, 0x7f))
		f.Add(bytes.TrimSuffix(sent.Bytes(), []byte{0}))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var answer, verdict *packet // that count
		for _, p := range packets(sent) {
			if answer == nil && p.id == 1 && p.kind == 0 {
				answer = &p
			}
			if verdict == nil && p.kind == 2 {
				verdict = &p
			}
		}
		got, err := grant.ExecRCON(t.Context(), console(sent), "give")
		if (err == nil) != (answer != nil) || answer != nil && got != answer.body {
			t.Fatalf("%q, %v, want %v", got, err, answer)
		}
		err = grant.AuthRCON(t.Context(), console(sent), rconPassword)
		if (err == nil) != (verdict != nil && verdict.id == 1) || errors.Is(err, grant.ErrRCONPassword) != (verdict != nil && verdict.id != 1) {
			t.Fatalf("%v, want %v", err, verdict)
		}
	})
}

// packet is one of the protocol.
type packet struct {
	id, kind int32
	body     string
}

// packets are the whole packets that sent begins with.
func packets(sent []byte) (all []packet) {
	for len(sent) >= 4 {
		size := binary.LittleEndian.Uint32(sent)
		if sent = sent[4:]; size < 10 || size > 4160 || int(size) > len(sent) {
			break
		}
		body := sent[8:size]
		for len(body) > 0 && body[len(body)-1] == 0 {
			body = body[:len(body)-1]
		}
		all = append(all, packet{int32(binary.LittleEndian.Uint32(sent)), int32(binary.LittleEndian.Uint32(sent[4:])), string(body)})
		sent = sent[size:]
	}
	return all
}

// console is a connection on which all has been sent.
func console(sent []byte) net.Conn { return spoken{Reader: bytes.NewReader(sent)} }

type spoken struct {
	net.Conn // none: what is not here is not called
	io.Reader
}

func (s spoken) Read(p []byte) (int, error) { return s.Reader.Read(p) }
func (spoken) Write(p []byte) (int, error)  { return len(p), nil }
func (spoken) SetDeadline(time.Time) error  { return nil }
