package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/depositpay/depositpay-go/mockserver"
)

// program is the game server as an operator starts it, with a console.
type program struct {
	t     *testing.T
	say   io.Writer
	lines chan string // what it says
}

// startProgram runs the command line until the test ends.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stdin, say := io.Pipe()
	hear, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := command(ctx, args, stdin, stdout)
		_ = stdout.CloseWithError(io.EOF)
		ended <- err
	}()
	p := &program{t, say, make(chan string, 1000)}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(hear); in.Scan(); {
			p.lines <- in.Text()
		}
	}()
	t.Cleanup(func() {
		stop()
		_ = stdin.Close()
		for range p.lines { // to its end
		}
		require.NoError(t, <-ended)
	})
	return p
}

// hear reads on until a line begins with what is wanted, and returns the rest of it.
func (p *program) hear(wanted string) (rest string) {
	p.t.Helper()
	limit := time.After(time.Minute)
	said := ""
	for {
		select {
		case line, open := <-p.lines:
			if rest, found := strings.CutPrefix(line, wanted); found {
				return rest
			}
			said += line + "\n"
			require.True(p.t, open, "it ended and did not say %q:\n%s", wanted, said)
		case <-limit:
			require.Fail(p.t, "it did not say "+wanted, said)
		}
	}
}

// ask types a line of the console and wants an answer that begins so.
func (p *program) ask(line, wanted string) (rest string) {
	p.t.Helper()
	go func() { _, _ = io.WriteString(p.say, line+"\n") }() // nobody may be listening
	return p.hear(wanted)
}

// until types a line of the console until the answer is as wanted.
func (p *program) until(line, wanted, value string) {
	p.t.Helper()
	limit := time.After(time.Minute)
	for {
		got := p.ask(line, wanted)
		if got == value {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			require.Equal(p.t, value, got, wanted)
		}
	}
}

// shopFloor is the service, with the example's product and a player.
func shopFloor(t *testing.T) (mock *mockserver.Server, pack mockserver.Product, player mockserver.StoreUser) {
	t.Helper()
	mock = mockserver.RunT(t)
	pack, err := mock.SaveProduct(mockserver.Product{Name: "Hero pack", Price: 9000})
	require.NoError(t, err)
	player, err = mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1001", Name: "Steve"})
	require.NoError(t, err)
	return mock, pack, player
}

// startFrom starts the program with the file of the README, in which only what belongs to
// one machine is changed, and tells the service where its webhook is.
func startFrom(t *testing.T, mock *mockserver.Server, pack mockserver.Product, change func(*settings)) *program {
	t.Helper()
	t.Setenv("DEPOSITPAY_TOKEN", mock.Token())
	t.Setenv("GAME_SECRET", gameSecret)
	s, err := readSettings("gameserver.example.json")
	require.NoError(t, err)
	s.URL, s.Ledger, s.Listen = mock.URL(), filepath.Join(t.TempDir(), "payments.db"), "127.0.0.1:0"
	s.Catalogue[0].ID = pack.ID
	change(&s)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "gameserver.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	p := startProgram(t, "--config", file)
	require.NoError(t, mock.SetWebhook(mock.Token(), p.hear("webhooks come to ")))
	p.hear("type help")
	return p
}

// purchase is a player in the store, and the bank.
func purchase(t *testing.T, mock *mockserver.Server, pack mockserver.Product, player mockserver.StoreUser) (payment string) {
	t.Helper()
	bought, err := mock.Buy(pack.ID, player.ID)
	require.NoError(t, err)
	_, err = mock.Deposit(bought.ID, mockserver.Deposit{Payer: player.Name})
	require.NoError(t, err)
	return bought.ID
}

// requireGranted wants all five potions of a payment in the books of everybody.
func (p *program) requireGranted(mock *mockserver.Server, payment string) {
	p.t.Helper()
	p.until("report", "units granted: ", "5")
	for unit := 1; unit <= 5; unit++ {
		key := payment + ":1:" + string(rune('0'+unit))
		p.ask("history acc-1001", key+"  acc-1001  minecraft:potion  granted at ")
	}
	p.ask("pending", "nothing is pending")
	mock.CheckCompletedOnce(p.t, payment)
}

// TestRCONServer: from the purchase in the store, over the wires, to the game's console.
func TestRCONServer(t *testing.T) {
	mock, pack, player := shopFloor(t)
	game := newRCONGame(t, "acc-1001")
	p := startFrom(t, mock, pack, func(s *settings) { s.RCON.Address = game.address() })
	payment := purchase(t, mock, pack, player)
	p.requireGranted(mock, payment)
	require.Equal(t, 5, game.count("give acc-1001 minecraft:potion 1"))
	require.Positive(t, game.count("data get entity acc-1001 Pos"))
}

// TestHTTPServer: the same for a game behind HTTP calls, which says itself that the player
// has joined.
func TestHTTPServer(t *testing.T) {
	mock, pack, player := shopFloor(t)
	game := newWorld(t, true)
	p := startFrom(t, mock, pack, func(s *settings) {
		s.RCON, s.HTTP = nil, &httpSettings{URL: game.URL, RefusesTwice: true}
	})
	calls := strings.TrimSuffix(mock.Applications()[0].WebhookURL, "/hook")
	payment := purchase(t, mock, pack, player)
	p.until("report", "units claimable: ", "5") // nobody is online
	game.calmDown()                             // everybody is there
	game.tell(t.Context(), calls+"/joined/acc-1001")
	p.requireGranted(mock, payment)
	require.Zero(t, game.requireOnce(t, map[string]bool{
		payment + ":1:1": true, payment + ":1:2": true, payment + ":1:3": true, payment + ":1:4": true, payment + ":1:5": true,
	}, nil))
}

// TestDemoStays: what --stay is for: a stranger plays on, with a connection to the town and
// the store, and types at the console.
func TestDemoStays(t *testing.T) {
	t.Parallel()
	p := startProgram(t, "--demo", "--stay")
	store, _, _ := strings.Cut(p.hear("The store is at "), "/store/")
	town, _, _ := strings.Cut(p.hear("players connect to "), " ")
	p.hear("Operator's commands go here")
	say := connect(t, town)
	say("help", "login ACCOUNT, inventory")
	say("login acc-1001", "Hello acc-1001")
	say("login acc-1002", "you are acc-1001 already")
	say("inventory", "You carry 1 things: sword (") // with the key, for drop

	id := productNamed(t, store, "Sword")
	bought := control(t, store+"/_mock/buy", `{"product":"`+id+`","user":"acc-1001"}`)
	control(t, store+"/_mock/payments/"+bought["id"].(string)+"/deposit", `{"payer":"Steve"}`)
	say("", "You got: sword (")
	p.until("report", "units granted: ", "8") // seven of them in the story
	p.ask("pending", "nothing is pending")
}

func productNamed(t *testing.T, service, name string) string {
	t.Helper()
	resp, err := http.Get(service + "/_mock/products")
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	var list struct{ Products []struct{ ID, Name string } }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	for _, p := range list.Products {
		if p.Name == name {
			return p.ID
		}
	}
	require.Fail(t, "no product "+name)
	return ""
}

func control(t *testing.T, address, body string) (answer map[string]any) {
	t.Helper()
	resp, err := http.Post(address, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Equal(t, http.StatusOK, resp.StatusCode, answer)
	return answer
}
