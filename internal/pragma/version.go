package pragma

import (
	"fmt"
	"strconv"
	"strings"
)

// oldest is the first SQLite whose WAL file cannot be reset under a reader's feet. From
// 3.7.0 to 3.51.2 two connections that write and checkpoint could corrupt the database.
var oldest = [3]int{3, 51, 3}

// checkVersion refuses a library that is older than oldest, or that does not say.
func checkVersion(file, version string) error {
	refusal := &Error{
		File:   file,
		Got:    fmt.Sprintf("SQLite is %q, older than %d.%d.%d", version, oldest[0], oldest[1], oldest[2]),
		Reason: "its WAL-reset bug could corrupt the ledger",
		Fix:    "raise the version of the SQLite driver in go.mod",
	}
	fields := strings.SplitN(version, ".", 4)
	for i, least := range oldest {
		if i >= len(fields) {
			return refusal
		}
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < least {
			return refusal
		}
		if n > least {
			return nil
		}
	}
	return nil
}
