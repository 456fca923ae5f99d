# Two commands do all set-up: `make demo` (core install only) and `make test` (all tests and checks). `make check` is
# for every change: lint, types, imports and the quick tests.
PYTHON ?= python3
DEMO := .venvs/demo
TEST := .venvs/test
NEWEST := .venvs/newest
PIP_FLAGS := --disable-pip-version-check --quiet

.PHONY: demo test check lint types quick smoke-newest core-alone format clean

$(DEMO)/ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install $(PIP_FLAGS) -e .
	touch $@

$(TEST)/ready: pyproject.toml
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/pip install $(PIP_FLAGS) torch==2.13.0
	$(TEST)/bin/pip install $(PIP_FLAGS) -e '.[test,ncu]'
	touch $@

demo: $(DEMO)/ready
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" bash tools/demo.sh

lint: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/lint-imports --no-cache
	$(TEST)/bin/kb wiki check gpuwiki

types: $(TEST)/ready
	$(TEST)/bin/mypy
	$(TEST)/bin/mypy tests/typing
	$(TEST)/bin/mypy --config-file benchmarks/mypy.ini benchmarks/*.py

# Compiled code is kept: without it each worker rewrites every test and module anew, and each child compiles what it loads.
quick test: export PYTHONDONTWRITEBYTECODE =

# Every test that tests/slow.txt does not name.
quick: $(TEST)/ready
	$(TEST)/bin/pytest -q -n 2 --dist loadfile -m "not slow"

check: lint types quick

# All tests, and what of the pure core they reach, in one run.
test: lint types
	$(TEST)/bin/pytest -n 2 --dist loadfile --cov --cov-report= --cov-report=json:.coverage.json
	$(TEST)/bin/python tools/core_coverage.py .coverage.json
	$(MAKE) smoke-newest

# The core without packs: in a copy where they are deleted its own tests pass, and what it promises works.
core-alone: $(TEST)/ready
	bash tools/core_alone.sh $(TEST)

# Compile, limits and count on the newest triton; the tests above run on the oldest one that is supported.
smoke-newest: $(TEST)/ready
	bash tools/smoke_newest.sh $(TEST) $(NEWEST)

format: $(TEST)/ready
	$(TEST)/bin/ruff check --fix .
	$(TEST)/bin/ruff format .

clean:
	rm -rf .venvs build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.*
