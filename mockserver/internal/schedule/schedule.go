// Package schedule keeps timers in the order in which they are due: the agenda of a
// clock that a test may stop or move.
package schedule

import (
	"cmp"
	"container/heap"
	"time"
)

// Timer is something that happens at a time.
type Timer struct {
	// At is when it is due.
	At time.Time
	// Fire lets it happen. The queue does not call it.
	Fire func()

	seq   uint64 // timers of one instant keep the order of scheduling
	index int    // position in the heap, -1 when out of it
}

// Done is a Timer that is over, to be kept in place of one that holds memory.
var Done = &Timer{index: -1}

// Planned reports whether the timer is in its queue. It is false for nil.
func (t *Timer) Planned() bool { return t != nil && t.index >= 0 }

// Compare orders timers by their time and then by when they were scheduled.
func Compare(a, b *Timer) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.seq, b.seq))
}

// Queue holds timers, the earliest first. The zero Queue is empty.
type Queue struct {
	heap timerHeap
	seq  uint64
}

// Push adds a timer.
func (q *Queue) Push(at time.Time, fire func()) *Timer {
	q.seq++
	t := &Timer{At: at, Fire: fire, seq: q.seq}
	heap.Push(&q.heap, t)
	return t
}

// Len is how many timers there are.
func (q *Queue) Len() int { return len(q.heap) }

// First is the earliest timer, nil when there is none.
func (q *Queue) First() *Timer {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

// Remove takes a timer out; nil and a timer that is out already are fine.
func (q *Queue) Remove(t *Timer) {
	if t.Planned() {
		heap.Remove(&q.heap, t.index)
	}
}

type timerHeap []*Timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return Compare(h[i], h[j]) < 0 }

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
