package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
)

const (
	maxSecrets      = 2
	minSecretLength = 22
)

// validateSecrets returns an error that contains no secret.
func validateSecrets(secrets []string) error {
	if len(secrets) > maxSecrets {
		return fmt.Errorf("webhook: Config.PathSecrets: has %d entries; at most %d may be valid at once, old and new",
			len(secrets), maxSecrets)
	}
	for i, secret := range secrets {
		switch {
		case len(secret) < minSecretLength:
			return fmt.Errorf("webhook: Config.PathSecrets[%d]: is shorter than %d characters", i, minSecretLength)
		case strings.ContainsFunc(secret, func(r rune) bool { return !unreserved(r) }):
			return fmt.Errorf("webhook: Config.PathSecrets[%d]: has characters that may be escaped in a path; "+
				"use A-Z a-z 0-9 - . _ ~", i)
		case i > 0 && secret == secrets[0]:
			return fmt.Errorf("webhook: Config.PathSecrets[%d]: is the same as the one before", i)
		}
	}
	return nil
}

// unreserved reports whether r is never escaped in a path (RFC 3986 §2.3).
func unreserved(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r)
}

// secretHashes are the hashes of the valid secrets. Without any, every path is valid.
type secretHashes [][sha256.Size]byte

func hashSecrets(secrets []string) secretHashes {
	hashes := make(secretHashes, len(secrets))
	for i, secret := range secrets {
		hashes[i] = sha256.Sum256([]byte(secret))
	}
	return hashes
}

// match compares the last segment of path with every secret. Its time depends on the
// length of the path, not on the secrets.
func (s secretHashes) match(path string) bool {
	if len(s) == 0 {
		return true
	}
	got := sha256.Sum256([]byte(path[strings.LastIndexByte(path, '/')+1:]))
	matches := 0
	for i := range s {
		matches |= subtle.ConstantTimeCompare(got[:], s[i][:])
	}
	return matches == 1
}
