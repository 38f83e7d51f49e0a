# Everything is set up in .venv on first use: `make demo` and `make test` need a Rust toolchain, Python >= 3.11
# and Java 17 (for PySpark), and nothing else. `make PYTHON=python3.13 test` picks the Python.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
# The first Python that is new enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
FUZZ_SECONDS ?= 60
# `address` finds faults of unsafe code, and takes several times as long.
FUZZ_SANITIZER ?= none
# Each has a Spark of its own.
PYTEST_WORKERS ?= 2
# Tables are synced to disk again and again: their tests take half the time in memory, where there is enough of it.
MEMORY := $(shell [ "$$(df --output=avail -B 1G /dev/shm 2>/dev/null | tail -1)" -ge 8 ] 2>/dev/null && echo /dev/shm)
PYTEST = $(if $(MEMORY),PYTEST_DEBUG_TEMPROOT=$(MEMORY)) \
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder
SPARK_VERSIONS ?= 3.5.7 4.0.1 4.1.0 4.2.0

RUST := Cargo.toml Cargo.lock $(shell find crates proto -type f)

.PHONY: help
help: ## Show the targets
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{ printf "  %-15s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(VENV)/module java ## PySpark writes raw rows; orcish converts, compacts, verifies and scans them
	$(BIN)/python examples/demo.py

.PHONY: test
test test-python: export ORCISH_TEST_FACTOR = 0.1
test: test-rust test-python ## Tests of every kind, Rust and Python, with a tenth of the random cases

.PHONY: test-rust
test-rust: ## Tests of the crates
	cargo test --workspace

# What tests run on, so that `make -j` builds it beside other things.
.PHONY: test-builds
test-builds: $(VENV)/module
	cargo test --workspace --all-targets --no-run

.PHONY: test-python
test-python: $(VENV)/module java ## Tests of the Python package; ORCISH_TEST_PART=1/3 runs a third of their files
	$(PYTEST) -m "not long"

# How many times as many cases random tests try.
TEST_FACTOR ?= 1

.PHONY: test-all
test-all: export ORCISH_TEST_FACTOR = $(TEST_FACTOR)
test-all: test-rust $(VENV)/module java ## All tests, the random ones with TEST_FACTOR (1) times as many cases
	$(PYTEST)

.PHONY: lint
lint: format lint-rust lint-python ## Formatting, clippy, rustdoc, ruff, mypy, the workflows

.PHONY: format
format:
	cargo fmt --all --check

.PHONY: lint-rust
lint-rust:
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package orcish --lib --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

.PHONY: lint-python
lint-python: $(VENV)/tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

# Features of the crate orcish. Without those of the codecs, its tests of missing features have something to find.
FEATURES := brotli chrono-tz lz4 snap zlib zstd object-store async

.PHONY: features
features: ## Lint the crates with each feature alone, and test the errors of missing features
	for feature in $(FEATURES); do \
		cargo clippy --package orcish --lib --no-default-features --features "$$feature" -- -D warnings || exit 1; \
	done
	for features in "" object-store orc; do \
		cargo clippy --package carbondata --lib --features "$$features" -- -D warnings || exit 1; \
	done
	cargo test --package orcish --no-default-features --test format features

.PHONY: package
package: ## Package each crate for crates.io and build it from its package, without uploading it
	cargo package --workspace --exclude orcish-python --allow-dirty $(PACKAGE_FLAGS)

.PHONY: docs
docs: $(VENV)/module $(VENV)/docs-tools ## Build the documentation site in target/docs; warnings are errors
	$(BIN)/python docs/site/generate.py
	$(BIN)/sphinx-build -q -W -E -c docs/site docs target/docs
	@echo "target/docs/index.html"

# The oldest pyarrow that the package allows.
OLDEST_PYARROW = $(shell sed -nE 's/^dependencies = \["pyarrow>=([0-9]+)"\]/\1/p' pyproject.toml)

.PHONY: wheel
wheel: $(VENV)/wheel-tools ## Build a manylinux wheel for glibc 2.17 in dist, and try it beside the oldest pyarrow
	rm -rf dist/wheel target/wheel
	PATH="$(abspath $(BIN)):$$PATH" env -u CONDA_PREFIX maturin build --release --zig --compatibility manylinux2014 \
		--out dist/wheel
	$(PYTHON) -m venv target/wheel
	target/wheel/bin/python -m pip install --quiet "pyarrow==$(OLDEST_PYARROW).*" dist/wheel/orcish-*.whl
	target/wheel/bin/python tests/wheel/smoke.py

.PHONY: bench
bench: $(VENV)/release-module java ## Benchmarks: the kernels, then side by side with other readers and writers
	cargo bench --workspace
	$(BIN)/python benches/python/make_data.py
	$(BIN)/python benches/python/run.py
	$(BIN)/python benches/python/parquet.py
	$(BIN)/python benches/python/lookup.py
	$(BIN)/python benches/python/write.py
	$(BIN)/python benches/python/spark.py
	$(BIN)/python benches/python/carbondata.py

.PHONY: spark-versions
spark-versions: $(VENV)/module java ## Test what docs/spark.md says of each Spark, on each of SPARK_VERSIONS
	@for version in $(SPARK_VERSIONS); do \
		venv="$(VENV)-spark-$$version"; \
		[ -d "$$venv" ] || { $(PYTHON) -m venv "$$venv" && \
			"$$venv/bin/python" -m pip install --quiet "pyspark==$$version" pyarrow pandas; }; \
		PYTHONPATH=python:tests/python "$$venv/bin/python" -m support.spark_scripts.tour; \
	done

.PHONY: fuzz
fuzz: $(VENV)/tools ## Fuzz each target for FUZZ_SECONDS (60); needs cargo-fuzz and a nightly toolchain
	@cargo fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 1; }
	@for target in $$(cargo fuzz list); do \
		$(BIN)/python fuzz/seeds.py "$$target"; \
		echo "== $$target"; \
		cargo +nightly fuzz run --sanitizer $(FUZZ_SANITIZER) "$$target" -- \
			-max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -max_len=16384; \
	done

# The tests of modules with unsafe code. Random ones have few cases: Miri is some hundred times slower than a processor. Those of
# the encoders would take hours, and run no unsafe code that the decoders do not run.
# Without the second flag it varies the last bits of `powi`, which casts of decimals compare.
.PHONY: miri
miri: export MIRIFLAGS = -Zmiri-disable-isolation -Zmiri-deterministic-floats
miri: export PROPTEST_CASES = 2
miri: export RUST_BACKTRACE = 0
miri: ## Run tests of unsafe code in the interpreter Miri; needs a nightly toolchain with the component miri
	cargo +nightly miri test --package orcish-core --lib -- cast:: nulls:: strings::
	cargo +nightly miri test --package orcish --lib -- encoding:: --skip encoding::encode::

.PHONY: semver
semver: ## Compare the API of the crates with that of the last release; needs cargo-semver-checks
	@if tag=$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then \
		cargo semver-checks --workspace --exclude orcish-python --baseline-rev "$$tag"; \
	else \
		echo "There is no release to compare with."; \
	fi

.PHONY: clean
clean: ## Remove all that was built, .venv included
	cargo clean
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse
	rm -f python/orcish/*.so python/orcish/*.pyd
	find python tests examples -name __pycache__ -exec rm -rf {} +

.PHONY: java
java:
	@version=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -nE 's/.*version "([0-9]+).*/\1/p') || true; \
	[ "$${version:-0}" -ge 17 ] || { \
		echo "PySpark needs Java 17 or later: install a JDK and put java on the PATH, or set JAVA_HOME" >&2; exit 1; }

# Stamps: what is installed in the virtual environment.
$(VENV)/tools: pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is missing; name one: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --group dev
	@touch $@

$(VENV)/wheel-tools: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --no-compile --group wheel
	@touch $@

$(VENV)/docs-tools: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --no-compile --group docs
	@touch $@

MATURIN_DEVELOP = env -u CONDA_PREFIX VIRTUAL_ENV="$(abspath $(VENV))" $(BIN)/maturin develop

# Without link-time optimisation, and with the dependencies that `cargo test` builds, see profile.dev in Cargo.toml.
$(VENV)/module: $(VENV)/tools $(RUST)
	$(MATURIN_DEVELOP) --profile dev --features shared-build
	@rm -f $(VENV)/release-module
	@touch $@

# As in a wheel. Either module replaces the other.
$(VENV)/release-module: $(VENV)/tools $(RUST)
	$(MATURIN_DEVELOP) --release
	@rm -f $(VENV)/module
	@touch $@
