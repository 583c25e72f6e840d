# The same few commands locally and in CI. Tools are pinned to exact versions and run from the
# module proxy, so they never enter the dependency graph of a program that imports the library.
# "work" names the packages of all modules in go.work; ./... stops at the border of a module.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The modules that merchants import, with the oldest versions that they require.
LIBRARIES := $(CURDIR)/internal/test/ci/libraries.work

# Where the packages and their tests must compile, besides here.
PLATFORMS := windows/amd64,darwin/arm64,freebsd/amd64,linux/arm64,linux/arm,linux/386

FUZZTIME ?= 20s
ROUNDS   ?= 5

# Of make torture. PUBLISH="docs/guarantees.md README.md" writes the figures into these files.
SEED    ?= $(shell date +%s)
MINUTES ?= 10
DB      ?= sqlite
PUBLISH ?=

.DEFAULT_GOAL := help
.PHONY: help all fmt lint quick test test-386 fresh mutants torture soak bench fuzz vuln

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

all: lint test ## lint and test

fmt: ## format the code
	go run $(GOLANGCI_LINT) fmt ./...

# The libraries are vetted with the oldest versions of their dependencies, the rest with the newest;
# go vet's analyzers run for this platform only.
lint: ## check go.mod files, vet, type check for other platforms, build without cgo, run the linters
	sh internal/test/ci/tidy.sh
	GOWORK=$(LIBRARIES) go vet work
	go vet ./cmd/depositpay/... ./examples/...
	GOWORK=off go -C internal/test/bench/riverbench vet ./...
	go run ./internal/test/ci/typecheck $(PLATFORMS) ./payments ./banks ./poller ./webhook ./mockserver ./inbox/... ./inbox/sqlite/... ./internal/sqlite ./internal/pragma ./cmd/depositpay/... ./examples/...
	CGO_ENABLED=0 go build work
	go list -m -f '{{.Dir}}/...' | xargs go run $(GOLANGCI_LINT) run

quick: ## run most tests in under a minute, before each commit
	@echo "make quick: left out: PostgreSQL, browsers, the race detector, slow tests; make test runs them"
	@DEPOSITPAY_TEST_QUICK=1 CGO_ENABLED=0 go test -short -vet=off work

# The race detector needs a C compiler; internal/test/ci/test.sh installs one where it may
# and says so loudly where it has to go without.
test: ## run all tests with the race detector, and the large ones again at full size without it
	@sh internal/test/ci/test.sh

# go test vets them as well. An amd64 Linux runs such programs.
test-386: ## test the libraries with 32 bits and with the oldest versions of their dependencies
	GOWORK=$(LIBRARIES) CGO_ENABLED=0 GOARCH=386 go test -count=1 -short ./payments ./banks ./poller ./webhook ./inbox

# See internal/test/ci/fresh.sh. It needs root, the network and a quarter of an hour.
fresh: ## run the README's two commands on a minimal Debian with only Go, git and make
	@sh internal/test/ci/fresh.sh

mutants: ## break the code in a few hundred ways, one at a time, and see a test fail each time
	DEPOSITPAY_MUTANTS=1 go test -count=1 -timeout 30m -parallel 3 ./internal/test/mutants

# See internal/test/torture. The result is written to out/ as JSON, too.
torture: ## kill, pause and crash merchants by SEED for MINUTES on DB=sqlite or postgres, then audit the ledgers
	go test -count=1 -v -timeout $$(($(MINUTES) + 15))m -run '^TestTorture$$/^$(DB)$$' ./internal/test/torture -args \
		-seed $(SEED) -length $(MINUTES)m -result '$(CURDIR)/out/torture-$(DB).json' $(if $(PUBLISH),-publish '$(abspath $(PUBLISH))')

# Merchants that keep running for MINUTES, on DB=sqlite, DB=postgres or DB=both, with RATE
# customers a second each, sampled every 10 s; see internal/test/torture. The samples are
# written to OUT; FROM=OUT publishes an earlier soak again.
OUT  ?= out/soak
RATE ?= 8
soak: ## run merchants for MINUTES and check memory, descriptors, logs and waits
	go test -count=1 -v -timeout $$(($(MINUTES) + 20))m -run '^TestSoak$(if $(FROM),Publish)$$' ./internal/test/torture -args \
		-soak '$(abspath $(or $(FROM),$(OUT)))' -on $(DB) -seed $(SEED) -rate $(RATE) -length $(MINUTES)m $(if $(PUBLISH),-publish '$(abspath $(PUBLISH))')

bench: ## measure the cost next to hand-written code, as ratios
	go run ./internal/test/bench -rounds $(ROUNDS)
	DEPOSITPAY_BENCH=1 go test -count=1 -v -timeout 30m ./internal/test/bench/inboxbench
	DEPOSITPAY_BENCH=1 GOWORK=off go -C internal/test/bench/riverbench test -count=1 -v -timeout 10m .

fuzz: ## run every fuzz target for FUZZTIME, one after another
	@sh internal/test/ci/fuzz.sh $(FUZZTIME)

vuln: ## look for known vulnerabilities
	go list -m -f '{{.Dir}}/...' | xargs go run $(GOVULNCHECK)
