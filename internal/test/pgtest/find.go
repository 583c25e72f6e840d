package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// errNoBinaries is what findBinaries says when there are none.
var errNoBinaries = errors.New("neither on PATH nor in the usual folders is there a postgres with its initdb")

// usual are the folders in which packages put the server, which is rarely on PATH.
var usual = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBinaries returns a folder that has both postgres and initdb.
func findBinaries(folders []string) (string, error) {
	var candidates []string
	if onPath, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(onPath); err == nil {
			candidates = append(candidates, filepath.Dir(real)) // initdb is next to the real one
		}
	}
	for _, pattern := range folders {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
		candidates = append(candidates, found...)
	}
	for _, folder := range candidates {
		if isProgram(filepath.Join(folder, "postgres")) && isProgram(filepath.Join(folder, "initdb")) {
			return folder, nil
		}
	}
	return "", errNoBinaries
}

// version is the first whole number in the name of a folder: 9 is older than 15.
func version(folder string) int {
	digits := strings.FieldsFunc(folder, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(digits[0])
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
