package main

import "sync"

// listeners counts the pages that listen, by order.
type listeners struct {
	mu      sync.Mutex
	all     int
	byOrder map[string]int
}

// enter takes a place for a page of the order, if one is free.
func (l *listeners) enter(order string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxListeners || l.byOrder[order] >= maxPerOrder {
		return false
	}
	if l.byOrder == nil {
		l.byOrder = map[string]int{}
	}
	l.all++
	l.byOrder[order]++
	return true
}

func (l *listeners) leave(order string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.byOrder[order]--; l.byOrder[order] == 0 {
		delete(l.byOrder, order)
	}
}
