package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/depositpay/depositpay-go/examples/gameserver/grant"
	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/inbox/sqlite"
	"github.com/depositpay/depositpay-go/payments"
	"github.com/depositpay/depositpay-go/poller"
	"github.com/depositpay/depositpay-go/webhook"
)

// server is everything that runs: what comes from the service, the ledger, the game.
type server struct {
	cfg    settings
	ledger *inbox.SQLite
	box    *inbox.Inbox
	book   *grant.Book
	watch  *grant.Watch
	poller *poller.Poller
	hook   *webhook.Handler
	desk   *grant.Desk
	game   grant.Game
	town   *town        // if the game is the text-mode one
	ln     net.Listener // for webhooks and the game's calls, if there is one
}

// clocksDiffer is by how much the service's clock may be behind this one.
const clocksDiffer = time.Minute

// open makes everything and starts nothing.
func open(ctx context.Context, cfg settings) (*server, error) {
	s := &server{cfg: cfg}
	err := s.openLedger(ctx)
	if err == nil {
		err = s.listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openLedger makes everything but the game and the ports.
func (s *server) openLedger(ctx context.Context) error {
	cfg := s.cfg
	catalogue, err := grant.NewCatalogue(cfg.Catalogue...)
	if err != nil {
		return err
	}
	client, err := payments.New(payments.Config{BaseURL: cfg.URL, Token: cfg.token, GameProductField: cfg.ProductField})
	if err != nil {
		return err
	}
	// One process has the ledger: a second one ends here, before it polls.
	if s.ledger, err = sqlite.Open(cfg.Ledger, nil); err != nil {
		return err
	}
	s.watch = &grant.Watch{Client: client, Margin: cfg.pace.margin}
	s.book, err = grant.Open(ctx, grant.Config{
		SQLite: s.ledger, Catalogue: catalogue,
		Every: cfg.pace.every, LookEvery: cfg.pace.look, BackoffMin: cfg.pace.backoff,
	})
	if err != nil {
		return err
	}
	s.box, err = inbox.Open(ctx, inbox.Config{
		SQLite: s.ledger, Client: s.watch, Handler: s.book.Handle, HandlerTimeout: 5 * time.Second, Catalogue: catalogue.Inbox(),
		NotBefore: s.notBefore(), // a new ledger does not know what was given before
	})
	if err != nil {
		return err
	}
	hook := webhook.Config{Client: s.watch, Ledger: s.box.Webhook()}
	if cfg.HookSecret != "" {
		hook.PathSecrets = []string{cfg.HookSecret}
	}
	if s.hook, err = webhook.New(hook); err != nil {
		return err
	}
	s.poller, err = poller.New(poller.Config{Client: client, Ledger: s.box.Poller(), IntervalMin: cfg.pace.pollMin, IntervalMax: cfg.pace.pollMax})
	if err != nil {
		return err
	}
	s.desk = &grant.Desk{Book: s.book, Box: s.box, Poller: s.poller, Watch: s.watch, Secrets: []string{cfg.token, cfg.secret, cfg.HookSecret}}
	return nil
}

func (s *server) notBefore() time.Time {
	if born := s.book.Born().Add(-clocksDiffer); born.After(s.cfg.NotBefore) {
		return born
	}
	return s.cfg.NotBefore
}

// listen opens the ports and chooses the game.
func (s *server) listen(ctx context.Context) (err error) {
	if s.cfg.Town != "" {
		if s.town, err = openTown(ctx, s.cfg.Town, s.ledger, s.book); err != nil {
			return err
		}
		s.game = s.town
	} else if s.game, err = s.cfg.game(); err != nil {
		return err
	}
	if s.cfg.Listen != "" {
		s.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Listen)
	}
	return err
}

func (s *server) addresses() string {
	var lines []string
	if s.town != nil {
		lines = append(lines, "players connect to "+s.town.ln.Addr().String()+" (telnet or nc, then: login ACCOUNT)")
	}
	if s.ln != nil {
		path := "/hook"
		if s.cfg.HookSecret != "" {
			path += "/, followed by hook_secret"
		}
		lines = append(lines, "webhooks come to http://"+s.ln.Addr().String()+path)
	}
	return strings.Join(lines, "\n")
}

// serve runs everything until ctx ends or a part fails, and closes it. Polling ends first,
// then what hands over; the ledger is closed last.
func (s *server) serve(ctx context.Context, ready func()) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	in, out := &parts{failed: stopIntake}, &parts{failed: stopIntake}
	out.Go(func() error { return s.box.Run(work) })
	out.Go(func() error { return s.book.Run(work, s.game) })
	out.Go(func() error { return s.keepWatch(work) })
	in.Go(func() error { return s.poll(intake) })
	if s.town != nil {
		in.Go(func() error { return s.town.serve(intake) })
	}
	if s.ln != nil {
		in.Go(func() error { return s.serveHTTP(intake) })
	}
	ready()
	err := in.Wait()
	stopWork()
	return errors.Join(err, out.Wait(), s.close())
}

// poll runs the poller. Webhooks, players and the game go on without it.
func (s *server) poll(ctx context.Context) error {
	err := s.poller.Run(ctx)
	if ctx.Err() == nil {
		slog.ErrorContext(ctx, "gameserver: polling has ended", slog.Any("error", err))
		<-ctx.Done()
	}
	return err
}

func (s *server) close() error {
	var errs []error
	if s.ln != nil {
		if err := s.ln.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.town != nil {
		errs = append(errs, s.town.close())
	}
	if c, ok := s.game.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if s.box != nil {
		errs = append(errs, s.box.Close())
	}
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	return errors.Join(errs...)
}

// keepWatch looks for a second poller.
func (s *server) keepWatch(ctx context.Context) error {
	every := time.NewTicker(max(time.Second, s.cfg.pace.margin))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if _, err := s.watch.Check(ctx, s.box); err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "gameserver: not looked for a second poller", slog.Any("error", err))
			}
		}
	}
}

// serveHTTP takes webhooks, and the calls of a game in another process.
func (s *server) serveHTTP(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("/hook", s.hook)
	mux.Handle("/hook/", s.hook)
	mux.HandleFunc("POST /joined/{account}", s.fromGame(s.book.Joined))
	mux.HandleFunc("POST /claim/{account}", s.fromGame(s.book.Claim))
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(s.ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("the port for webhooks failed: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(web.Shutdown(stop), s.hook.Wait(stop))
}
