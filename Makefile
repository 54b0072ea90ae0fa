# One profile for everything but `make dev`: release. What `make test` builds is what `make run` runs.
# The UI comes first everywhere, because the binary embeds ui/dist.

SHELL := bash
.NOTPARALLEL:
.DEFAULT_GOAL := help

CARGO := cargo
LOCKED := --release --locked
# `make test` builds the whole workspace once and for all its steps; a part of it would choose other features and build again.
PACKAGES := -p voxpilot
BINARY := $(CURDIR)/target/release/voxpilot
UI_SOURCES := $(shell find ui/src ui/public ui/index.html ui/vite.config.ts ui/vite.sw.config.ts ui/tsconfig.json ui/package.json -type f 2>/dev/null)

# $(call step,name,command): says what is done and how long it took; a failure stops the run.
define step
@set -euo pipefail; echo "== $(1)"; start=$$SECONDS; ( $(2) ) || { echo "== $(1): failed after $$((SECONDS - start)) s"; exit 1; }; echo "== $(1): $$((SECONDS - start)) s"
endef

# $(call need,program,what to do): a clear word instead of a failure somewhere inside.
define need
@command -v $(1) >/dev/null || { echo "$(1) is not installed: $(2)"; exit 1; }
endef

.PHONY: help
help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## build the UI and the binary, start the server (ARGS="--bind 127.0.0.1:0")
	@exec $(BINARY) serve $(ARGS)

.PHONY: dev
dev: need-rust ui/node_modules/.package-lock.json ## server and page, both reloaded on change (ARGS="--work-dir ~/my-project")
	@exec node dev/watch.mjs $(ARGS)

.PHONY: build
build: need-rust ui ## build the UI and the binary
	$(call step,build,$(CARGO) build $(LOCKED) $(PACKAGES))

# Not what `make run` starts: nothing of it is shared with the tests. The binary is smaller and faster.
.PHONY: dist
dist: need-rust ui ## build the binary that is handed on: target/dist/voxpilot
	$(call step,dist,$(CARGO) build --profile dist --locked -p voxpilot)

.PHONY: ui
ui: ui/dist/index.html ## build the UI

.PHONY: test
test: need-rust need-rust-tools need-git check-fast ui tests/copilot/node_modules/.package-lock.json tests/codex/node_modules/.package-lock.json ## install what the tests need and run them all
	@$(MAKE) --no-print-directory PACKAGES="--workspace --all-targets" build lint test-simulation test-fuzz test-programs test-rust test-ui types-check e2e
	@echo "== all tests passed"

.PHONY: check
check: need-rust need-rust-tools check-fast ui lint ## formatting and lints, Rust and UI

.PHONY: check-fast
check-fast: ui/node_modules/.package-lock.json
	$(call step,formatting,$(CARGO) fmt --all --check)
	$(call step,ui check,cd ui && npm run --silent check)

.PHONY: lint
lint: ui
	$(call step,clippy,$(CARGO) clippy $(LOCKED) --workspace --all-targets -- -D warnings)

.PHONY: test-rust
test-rust: ui tests/copilot/node_modules/.package-lock.json tests/codex/node_modules/.package-lock.json
	$(call step,rust tests,$(CARGO) test $(LOCKED) --workspace --all-targets --no-fail-fast)

.PHONY: test-ui
test-ui: ui
	$(call step,size of the first screen,cd ui && npm run --silent size)
	$(call step,ui tests,cd ui && npm run --silent test)

.PHONY: e2e
e2e: build e2e/node_modules/.package-lock.json tests/copilot/node_modules/.package-lock.json tests/codex/node_modules/.package-lock.json ## the browser journeys
	$(call step,browser,$(find_browser) || { $(install_browser); })
	$(call step,browser tests,cd e2e && VOXPILOT=$(BINARY) CHROMIUM="$$($(find_browser))" npx playwright test $(ARGS))

# The variable is called VOXPILOT, not VOXPILOT_SOMETHING: the server refuses a VOXPILOT_ name that it does not know.
find_browser := command -v chromium || command -v chromium-browser || command -v google-chrome
can_install := [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null
install_browser := $(can_install) && apt-get update -q && apt-get install -qy --no-install-recommends chromium || \
	{ echo "no Chromium found: install it (on Debian: sudo apt-get install chromium) and run this again"; exit 1; }

# What tests start beside the server: a reverse proxy and a sandbox. Where one is missing and cannot be installed, its tests say that they skip.
.PHONY: test-programs
test-programs:
	@for program in nginx bwrap; do PATH="$$PATH:/usr/sbin" command -v $$program >/dev/null || missing=1; done; \
	[ -z "$${missing:-}" ] || { $(can_install) && apt-get update -q && apt-get install -qy --no-install-recommends nginx-light bubblewrap; } || \
	echo "nginx or bubblewrap is missing (on Debian: sudo apt-get install nginx-light bubblewrap): tests that need them are skipped"

.PHONY: types
types: build ## write ui/openapi.json and the UI's types from the server's own description
	$(call step,types,$(BINARY) openapi > ui/openapi.json && cd ui && npm run --silent types)

.PHONY: types-check
types-check: build
	$(call step,types are fresh,$(types_are_fresh) || { echo "the UI's types are stale: run make types"; exit 1; })

fresh := $(CURDIR)/target/types
types_are_fresh := mkdir -p $(fresh) && $(BINARY) openapi > $(fresh)/openapi.json && cmp $(fresh)/openapi.json ui/openapi.json && \
	(cd ui && npx openapi-typescript openapi.json --output $(fresh)/schema.ts >/dev/null) && cmp $(fresh)/schema.ts ui/src/api/schema.ts

.PHONY: bench
bench: build ## the benchmarks
	$(call step,bench,bench/run $(ARGS))

# Not part of `make test`: building cargo-deny takes several minutes, and the database of advisories is fetched from elsewhere.
.PHONY: deny
deny: target/tools/bin/cargo-deny ## licences, bans, sources and known vulnerabilities of the dependencies
	$(call step,deny,target/tools/bin/cargo-deny --locked check licenses bans sources)
	$(call step,advisories,$(check_advisories))

# A database that cannot be had is said; one that names a dependency of ours fails.
cargo_deny := target/tools/bin/cargo-deny --locked
check_advisories := if $(cargo_deny) fetch db; then $(cargo_deny) check --disable-fetch advisories; \
	else echo "advisories were NOT checked: their database cannot be fetched from here; run make deny where GitHub can be reached"; fi

target/tools/bin/cargo-deny: | need-rust
	$(call step,cargo-deny,$(CARGO) install --locked --root target/tools cargo-deny)

.PHONY: clean
clean: ## remove everything that was built or installed here
	rm -rf target ui/dist ui/node_modules e2e/node_modules tests/copilot/node_modules tests/codex/node_modules tests/agents/node_modules

ui/dist/index.html: $(UI_SOURCES) ui/node_modules/.package-lock.json
	$(call step,ui,cd ui && npm run --silent build)

# npm writes this file itself when it has installed; it is older than the lock file exactly when something changed.
%/node_modules/.package-lock.json: %/package-lock.json | need-node
	$(call step,npm ci in $*,cd $* && npm ci --no-audit --no-fund && touch node_modules/.package-lock.json)

# Not `npm ci`: it fails where a registry lacks optional packages of other systems, which some agents name. The versions are those of the lock file.
tests/agents/node_modules/.package-lock.json: tests/agents/package-lock.json | need-node
	$(call step,npm install in tests/agents,cd tests/agents && npm install --no-save --no-audit --no-fund && touch node_modules/.package-lock.json)

.PHONY: need-rust need-rust-tools need-node need-git
need-rust:
	$(call need,$(CARGO),see https://rustup.rs)

need-rust-tools:
	@{ $(CARGO) fmt --version && $(CARGO) clippy --version; } >/dev/null 2>&1 || rustup component add rustfmt clippy

need-node:
	$(call need,node,version 20.19 or later: see https://nodejs.org)
	$(call need,npm,it comes with Node: see https://nodejs.org)

need-git:
	$(call need,git,see https://git-scm.com)

# Kills everything at every moment, on the demo agent and on the real Copilot and Codex CLIs. `make test` runs a selection of it.
.PHONY: crash
crash: need-rust ui tests/copilot/node_modules/.package-lock.json tests/codex/node_modules/.package-lock.json ## the crash matrix and random kills (ARGS="--seed 1 --kills 200")
	$(call step,build,$(CARGO) build $(LOCKED) -p voxpilot -p testkit --bins)
	$(call step,crash matrix,target/release/crash $(ARGS))

# Everything at once, from seeds: the real machines, everything around them modelled. A failing seed is printed as a story that replays.
.PHONY: simulate
simulate: need-rust ## the simulation of the two machines (ARGS="--seeds 10000000")
	$(call step,build,$(CARGO) build $(LOCKED) -p simulation --bin simulate)
	$(call step,simulation,target/release/simulate $(ARGS))

.PHONY: simulate-defects
simulate-defects: need-rust ## does the simulation find every defect that is put in on purpose?
	$(call step,build,$(CARGO) build $(LOCKED) -p simulation --bin simulate)
	$(call step,seeded defects,target/release/simulate --defects)

# After the build of everything: the program is there already.
.PHONY: test-simulation
test-simulation: build
	$(call step,simulation,target/release/simulate)
	$(call step,seeded defects,target/release/simulate --defects)

# Hostile input for everything that reads what a peer sent. The markdown of the page is a target of its own, in ui/.
.PHONY: fuzz
fuzz: need-rust ui ui/node_modules/.package-lock.json ## fuzz everything that reads what a peer sent (ARGS="--minutes 60")
	$(call step,build,$(CARGO) build $(LOCKED) -p fuzz)
	$(call step,fuzz,target/release/fuzz $(ARGS))
	$(call step,fuzz markdown,cd ui && npm run --silent fuzz -- $(ARGS))

# After the build of everything. A minute for each target, two at a time: about five minutes. Always the same seed: what is red today is red tomorrow.
.PHONY: test-fuzz
test-fuzz: build
	$(call step,fuzz,target/release/fuzz --seconds 60 --seed 20)
	$(call step,fuzz markdown,cd ui && npm run --silent fuzz -- --seconds 60 --seed 20)

# Not part of `make test`: two gigabytes are installed, and every agent takes minutes.
.PHONY: agents
agents: need-rust ui tests/agents/node_modules/.package-lock.json ## the real agents, offline, and what held of each (ARGS="gemini qwen")
	$(call step,build,$(CARGO) build $(LOCKED) -p voxpilot -p testkit --bins)
	$(call step,agents,target/release/agents --write docs/agents.md $(ARGS))
