# The only entry point, the same for people and for CI. Needs python3 (>= 3.11, with venv and pip) and make.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PINS_INSTALLED := $(VENV)/pins-installed
INSTALLED := $(VENV)/installed
LOCK_VENV := _build/lock-venv
# Held back in the lock; pyproject.toml allows more.
HELD := torch==2.13.0

.PHONY: help setup test processors book reproduce bench lock clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

setup: $(INSTALLED)  ## create .venv with the pinned versions (repeated only when the pins change)

# A new environment whenever the pins change, so that it holds what the lock names and nothing else.
$(PINS_INSTALLED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed: make PYTHON=python3.x ...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	touch $@

# The package itself is linked, not copied: edits need no new setup. By a path and not by an import
# hook, so that type checkers and editors find it, too.
$(INSTALLED): $(PINS_INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --config-settings editable_mode=compat --editable .
	touch $@

test: setup  ## check style and types, run every test (notebooks and built pages included)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest

processors: setup  ## run every quick notebook as other processors would: the same bytes (takes most of an hour)
	$(BIN)/pytest -m processors -n 0 tests/test_processors.py

book: setup  ## execute the notebooks at the paper's sizes and build the book
	$(BIN)/mfc-lb book build
	@echo "The book: $(CURDIR)/_build/html/index.html"

reproduce: setup  ## recompute all of data/ from nothing and compare row by row
	$(BIN)/mfc-lb results reproduce --differences _build/differences.csv

bench: setup  ## measure speed and memory against the usual way of doing the same work
	$(BIN)/python -m benchmarks

# With the oldest Python supported: its pins serve every newer one.
lock:  ## pin the newest versions that pyproject.toml allows (PYTHON=the oldest Python supported)
	$(PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --quiet --editable '.[train,cluster,dask,book,dev]' $(HELD)
	$(LOCK_VENV)/bin/python -m pip freeze --all --exclude-editable --exclude pip > $(LOCK_VENV)/frozen
	@# One list for every machine: no build variants, no GPU libraries (torch asks for its own).
	sed -E -e 's/\+.*//' -e '/^(nvidia|cuda|triton)/d' $(LOCK_VENV)/frozen > requirements.lock
	rm -r $(LOCK_VENV)

clean:  ## remove everything built, except .venv
	rm -rf _build build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
