package inbox_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"

	"github.com/anishathalye/porcupine"

	"github.com/depositpay/depositpay-go/inbox"
	"github.com/depositpay/depositpay-go/payments"
)

type does string

const (
	doesAccept   does = "accept"
	doesGet      does = "get"
	doesStanding does = "standing"
	doesApprove  does = "approve"
	doesRetry    does = "retry"
	doesClaim    does = "claim"
	doesHandle   does = "handle"
)

type linearIn struct {
	does    does
	id      string
	paid    bool  // of accept: the amount is above 0
	attempt int64 // of handle: the claim's
}

type linearOut struct {
	known   bool        // of get and standing; of a decision: it was possible
	stage   inbox.Stage // of get
	paid    bool        // of get
	attempt int64       // of claim
	ended   string      // of handle
}

// linearGrant writes its effect and ends in one of three ways.
func linearGrant(ctx context.Context, tx *sql.Tx, p payments.Payment) error {
	if err := grant(ctx, tx, p); err != nil {
		return err
	}
	switch rand.IntN(4) {
	case 0:
		return inbox.Cancel(errors.New("not sold any more"))
	case 1:
		return errors.New("out of stock")
	}
	return nil
}

// linearState is one payment.
type linearState struct {
	known, paid, approved bool
	stage                 inbox.Stage
	attempt               int64
	other                 bool // the latest record that differed
	differed              bool // there is one
}

// linearModel is one payment, one thing after the other.
var linearModel = porcupine.Model{
	Init: func() any { return linearState{} },
	Step: func(state, input, output any) (bool, any) {
		s, out := state.(linearState), output.(linearOut)
		return s.step(input.(linearIn), out)
	},
}

func (s linearState) step(in linearIn, out linearOut) (possible bool, next linearState) {
	switch in.does {
	case doesAccept:
		return true, s.accept(in.paid)
	case doesGet:
		return out.known == s.known && (!s.known || out.stage == s.stage && out.paid == s.paid), s
	case doesStanding:
		return out.known == s.known, s
	case doesApprove:
		possible = s.known && s.stage == inbox.StageReview
		if possible {
			s.stage, s.approved = inbox.StageReady, true
		}
		return out.known == possible, s
	case doesRetry:
		possible = s.known && s.stage == inbox.StageDead
		if possible {
			s.stage = inbox.StageReady
		}
		return out.known == possible, s
	case doesClaim:
		s.attempt++
		return s.known && s.stage == inbox.StageReady && out.attempt == s.attempt, s
	case doesHandle:
		return s.handle(in, out)
	}
	return false, s
}

func (s linearState) accept(paid bool) linearState {
	switch {
	case !s.known:
		return linearState{known: true, stage: inbox.StageReady, paid: paid}
	case s.paid == paid:
	case s.stage == inbox.StageReview:
		s.stage, s.paid = inbox.StageReady, paid
	default:
		s.differed, s.other = true, paid
	}
	return s
}

// handle ends a claim. One whose fence is gone changes nothing, and cannot end well.
func (s linearState) handle(in linearIn, out linearOut) (possible bool, next linearState) {
	fits := s.stage == inbox.StageReady && s.attempt == in.attempt
	if !fits {
		return out.ended != inbox.EndedDone, s
	}
	needsLook := !s.paid && !s.approved
	switch out.ended {
	case inbox.EndedDone:
		s.stage = inbox.StageDone
	case inbox.EndedDead:
		s.stage = inbox.StageDead
	case inbox.EndedReview:
		s.stage = inbox.StageReview
		if s.differed && s.other != s.paid {
			s.stage, s.paid = inbox.StageReady, s.other
		}
	case inbox.EndedFenced:
		return false, s
	}
	return needsLook == (out.ended == inbox.EndedReview), s
}
