# The same few commands locally and in CI. Tools are pinned to exact versions here and
# run from the module proxy, so that they do not enter the dependency graph of those
# who import the library.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.9.0

FUZZTIME ?= 20s
ROUNDS   ?= 5

.PHONY: all fmt lint test bench fuzz vuln

all: lint test

fmt:
	go run $(GOLANGCI_LINT) fmt ./...

lint:
	go mod tidy -diff
	go vet ./...
	GOOS=windows go vet ./payments ./banks ./poller ./webhook ./mockserver ./inbox/... ./cmd/... ./examples/...
	GOOS=darwin go vet ./payments ./banks ./poller ./webhook ./mockserver ./inbox/... ./cmd/... ./examples/...
	CGO_ENABLED=0 go build ./...
	go run $(GOLANGCI_LINT) run ./...

# The race detector needs a C compiler; internal/ci/test.sh installs one where it may
# and says so loudly where it has to go without.
test:
	@sh internal/ci/test.sh

bench:
	go run ./internal/bench -rounds $(ROUNDS)
	DEPOSITPAY_BENCH=1 go test -count=1 -v -timeout 30m ./internal/bench/inboxbench
	DEPOSITPAY_BENCH=1 go -C internal/bench/riverbench test -count=1 -v -timeout 10m .

# Every fuzz target for FUZZTIME, one after another.
fuzz:
	@sh internal/ci/fuzz.sh $(FUZZTIME)

vuln:
	go run $(GOVULNCHECK) ./...
