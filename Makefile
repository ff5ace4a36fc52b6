# `make setup` and `make test` are all that a fresh machine needs; see README.md.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= auto

.PHONY: setup up demo check test servers postgres browser faults bench lock clean

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $@

.venv/installed-dev: .venv/installed requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.lock
	touch $@

# Everything in the foreground, until Ctrl+C: make up ARGS="--port 9000 --data /srv/tunerweb"
up: .venv/installed
	@$(BIN)/tunerweb up $(ARGS)

# The same with the sample model, swept to its ranking.
demo: .venv/installed
	@$(BIN)/tunerweb demo $(ARGS)

# The fast checks: style, types, import rules.
check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	TUNERWEB_DATA=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run --verbosity 0

# Chromium and PostgreSQL, by apt when this is root.
servers:
	@tests/machine.sh

# Everything. What measures time runs alone; so does the browser, whose event loop other tests would meet.
test: check servers
	$(BIN)/python -m pytest -n $(WORKERS) --ignore tests/e2e --ignore tests/static --ignore tests/faults
	$(MAKE) postgres
	$(BIN)/python -m pytest tests/faults
	$(MAKE) browser

# What needs a database, on PostgreSQL.
postgres: .venv/installed-dev servers
	$(BIN)/python -m pytest -n $(WORKERS) --postgres -m "not faults" --ignore tests/e2e --ignore tests/static

# The pages in a real browser.
browser: .venv/installed-dev servers
	$(BIN)/python -m pytest tests/static tests/e2e

# Kill things at 20 random moments instead of 3.
faults: .venv/installed-dev
	$(BIN)/python -m pytest tests/faults --kills 20

bench: .venv/installed
	$(BIN)/python -m benchmarks.sweep
	$(BIN)/python -m benchmarks.server

lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --upgrade \
		--output-file requirements.lock pyproject.toml --extra build
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --upgrade \
		--constraint requirements.lock --output-file requirements-dev.lock pyproject.toml --extra build --extra dev

clean:
	rm -rf .venv build dist
