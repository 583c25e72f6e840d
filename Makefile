# The same few commands locally and in CI. Tools are pinned to exact versions here and
# run from the module proxy, so that they do not enter the dependency graph of those
# who import the library.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Where the packages and their tests must compile, besides here.
PLATFORMS := windows/amd64,darwin/arm64,freebsd/amd64,linux/arm64,linux/arm,linux/386

FUZZTIME ?= 20s
ROUNDS   ?= 5

# Of make torture. PUBLISH="docs/guarantees.md README.md" writes the figures into these.
SEED    ?= $(shell date +%s)
MINUTES ?= 10
DB      ?= sqlite
PUBLISH ?=

.PHONY: all fmt lint test test-386 fresh mutants torture soak bench fuzz vuln

all: lint test

fmt:
	go run $(GOLANGCI_LINT) fmt ./...

lint:
	go mod tidy -diff
	go vet ./...
# go vet's analyzers run for this platform only.
	go run ./internal/test/ci/typecheck $(PLATFORMS) ./payments ./banks ./poller ./webhook ./mockserver ./inbox/... ./cmd/... ./examples/...
	CGO_ENABLED=0 go build ./...
	go -C examples/river mod tidy -diff
	go -C examples/river vet ./...
	go run $(GOLANGCI_LINT) run ./...

# The race detector needs a C compiler; internal/test/ci/test.sh installs one where it may
# and says so loudly where it has to go without.
test:
	@sh internal/test/ci/test.sh

# The libraries with 32 bits; go test vets them as well. An amd64 Linux runs such programs.
test-386:
	CGO_ENABLED=0 GOARCH=386 go test -count=1 -short ./payments ./banks ./poller ./webhook ./inbox

# The README's two commands on a machine that has nothing but Debian, Go, git and make; see
# internal/test/ci/fresh.sh. It needs root, the network and a quarter of an hour.
fresh:
	@sh internal/test/ci/fresh.sh

# Breaks the code in some hundred ways, one at a time, and sees a test fail each time.
mutants:
	DEPOSITPAY_MUTANTS=1 go test -count=1 -timeout 30m -parallel 3 ./internal/test/mutants

# Kills, pauses, crashes and faults by SEED for MINUTES, on DB=sqlite or DB=postgres, and
# then the books; see internal/test/torture. The result is in out/ as JSON, too.
torture:
	go test -count=1 -v -timeout $$(($(MINUTES) + 15))m -run '^TestTorture$$/^$(DB)$$' ./internal/test/torture -args \
		-seed $(SEED) -length $(MINUTES)m -result '$(CURDIR)/out/torture-$(DB).json' $(if $(PUBLISH),-publish '$(abspath $(PUBLISH))')

# Merchants that run on for MINUTES, on DB=sqlite, DB=postgres or DB=both, with RATE
# customers a second for each, and are looked at every 10 s; see internal/test/torture. What was
# seen is written into OUT; FROM=OUT publishes a soak that was before, again.
OUT  ?= out/soak
RATE ?= 8
soak:
	go test -count=1 -v -timeout $$(($(MINUTES) + 20))m -run '^TestSoak$(if $(FROM),Publish)$$' ./internal/test/torture -args \
		-soak '$(abspath $(or $(FROM),$(OUT)))' -on $(DB) -seed $(SEED) -rate $(RATE) -length $(MINUTES)m $(if $(PUBLISH),-publish '$(abspath $(PUBLISH))')

bench:
	go run ./internal/test/bench -rounds $(ROUNDS)
	DEPOSITPAY_BENCH=1 go test -count=1 -v -timeout 30m ./internal/test/bench/inboxbench
	DEPOSITPAY_BENCH=1 go -C internal/test/bench/riverbench test -count=1 -v -timeout 10m .

# Every fuzz target for FUZZTIME, one after another.
fuzz:
	@sh internal/test/ci/fuzz.sh $(FUZZTIME)

vuln:
	go run $(GOVULNCHECK) ./...
