package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/mockserver"
	"github.com/depositpay/depositpay-go/payments"
)

// demo is the service with its store, the game server, and a game in the same process.
type demo struct {
	mu       sync.Mutex // of out
	out      io.Writer
	mock     *mockserver.Server
	s        *server
	town     *town
	products map[string]string // ids by name
	paid     []string          // payments
}

const steve, alex = "acc-steve", "acc-alex"

func playDemo(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gameserver-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{out: out, products: map[string]string{}}
	if d.mock, err = mockserver.New(mockserver.Config{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.mock.Close()) }()
	cfg, err := d.stock(filepath.Join(dir, "payments.db"))
	if err != nil {
		return err
	}
	if d.s, err = open(ctx, cfg); err != nil {
		return err
	}
	if d.town, err = openTown(ctx, d.s.ledger, d.s.book, d.say); err != nil {
		return errors.Join(err, d.s.close())
	}
	d.s.game = d.town
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	told := make(chan error, 1)
	err = d.s.serve(ctx, func() {
		go func() {
			defer stop()
			told <- d.story(ctx)
		}()
	})
	return errors.Join(<-told, err)
}

// stock starts the service, fills its dashboard, and returns settings that fit.
func (d *demo) stock(ledger string) (settings, error) {
	err := d.mock.Start()
	cfg := settings{
		URL: d.mock.URL(), token: d.mock.Token(), pollEvery: 100 * time.Millisecond,
		Ledger: ledger, NotBefore: time.Now().Add(-time.Minute), Listen: "127.0.0.1:0",
	}
	pack := []string{"shield", "potion", "potion", "potion", "potion"}
	for name, items := range map[string][]string{"sword": {"sword"}, "pack": pack} {
		p, failed := d.mock.SaveProduct(mockserver.Product{Name: name, Price: 3000})
		err = errors.Join(err, failed)
		d.products[name] = p.ID
		cfg.Catalogue = append(cfg.Catalogue, grant.Product{ID: p.ID, Price: payments.NewAmount(p.Price), Items: items})
	}
	for _, account := range []string{steve, alex} {
		_, failed := d.mock.SaveStoreUser(mockserver.StoreUser{ID: account, Name: account})
		err = errors.Join(err, failed)
	}
	return cfg, err
}

func (d *demo) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = fmt.Fprintf(d.out, format+"\n", args...)
}

// story is told step by step: after each, every unit is granted or has a reason to wait.
func (d *demo) story(ctx context.Context) error {
	join := func(account string) error { return d.town.join(ctx, account) }
	for _, step := range []struct {
		says string
		do   func() error
	}{
		{"Steve joins.", func() error { return join(steve) }},
		{"Steve buys a sword.", func() error { return d.buy("sword", steve) }},
		{"Alex is offline and buys a shield and four potions.", func() error { return d.buy("pack", alex) }},
		{"Alex joins, and can carry four things.", func() error { return join(alex) }},
		{"Alex drops the shield", func() error { return d.town.drop(ctx, alex, "shield") }},
		{"and types /claim.", func() error { return join(alex) }},
		{"Alex says that a potion never came. The operator looks", func() error { return d.operator(ctx, "show "+alex) }},
		{"and cannot give it twice.", func() error { return d.operator(ctx, "retry "+d.paid[1]+":2 Alex asked") }},
	} {
		d.say("%s", step.says)
		if err := errors.Join(step.do(), d.settled(ctx)); err != nil {
			return err
		}
	}
	if n := d.town.gave.Load(); n != 6 {
		return fmt.Errorf("the game gave %d units, want 6", n)
	}
	d.say("gave 6 of 6 units, each once")
	return nil
}

func (d *demo) operator(ctx context.Context, line string) error {
	var answer strings.Builder
	err := d.s.desk.Do(ctx, &answer, "the demo", line)
	d.say("> %s\n%s", line, strings.TrimSpace(answer.String()))
	return err
}

// buy is a player in the store, and then at the bank.
func (d *demo) buy(product, account string) error {
	bought, err := d.mock.Buy(d.products[product], account)
	if err != nil {
		return err
	}
	d.paid = append(d.paid, bought.ID)
	_, err = d.mock.Deposit(bought.ID, mockserver.Deposit{Payer: account})
	return err
}

// settled waits until every unit that was paid for is granted, or has a reason to wait.
func (d *demo) settled(ctx context.Context) error {
	moving := func(g grant.Grant) bool { return g.State != grant.Granted && g.Reason == "" }
	for _, payment := range d.paid {
		var units []grant.Grant
		for len(units) == 0 || slices.ContainsFunc(units, moving) {
			<-time.After(10 * time.Millisecond)
			var err error
			if units, err = d.s.book.OfPayment(ctx, payment); err != nil {
				return err
			}
		}
	}
	return nil
}
