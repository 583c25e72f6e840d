package main

import (
	"errors"
	"sync"
)

// parts run at once. If one fails, failed is called, and the error is Wait's.
type parts struct {
	failed func()
	sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (p *parts) Go(run func() error) {
	p.WaitGroup.Go(func() {
		if err := run(); err != nil {
			p.mu.Lock()
			p.errs = append(p.errs, err)
			p.mu.Unlock()
			p.failed()
		}
	})
}

func (p *parts) Wait() error {
	p.WaitGroup.Wait()
	return errors.Join(p.errs...)
}
