package mockserver

// TB is what [RunT] and the checks, such as [Server.CheckDelivered], need of a test:
// *testing.T, *testing.B and *testing.F have it, and so have the tests of other
// frameworks.
type TB interface {
	// Helper marks the caller as a helper of the test.
	Helper()
	// Cleanup registers a function to call when the test is over.
	Cleanup(func())
	// Errorf reports a failure.
	Errorf(format string, args ...any)
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
	// Logf reports a fact.
	Logf(format string, args ...any)
}

// RunT starts a server for the length of one test, on a loopback port that the
// system chooses, and closes it when the test is over. At most one Config is
// given; without one the defaults count.
//
// It opens a socket, which a testing/synctest bubble cannot wait for: use [New]
// and [Server.Transport] there.
func RunT(t TB, cfg ...Config) *Server {
	t.Helper()
	if len(cfg) > 1 {
		t.Fatalf("mockserver: RunT takes at most one Config, not %d", len(cfg))
		return nil
	}
	s, err := New(append(cfg, Config{})[0])
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Logf("%v", err)
		}
	})
	return s
}
