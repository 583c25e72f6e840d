package mockserver

// SetFaults replaces all faults, counts calls from 1 again and empties the fault log.
// The zero Faults ends all trouble. The error is an [*Error] that names the field.
func (s *Server) SetFaults(f Faults) error { return asError(s.faults.set(f)) }

// AddFault adds a rule after those that are there. The error is an [*Error] that names
// the field; at 1000 rules it is [CodeStorageFull].
func (s *Server) AddFault(f Fault) error { return asError(s.faults.add(f)) }

// ClearFaults ends all trouble and empties the fault log. What was delayed before still
// comes late.
func (s *Server) ClearFaults() { s.faults.clear() }

// Faults returns a copy of the faults that are set.
func (s *Server) Faults() Faults { return s.faults.current() }

// FaultLog returns what faults did, sorted by operation (in the order of
// [FaultOperations]) and number of the call, at most the last 10,000 of each
// operation. The same faults and the same calls make the same log.
func (s *Server) FaultLog() []FaultEvent { return s.faults.entries() }
