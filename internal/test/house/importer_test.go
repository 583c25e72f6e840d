package house_test

import (
	"archive/zip"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// linked are the modules of others that an importer of payments gets.
var linked = []string{
	"github.com/google/uuid", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp", "golang.org/x/time",
}

// importerMod and importerMain are a program of somebody who uses what our tests use, too, at
// versions of 2021 to 2025.
const (
	importerMod = `module example.com/merchant

go 1.26.0

require (
	github.com/chromedp/chromedp v0.9.5
	github.com/google/uuid v1.3.0
	github.com/hashicorp/go-retryablehttp v0.7.7
	github.com/jackc/pgx/v5 v5.7.1
	github.com/jarcoal/httpmock v1.3.0
	github.com/stretchr/testify v1.9.0
	github.com/urfave/cli/v3 v3.0.0-beta1
	go.uber.org/goleak v1.2.1
	go.yaml.in/yaml/v3 v3.0.2
	golang.org/x/net v0.25.0
	golang.org/x/time v0.5.0
	modernc.org/sqlite v1.40.0
	pgregory.net/rapid v1.1.0
)
`
	importerMain = `package main

import (
	_ "github.com/chromedp/chromedp"
	_ "github.com/google/uuid"
	_ "github.com/hashicorp/go-retryablehttp"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/jarcoal/httpmock"
	_ "github.com/stretchr/testify/require"
	_ "github.com/urfave/cli/v3"
	_ "go.uber.org/goleak"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/net/html"
	_ "golang.org/x/time/rate"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)

func main() {}
`
)

// TestImporterKeepsItsVersions: none of an importer's versions is raised, and its go.mod gains
// only what our packages link. inbox/sqlite raises SQLite alone, on purpose.
func TestImporterKeepsItsVersions(t *testing.T) {
	t.Parallel()
	needsModules(t)
	before := tidied(t, importerMod, importerMain)
	require.Greater(t, len(before), 13)
	for _, packages := range [][]string{{"payments"}, {"payments", "banks", "webhook", "poller", "inbox", "mockserver"}} {
		after := tidied(t, importerMod, importerMain, packages...)
		assert.Contains(t, after, module)
		delete(after, module)
		assert.Equal(t, before, after, "an importer of %v", packages)

		alone := tidied(t, "module example.com/merchant\n\ngo 1.26.0\n", "package main\n\nfunc main() {}\n", packages...)
		assert.Subset(t, append(linked, module), slices.Collect(maps.Keys(alone)), "an importer of %v alone", packages)
	}

	after := tidied(t, importerMod, importerMain, "inbox/sqlite")
	mod := requirements(read(t, filepath.Join(repository, "inbox/sqlite/go.mod")))
	for path, version := range requirements(importerMod) {
		if path == "modernc.org/sqlite" || path == "github.com/google/uuid" { // which SQLite requires
			version = mod[path]
		}
		assert.Equal(t, version, after[path], "an importer of inbox/sqlite: %s", path)
	}
}

// TestReleasedCommandInstalls: once this commit has a version, go install finds and builds
// cmd/depositpay. A module proxy of files has the version.
func TestReleasedCommandInstalls(t *testing.T) {
	t.Parallel()
	needsModules(t)
	proxy, cache, bin := t.TempDir(), t.TempDir(), t.TempDir()
	command := module + "/cmd/depositpay"
	version := requirements(read(t, filepath.Join(repository, "cmd/depositpay/go.mod")))[module]
	require.Equal(t, version, requirements(read(t, filepath.Join(repository, "inbox/sqlite/go.mod")))[module], "the modules are released together")
	release(t, proxy, repository, module, version)
	release(t, proxy, filepath.Join(repository, "cmd/depositpay"), command, version)

	out, err := goCommand(t, "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	machine := strings.Fields(string(out))
	require.Len(t, machine, 2)
	install := goCommand(t, "install", command+"@latest")
	install.Dir = bin
	install.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOBIN="+bin, "GOMODCACHE="+cache, "GONOSUMDB="+module,
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(machine[0], "cache/download")+","+machine[1])
	out, err = install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), filepath.Join(bin, "depositpay"), "help").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "run the mock payment service")
}

func needsModules(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it may download modules")
	}
}

// release adds a version of the module in the folder to a proxy.
func release(t *testing.T, proxy, folder, path, version string) {
	t.Helper()
	versions := filepath.Join(proxy, path, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o700))
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": read(t, filepath.Join(folder, "go.mod")),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	require.NoError(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if name != folder && nested == nil || entry.Name() == ".git" || entry.Name() == "out" {
				return filepath.SkipDir
			}
			return nil
		}
		inside, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		w, err := archive.Create(path + "@" + version + "/" + filepath.ToSlash(inside))
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, read(t, name))
		return err
	}))
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
}

// tidied makes a program that imports packages of ours, and returns the versions in its
// go.mod after go mod tidy.
func tidied(t *testing.T, mod, main string, packages ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	ours := "package main\n"
	for _, name := range packages {
		ours += "\nimport _ \"" + module + "/" + name + "\"\n"
	}
	if packages != nil {
		mod += "\nreplace " + module + " => " + root + "\n\nreplace " + module + "/inbox/sqlite => " + root + "/inbox/sqlite\n"
	}
	for name, text := range map[string]string{"go.mod": mod, "main.go": main, "ours.go": ours} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	tidy := goCommand(t, "mod", "tidy")
	tidy.Dir = dir
	tidy.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := tidy.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return requirements(read(t, filepath.Join(dir, "go.mod")))
}

// requirements are the versions in a go.mod.
func requirements(mod string) map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:\t|require )(\S+) (v\S+)`).FindAllStringSubmatch(mod, -1) {
		all[m[1]] = m[2]
	}
	return all
}
