# Every target makes its own virtual environment when it is missing: a machine with Python 3.11+ needs nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint docs bench clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "noregret needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot,dev,docs,browser]'
	touch $(READY)

demo: $(READY)
	$(BIN)/noregret demo
	cp demo/explains.svg docs/pictures/explains.svg

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(READY) lint
	$(BIN)/python -m pytest -n 2 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist loadfile tests/contract
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/bounds-checked $(BIN)/python -m pytest -n 2 --dist loadfile tests/contract

docs: $(READY)
	$(BIN)/python -m sphinx -W -n --keep-going -q -b html docs build/docs
	@echo 'the guide is build/docs/index.html'

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	$(BIN)/noregret bench --json bench.json

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
