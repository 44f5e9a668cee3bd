# The front door. `make help` lists what there is; `make` itself exits with 2 when something failed, and its last line
# names the exit code of the program.

DATASET  ?= amazon0505
PIPELINE ?= gcn
DEVICE   ?= auto
SITE     ?= slurm
SET      ?=
# Further flags, for example  FLAGS="--format json"
FLAGS    ?=
CARGO    ?= cargo
# A stage is a folder of stages/ that has a binary.
STAGES   := $(patsubst stages/%/src/main.rs,%,$(wildcard stages/*/src/main.rs))
# A pipeline by name, or a file.
PIPELINE_FILE = $(if $(wildcard $(PIPELINE)),$(PIPELINE),pipelines/$(PIPELINE).yaml)
OPTIONS  = --set dataset=$(DATASET) $(foreach field,$(SET),--set $(field)) --device $(DEVICE) $(FLAGS)
TARGETS  = $(or $(CARGO_TARGET_DIR),target)
WARPLOOM = $(TARGETS)/release/warploom
# Folders of programs to install, dynamic and static; where one is named, nothing is built.
BINARIES ?=
STATIC   ?=
# A target of its own, so that build scripts and macros of the compiler stay dynamic.
STATIC_TARGET = x86_64-unknown-linux-gnu
STATIC_FLAGS  = --target $(STATIC_TARGET) --config 'target.$(STATIC_TARGET).rustflags=["-C","target-feature=+crt-static"]' \
                $(foreach stage,ingest extract reorder partition,-p warploom-$(stage)) --bins
BINARIES_HERE = $(or $(BINARIES),$(TARGETS)/release)
STATIC_HERE   = $(or $(STATIC),$(TARGETS)/$(STATIC_TARGET)/release)
# The oldest glibc that programs may need, as docs/install.md states it.
GLIBC = $(shell sed -n 's/.*glibc \([0-9.]*\) or newer.*/\1/p' docs/install.md)

.DEFAULT_GOAL := help
.PHONY: help build pipeline explain test test-long test-gpu test-slurm smoke-gpu test-emulated check lint bench bench-gpu accuracy fetch submit \
        report install uninstall build-static dist test-install

help: ## List what there is
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  stages: $(STAGES)"
	@echo '  variables: DATASET=$(DATASET) PIPELINE=$(PIPELINE) DEVICE=$(DEVICE) SITE=$(SITE) SET="plan.set.hidden=64 run.epochs=50" FLAGS="--format json"'

build: ## Build all binaries, optimised, into target/release
	@$(CARGO) build --release --workspace --bins

# Quiet when there is nothing to do: a no-change start costs cargo's own check.
$(WARPLOOM): FORCE
	@$(CARGO) build --release --quiet --workspace --bins
FORCE:

pipeline: $(WARPLOOM) ## Run all stages: make pipeline DATASET=amazon0505 [PIPELINE=gcn] [SET="run.epochs=50"] [DEVICE=auto]
	@$(WARPLOOM) pipeline $(PIPELINE_FILE) $(OPTIONS)

explain: $(WARPLOOM) ## Say for each stage hit or miss and why, and what the plan chose
	@$(WARPLOOM) explain $(PIPELINE_FILE) $(OPTIONS)

fetch: $(WARPLOOM) ## Download the raw files of DATASET
	@$(WARPLOOM) data fetch $(DATASET) $(FLAGS)

submit: $(WARPLOOM) ## Submit the stages as batch jobs: make submit DATASET=cora SITE=slurm [FLAGS="--wait"]
	@$(WARPLOOM) submit $(PIPELINE_FILE) --site $(SITE) $(OPTIONS)

install: ## Install programs, pipelines, manual pages and completions: make install PREFIX=/path [DESTDIR=] [BINARIES=DIR]
	@[ -n "$(BINARIES)" ] || $(MAKE) --no-print-directory build
	@DESTDIR="$(DESTDIR)" packaging/install.sh "$(BINARIES_HERE)" "$(PREFIX)"

uninstall: ## Remove what was installed: make uninstall PREFIX=/path [DESTDIR=]
	@DESTDIR="$(DESTDIR)" packaging/uninstall.sh "$(PREFIX)"

build-static: ## Build static programs of ingest, extract, reorder and partition, which run with any Linux of x86-64
	@$(CARGO) build --release $(STATIC_FLAGS)

dist: ## Make target/dist/warploom-VERSION-x86_64.tar.xz, an installation to unpack anywhere: make dist [BINARIES=DIR] [STATIC=DIR]
	@[ -n "$(BINARIES)" ] || $(MAKE) --no-print-directory build
	@[ -n "$(STATIC)" ] || $(MAKE) --no-print-directory build-static
	@tests/glibc-floor.sh --most "$(GLIBC)" "$(BINARIES_HERE)"/warploom "$(BINARIES_HERE)"/warploom-plan "$(BINARIES_HERE)"/warploom-run
	@packaging/dist.sh "$(BINARIES_HERE)" "$(STATIC_HERE)" "$(TARGETS)/dist"

test-install: ## Run dynamic and static programs in folders without anything else (chroot, as root): make test-install [BINARIES=DIR] [STATIC=DIR]
	@[ -n "$(BINARIES)" ] || $(MAKE) --no-print-directory build
	@[ -n "$(STATIC)" ] || $(MAKE) --no-print-directory build-static
	@tests/glibc-floor.sh --most "$(GLIBC)" "$(BINARIES_HERE)"/warploom "$(BINARIES_HERE)"/warploom-plan "$(BINARIES_HERE)"/warploom-run
	@tests/chroot.sh "$(BINARIES_HERE)" "$(STATIC_HERE)"

# Not in this version: a page about a run. It says so itself.
report: $(WARPLOOM)
	@$(WARPLOOM) $@

# Short campaigns of kills, failing calls, flipped bits, mutants of files, races and full disks, and samples of the sweeps over widths, schedules and
# architectures; `test-long` runs them long and whole.
test: ## Run all tests, and say what took longest
	@tests/run.sh

test-long: ## Run all tests, with long campaigns of kills, failing calls, damage, races, full disks and random inputs, and whole sweeps
	@WARPLOOM_TEST_LONG=1 tests/run.sh

test-gpu: ## Run lists on the GPU that is here, under sanitizers too, and trainings 20 times (SANITIZE= REPEAT= leave these out); without one it says that nothing ran
	@if [ -e /dev/nvidia0 ] && [ -n "$${REPEAT-20}" ]; then $(MAKE) --no-print-directory build; fi
	@SANITIZE=$${SANITIZE-1} REPEAT=$${REPEAT-20} SANITIZE_SECONDS=$${SANITIZE_SECONDS-900} tests/gpu.sh

smoke-gpu: ## Golden models, one epoch of each program, repeated bits and four timed epochs on the GPU that is here, in eight minutes, as a table: make smoke-gpu [BESIDE=FILE] [RECORD=FOLDER]; without one it says that nothing ran
	@if [ -e /dev/nvidia0 ] && [ -z "$(SUITE)" ]; then $(MAKE) --no-print-directory build; fi
	@SUITE="$(SUITE)" BESIDE="$(BESIDE)" RECORD="$(RECORD)" tests/smoke-gpu.sh

test-slurm: ## Run batch jobs on a Slurm on loopback, which is installed (Debian, root) and started for it
	@tests/slurm/cluster.sh install
	@$(CARGO) build --quiet --workspace --bins && $(CARGO) test -p warploom-tests --test slurm -- --nocapture

test-emulated: ## Run lists on an emulated GPU: both types, both orders, threads both ways (minutes)
	@tests/emulated.sh

lint: ## Formatting, clippy, documentation
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

check: lint test ## What has to pass before a change lands

accuracy: build ## Train what papers trained and write how accurate it became under tests/accuracy/record
	@python3 tests/accuracy/accuracy.py --record

bench-gpu: ## Measure on the GPU that is here beside PyG, plain kernels and cuSPARSE: make bench-gpu [BENCH="--parts sums --graphs cora"]; without a GPU it says that nothing ran
	@if [ ! -e /dev/nvidia0 ]; then echo "NOTHING RAN: there is no GPU of NVIDIA here (no /dev/nvidia0)"; else \
	  $(CARGO) build --release --quiet -p warploom-pipeline --bins && python3 tests/bench/gpu.py --warploom "$(WARPLOOM)" $(BENCH); fi

bench: ## Measure beside other systems and write records under tests/bench/record
	@tests/bench/run.sh
