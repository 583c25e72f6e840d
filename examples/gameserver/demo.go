package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// demo is the story: the service with its store, the game server, and two players.
type demo struct {
	out     io.Writer
	mock    *mockserver.Server
	s       *server
	sword   mockserver.Product
	pack    mockserver.Product
	steve   mockserver.StoreUser
	alex    mockserver.StoreUser
	packKey string // the payment of the pack
}

// playDemo tells the story, from purchases in the store to items in the game.
func playDemo(ctx context.Context, stay bool, in io.Reader, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gameserver-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{out: out}
	if d.mock, err = mockserver.New(mockserver.Config{}); err != nil {
		return err
	}
	if err := d.mock.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.mock.Close()) }()
	if !stay {
		d.say("The service, its store and the game run until the story is told; --stay keeps them.")
	}
	if err := d.stock(); err != nil {
		return err
	}
	if d.s, err = open(ctx, d.settings(filepath.Join(dir, "payments.db"))); err != nil {
		return err
	}
	if err := d.mock.SetWebhook(d.mock.Token(), "http://"+d.s.ln.Addr().String()+"/hook"); err != nil {
		return errors.Join(err, d.s.close())
	}
	return d.play(ctx, stay, in)
}

// play runs the server for as long as the story takes.
func (d *demo) play(ctx context.Context, stay bool, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan error, 1)
	err := d.s.serve(ctx, func() {
		go func() {
			err := d.story(ctx)
			told <- err
			if err != nil || !stay {
				cancel()
				return
			}
			d.say("\nThe store is at %s/store/, where you pay at the checkout page and play the bank at %s/_mock/\n%s\nOperator's commands go here; try help.",
				d.mock.URL(), d.mock.URL(), d.s.addresses())
			console(ctx, d.s, in, d.out)
		}()
	})
	return errors.Join(<-told, err)
}

// stock fills the dashboard of the service: two products, two users.
func (d *demo) stock() (err error) {
	if d.sword, err = d.mock.SaveProduct(mockserver.Product{Name: "Sword", Price: 3000}); err != nil {
		return err
	}
	if d.pack, err = d.mock.SaveProduct(mockserver.Product{Name: "Hero pack", Price: 9000}); err != nil {
		return err
	}
	if d.steve, err = d.mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1001", Name: "Steve"}); err != nil {
		return err
	}
	d.alex, err = d.mock.SaveStoreUser(mockserver.StoreUser{ID: "acc-1002", Name: "Alex"})
	return err
}

// settings are the catalogue, under the ids of the dashboard, and a quick pace.
func (d *demo) settings(ledger string) settings {
	return settings{
		URL: d.mock.URL(), Ledger: ledger, Town: "127.0.0.1:0", Listen: "127.0.0.1:0", token: d.mock.Token(),
		pace: pace{pollMin: 100 * time.Millisecond, pollMax: 200 * time.Millisecond, every: 50 * time.Millisecond},
		Catalogue: []grant.Product{
			{ID: d.sword.ID, Name: d.sword.Name, Price: payments.NewAmount(d.sword.Price), PerItem: true, Lines: []grant.Line{{Item: "sword", Slots: 1}}},
			{ID: d.pack.ID, Name: d.pack.Name, Price: payments.NewAmount(d.pack.Price), Lines: []grant.Line{
				{Item: "rank:hero", OncePerOrder: true}, {Item: "potion", Count: 5, Slots: 1},
			}},
		},
	}
}

func (d *demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format+"\n", args...) }

// buy is a user in the store, and the bank.
func (d *demo) buy(p mockserver.Product, u mockserver.StoreUser) (payment string, err error) {
	bought, err := d.mock.Buy(p.ID, u.ID)
	if err != nil {
		return "", err
	}
	d.say("  %s buys %q in the store for %d and pays at %s/%s", u.Name, p.Name, p.Price, d.mock.CheckoutURL(), bought.ID)
	if _, err := d.mock.Deposit(bought.ID, mockserver.Deposit{Payer: u.Name}); err != nil {
		return "", err
	}
	d.say("  the bank has the deposit")
	return bought.ID, nil
}

// operator types a command and reads the answer.
func (d *demo) operator(ctx context.Context, line string) (string, error) {
	var answer strings.Builder
	err := d.s.desk.Do(ctx, &answer, "the demo", line)
	d.say("  operator> %s\n    %s", line, strings.ReplaceAll(strings.TrimSpace(answer.String()), "\n", "\n    "))
	return answer.String(), err
}
