package grant_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
)

// A game in another process, with two calls.
func ExampleHTTP() {
	given := map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /players/{account}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"online": true, "free": 3}`)
	})
	mux.HandleFunc("POST /grants", func(w http.ResponseWriter, r *http.Request) {
		var d grant.Delivery
		if json.NewDecoder(r.Body).Decode(&d) != nil || r.Header.Get("Authorization") != "Bearer a-long-secret" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		answer := grant.Given
		if given[d.Key] { // kept with the item
			answer = grant.AlreadyGranted
		}
		given[d.Key] = true
		_ = json.NewEncoder(w).Encode(map[string]grant.Answer{"answer": answer})
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	game := &grant.HTTP{URL: server.URL, Secret: "a-long-secret", RefusesTwice: true, Client: server.Client()}
	ctx := context.Background()
	player, err := game.Player(ctx, account)
	check(err)
	fmt.Println("online:", player.Online, "free:", player.Free)
	for range 2 { // as after a process that was killed in between
		answer, err := game.Give(ctx, delivery(account))
		check(err)
		fmt.Println(answer, game.Refuses())
	}
	// Output:
	// online: true free: 3
	// granted true
	// already true
}

// A game behind Source RCON. What its answers look like stands in patterns.
func ExampleRCON() {
	console, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	ended := make(chan struct{})
	go func() { defer close(ended); oneConsole(console) }()

	look, err := grant.ParseCommand("data get entity {account} Pos")
	check(err)
	give, err := grant.ParseCommand("give {account} {item} 1")
	check(err)
	game := &grant.RCON{
		Address: console.Addr().String(), Password: rconPassword,
		Look: look, OnlineAnswer: regexp.MustCompile(`has the following entity data`),
		GiveUnit: give, GivenAnswer: regexp.MustCompile(`^Gave 1 `),
	}
	ctx := context.Background()
	player, err := game.Player(ctx, account)
	check(err)
	fmt.Println("online:", player.Online, "free:", player.Free)
	answer, err := game.Give(ctx, delivery(account))
	check(err)
	fmt.Println(answer, game.Refuses())
	check(game.Close())
	<-ended
	// Output:
	// online: true free: -1
	// granted false
}

// oneConsole answers one connection as a game's console does.
func oneConsole(ln net.Listener) {
	conn, err := ln.Accept()
	check(err)
	defer func() { _ = ln.Close(); _ = conn.Close() }()
	for in := bufio.NewReader(conn); ; {
		id, kind, body, err := readPacket(in)
		switch {
		case err != nil:
			return
		case kind == 3 && body == rconPassword:
			writePacket(conn, id, 2, "")
		case body == "give "+account+" sword 1":
			writePacket(conn, id, 0, "Gave 1 [sword] to Steve")
		default:
			writePacket(conn, id, 0, "Steve has the following entity data: [1.5d, 64.0d, 3.5d]")
		}
	}
}
