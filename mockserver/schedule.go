package mockserver

import (
	"container/heap"
	"time"
)

// waits are the waits before each of the 10 attempts, each counted from the
// failure of the attempt before (interface §6.4).
var waits = [...]time.Duration{
	0,
	5 * time.Second,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour,
	20 * time.Hour,
	24 * time.Hour,
}

// webhookTimeout is how long a receiver may take to answer (interface §6.5).
const webhookTimeout = 10 * time.Second

// event is something that the clock brings: an automatic attempt of a delivery
// or, when attempt is set, the timeout of that attempt. Without a delivery it is
// the expiry of payments.
type event struct {
	at       time.Time
	seq      uint64 // events of one instant keep the order of scheduling
	delivery *delivery
	attempt  *attempt
	index    int // position in the heap, -1 when out of it
}

// spent stands for an event that is over, so that nobody need keep it.
var spent = &event{index: -1}

// eventQueue holds the events to come, the earliest first.
type eventQueue struct {
	heap eventHeap
	seq  uint64
}

func (q *eventQueue) push(at time.Time, d *delivery, a *attempt) *event {
	q.seq++
	e := &event{at: at, seq: q.seq, delivery: d, attempt: a}
	heap.Push(&q.heap, e)
	return e
}

// first is the earliest event, nil when there is none.
func (q *eventQueue) first() *event {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

// remove takes an event out; nil and an event that is out are fine.
func (q *eventQueue) remove(e *event) {
	if e != nil && e.index >= 0 {
		heap.Remove(&q.heap, e.index)
	}
}

type eventHeap []*event

func (h eventHeap) Len() int { return len(h) }

func (h eventHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}

func (h eventHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *eventHeap) Push(x any) {
	e := x.(*event)
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
