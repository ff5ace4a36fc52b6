# `make setup` and `make test` are all that a fresh machine needs; see README.md.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= auto
TEMPLATES := $(wildcard templates/*.html templates/*/*.html)

.PHONY: setup check test faults bench lock clean

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $@

.venv/installed-dev: .venv/installed requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.lock
	touch $@

# The fast checks: style, types, import rules.
check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(TEMPLATES),$(BIN)/djlint --check --lint --quiet $(TEMPLATES))

# Everything: the fast checks, then the tests, with the real compiler.
test: check
	$(BIN)/python -m pytest -n $(WORKERS)

# Kill things at 50 random moments instead of 3.
faults: .venv/installed-dev
	$(BIN)/python -m pytest tests/faults --kills 50

bench: .venv/installed
	$(BIN)/python -m benchmarks.sweep

lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --upgrade \
		--output-file requirements.lock pyproject.toml --extra build
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --upgrade \
		--constraint requirements.lock --output-file requirements-dev.lock pyproject.toml --extra build --extra dev

clean:
	rm -rf .venv build dist
