# Everything a checkout needs, from Python 3.11 or later and make alone. `make` prints the targets.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --require-virtualenv
RIVALS := .rivals

# TEXT goes to the demonstration through the environment, unread by make and by the shell. `value` keeps its dollar
# signs, and TEXT itself is not exported because make would expand those on the way.
demo: export INTERLOCK_DEMO_TEXT = $(value TEXT)
unexport TEXT

# The pyright wheel carries its own node and its own pyright; nothing of these may send it to the network for another.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
unexport PYRIGHT_PYTHON_FORCE_VERSION PYRIGHT_PYTHON_PYLANCE_VERSION

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types bench rivals clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:  ## print the targets
	@echo 'make setup   create $(VENV) with Interlock and what its development needs'
	@echo 'make demo    run examples/moderation.py; make demo TEXT="..." runs your text through it'
	@echo 'make test    lint, types, then the tests; prints every skip'
	@echo 'make check   lint and types only'
	@echo 'make lint    ruff: rules and format'
	@echo 'make types   mypy --strict and pyright strict'
	@echo 'make bench   measure against the budgets; fails when one is missed (ARGS="--only chain --json")'
	@echo 'make rivals  measure other engines on the same work, installed in $(RIVALS); writes docs/benchmarks.md'
	@echo 'make clean   remove $(VENV), $(RIVALS), caches and build results'
	@echo
	@echo 'PYTHON=/path/to/python chooses the interpreter that $(VENV) is made with (3.11 or later).'

setup: $(VENV)/.installed-dev

demo: $(VENV)/.installed
	@$(BIN)/python examples/moderation.py $(if $(filter command environment,$(origin TEXT)),"$$INTERLOCK_DEMO_TEXT")

test: check
	$(BIN)/python -m pytest

check: lint types

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy
	$(BIN)/pyright

bench: $(VENV)/.installed
	@$(BIN)/python -m benchmarks $(ARGS)

rivals: $(RIVALS)/.installed
	@$(RIVALS)/python/bin/python -m benchmarks.rivals $(ARGS)

clean:
	rm -rf $(VENV) $(RIVALS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are made last, so a set-up that broke off is done again, and so is one older than pyproject.toml.
$(VENV)/.installed: pyproject.toml $(BIN)/python
	$(PIP) install --quiet -e .
	@touch $@

# The build requirements come along, because the packaging tests build the wheel without the network.
$(VENV)/.installed-dev: pyproject.toml $(BIN)/python
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(VENV)/build-requires.txt
	$(PIP) install --quiet -e '.[dev]' -r $(VENV)/build-requires.txt
	@touch $(VENV)/.installed $@

# What cannot be installed is said in one line, and left out.
$(RIVALS)/.installed: pyproject.toml benchmarks/rivals/requirements.txt benchmarks/rivals/mastra/package.json
	@python=$$(.ci/find-python) && echo "making $(RIVALS) with $$python" && "$$python" -m venv --clear $(RIVALS)/python
	@$(RIVALS)/python/bin/python -m benchmarks.rivals.install
	@touch $@

# Every directory of PATH is searched: a version manager's shim may stand before a real interpreter and refuse to run.
$(BIN)/python:
	@python=$$(.ci/find-python) && echo "making $(VENV) with $$python" && "$$python" -m venv --clear $(VENV)
