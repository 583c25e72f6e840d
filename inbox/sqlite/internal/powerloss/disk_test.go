//go:build linux

package powerloss_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

const sector = 512

// disk knows what of the files in one directory would survive a power cut. What happens
// on it counts as one step each; at the step of arm the power goes, and from then on
// everything fails.
type disk struct {
	dir string
	rng *rand.Rand // of lose

	mu      sync.Mutex
	names   map[string]*node // as programs see them
	synced  map[string]*node // as they are without what is in pending
	pending []naming         // in order
	left    int              // steps until the power goes
	bell    int              // steps until rung is closed
	rung    chan struct{}
	off     chan struct{} // closed: no power
}

// node is the content of a file, whatever its name.
type node struct {
	synced  []byte
	pending []change
}

// change is a write, or a truncation if data is nil.
type change struct {
	offset int64
	data   []byte
}

// naming gives a file a name, or takes it away if node is nil.
type naming struct {
	name string
	node *node
}

// newDisk watches dir. Files that are there count as synced: package inbox/sqlite creates
// the two databases itself, and syncs the directory; its TestNamesAreSynced sees to that.
func newDisk(dir string, rng *rand.Rand) *disk {
	d := &disk{dir: dir, rng: rng, names: map[string]*node{}, synced: map[string]*node{}, off: make(chan struct{}), left: -1}
	disks.Store(dir, d)
	return d
}

// forget ends the watch.
func (d *disk) forget() { disks.Delete(d.dir) }

// arm lets the power go after n more steps.
func (d *disk) arm(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
}

// call closes rung after n more steps.
func (d *disk) call(n int, rung chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bell, d.rung = n, rung
}

// step counts, and reports whether there is power. The caller holds d.mu.
func (d *disk) step() bool {
	select {
	case <-d.off:
		return false
	default:
	}
	if d.bell--; d.bell == 0 {
		close(d.rung)
	}
	if d.left > 0 {
		if d.left--; d.left == 0 {
			close(d.off)
			return false
		}
	}
	return true
}

// cut takes the power away now.
func (d *disk) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.off:
	default:
		close(d.off)
	}
}

func (d *disk) open(name string, create bool) (*node, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.names[name]; n != nil {
		return n, true
	}
	content, err := os.ReadFile(name)
	switch {
	case err == nil: // made by somebody else, who synced it
		n := &node{synced: content}
		d.names[name], d.synced[name] = n, n
		return n, true
	case !errors.Is(err, fs.ErrNotExist) || !create:
		return nil, true // SQLite's own file system tells what is wrong
	case !d.step():
		return nil, false
	}
	n := &node{}
	d.names[name] = n
	d.pending = append(d.pending, naming{name, n})
	return n, true
}

func (d *disk) remove(name string, syncDirectory bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.step() {
		return false
	}
	delete(d.names, name)
	d.pending = append(d.pending, naming{name, nil})
	if syncDirectory {
		d.syncNames()
	}
	return true
}

// syncNames expects d.mu to be held.
func (d *disk) syncNames() {
	apply(d.synced, d.pending)
	d.pending = nil
}

func apply(names map[string]*node, namings []naming) {
	for _, n := range namings {
		if n.node == nil {
			delete(names, n.name)
			continue
		}
		names[n.name] = n.node
	}
}

// write remembers a write. The one at which the power goes may reach the disk as well.
func (d *disk) write(n *node, data []byte, offset int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.off:
		return false
	default:
	}
	n.pending = append(n.pending, change{offset, append([]byte{}, data...)})
	return d.step()
}

func (d *disk) truncate(n *node, size int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.step() {
		return false
	}
	n.pending = append(n.pending, change{offset: size})
	return true
}

// sync makes a file's content last and, as SQLite's own file system does for a file that
// it has just created, the file's name.
func (d *disk) sync(n *node) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.step() {
		return false
	}
	for _, c := range n.pending {
		n.synced = c.on(n.synced)
	}
	n.pending = nil
	for i := range d.pending {
		if d.pending[i].node == n {
			d.syncNames()
			break
		}
	}
	return true
}

func (c change) on(content []byte) []byte {
	end := c.offset + int64(len(c.data))
	if c.data == nil && end < int64(len(content)) {
		return content[:end]
	}
	if end > int64(len(content)) {
		content = append(content, make([]byte, end-int64(len(content)))...)
	}
	copy(content[c.offset:], c.data)
	return content
}

// lose leaves in the directory what survives, and gives power again. No file may be open.
func (d *disk) lose() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	apply(d.synced, d.pending[:d.rng.IntN(len(d.pending)+1)]) // a directory keeps its order
	d.pending, d.names = nil, d.synced
	d.synced = map[string]*node{}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(d.dir, e.Name())
		if filepath.Ext(name) != ".db-lock" {
			err = errors.Join(err, os.Remove(name))
		}
	}
	for name, n := range d.names {
		n.lose(d.rng)
		d.synced[name] = n
		err = errors.Join(err, os.WriteFile(name, n.synced, 0o600))
	}
	d.off, d.left, d.bell = make(chan struct{}), -1, 0
	return err
}

// lose decides for each change that was not synced: lost, kept, or kept in some sectors.
func (n *node) lose(rng *rand.Rand) {
	for _, c := range n.pending {
		switch rng.IntN(3) {
		case 0:
			n.synced = c.on(n.synced)
		case 1:
			for at := 0; at < len(c.data); at += sector {
				if rng.IntN(2) == 0 {
					n.synced = change{c.offset + int64(at), c.data[at:min(at+sector, len(c.data))]}.on(n.synced)
				}
			}
		}
	}
	n.pending = nil
}
