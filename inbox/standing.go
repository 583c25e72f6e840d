package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/depositpay/depositpay-go/webhook"
)

// lookup is a question about one payment. Questions that come at once are asked in one
// query: a flood of webhooks would otherwise be one of round trips.
type lookup struct {
	id    string
	stage Stage
	own   bool
}

// An own payment that reconciliation asks for no more counts as a stranger's, so that its
// webhook is written down before it is confirmed.
const sqlLookup = `SELECT payment_id, stage, CASE WHEN first_seen > {now} - ?2 THEN own ELSE 0 END FROM {p}payments WHERE payment_id IN ({list})`

// lookUp answers a group of questions.
func (b *Inbox) lookUp(asked []*lookup) error {
	ids := make([]string, len(asked))
	for i, l := range asked {
		ids[i] = l.id
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	rows, err := queryRows(ctx, b.store.lookups(), b.d.sql(sqlLookup), scanLookup, string(text), (b.cfg.OutstandingFor / 2).Microseconds())
	if err != nil {
		return err
	}
	found := make(map[string]lookup, len(rows))
	for _, l := range rows {
		found[l.id] = l
	}
	for _, l := range asked {
		if f, ok := found[l.id]; ok {
			*l = f
		}
	}
	return nil
}

func scanLookup(rows *sql.Rows) (l lookup, err error) {
	var own int
	err = rows.Scan(&l.id, &l.stage, &own)
	l.own = own != 0
	return l, err
}

// Handled reports whether the payment's record is durable; it satisfies webhook.Sink.
func (b *Inbox) Handled(ctx context.Context, id uuid.UUID) (bool, error) {
	s, err := b.Standing(ctx, id)
	return s == webhook.StandingHandled, err
}

// Standing tells how the payment of a webhook stands; it satisfies webhook.Ledger. A
// payment whose record is durable is in safe hands, whatever becomes of it. While the store
// is known to take nothing the others have an error, so that they are not confirmed.
func (b *Inbox) Standing(ctx context.Context, id uuid.UUID) (webhook.Standing, error) {
	waiting, held := b.store.unfolded(id)
	if held && waiting.Kind != opBind {
		return webhook.StandingHandled, nil
	}
	standing, known := b.standings.get(id)
	if known && standing == webhook.StandingHandled {
		return standing, nil
	}
	if err := b.mayConfirm(ctx); err != nil {
		return webhook.StandingUnknown, fmt.Errorf("inbox: payment %s: %w", id, err)
	}
	if known {
		return standing, nil
	}
	l := &lookup{id: id.String()}
	if err := b.asking.do(ctx, l); err != nil {
		return webhook.StandingUnknown, fmt.Errorf("inbox: payment %s: %w", id, err)
	}
	standing = l.standing()
	if held {
		standing = max(standing, webhook.StandingExpected)
	}
	b.standings.add(id, standing)
	return standing, nil
}

func (l *lookup) standing() webhook.Standing {
	switch {
	case l.stage >= StageReady:
		return webhook.StandingHandled
	case l.own:
		return webhook.StandingExpected
	}
	return webhook.StandingUnknown
}
