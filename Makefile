# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV   := .venv
READY  := $(VENV)/.ready
UV     := $(VENV)/bin/uv --quiet $(shell test -w "$$HOME" || echo --no-cache)

ifdef PIP_INDEX_URL  # uv does not read pip's settings
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)  # trust whom the machine trusts
export UV_SYSTEM_CERTS ?= 1
endif
ifdef PYTHONDONTWRITEBYTECODE  # what Python may not keep as it runs is compiled once, not by every process
export UV_COMPILE_BYTECODE ?= 1
endif

.PHONY: help demo quick test lint format chaos bench lock jar clean

help:  ## print this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: $(READY)  ## run the demonstration
	@$(VENV)/bin/australis demo

quick: lint  ## lint, check types, run the tests that need no Spark and little time
	@PYTHONDONTWRITEBYTECODE= HYPOTHESIS_PROFILE=$(or $(HYPOTHESIS_PROFILE),quick) $(VENV)/bin/pytest -n 2 --dist loadfile -m "not spark and not slow" $(PYTEST_ARGS)

test: lint  ## lint, check types, run every test (PYTEST_ARGS="-k filter" to narrow it)
	@PYTHONDONTWRITEBYTECODE= $(VENV)/bin/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

lint: $(READY)  ## check style and types
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check
	@$(VENV)/bin/mypy

format: $(READY)  ## put the code in form
	@$(VENV)/bin/ruff check --fix-only
	@$(VENV)/bin/ruff format

chaos: $(READY)  ## kill a hundred runs at random moments (CHAOS=10 for ten)
	@AUSTRALIS_ROUNDS=$(or $(CHAOS),100) AUSTRALIS_SEED=$$RANDOM$$$$ $(VENV)/bin/pytest tests/engine/spark/test_killed.py $(PYTEST_ARGS)

bench: $(READY)  ## measure the boxes and the engine
	@$(VENV)/bin/australis bench boxes
	@$(VENV)/bin/australis bench engine

lock: $(VENV)/bin/uv  ## choose the newest versions of all dependencies again
	@$(UV) pip compile --universal --upgrade --generate-hashes --all-extras --group dev --python-version 3.11 \
		--no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		pyproject.toml --output-file requirements.lock

JAVA := src/australis/engine/spark
jar: $(READY)  ## compile the class of ours in Spark's Java again (needs a JDK)
	@rm -rf build/java
	@javac --release 17 -cp "$$($(VENV)/bin/python -c 'import pyspark; print(*pyspark.__path__)')/jars/*" -d build/java $(JAVA)/LogFiles.java
	@cp $(JAVA)/LogFiles.java build/java/australis/
	@jar --create --date=2026-01-01T00:00:00Z --no-manifest --file $(JAVA)/log_files.jar -C build/java australis

clean:  ## remove all that make and the tests have made
	@rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src tests -name __pycache__ -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml | $(VENV)/bin/uv
	@echo "Installing what requirements.lock names into $(VENV)"
	@$(UV) pip sync --python $(VENV) --require-hashes requirements.lock
	@$(UV) pip install --python $(VENV) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Australis needs Python 3.11 or newer: install it, then say for example: make PYTHON=python3.12 test" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv module is missing: install it (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@ln -sf "$$(command -v uv)" $@ 2>/dev/null || $(VENV)/bin/pip --quiet --quiet --disable-pip-version-check install uv
