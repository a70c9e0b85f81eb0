# Every target makes its own virtual environment when it is missing: a machine with Python 3.11+ needs nothing else.
# Where there is no C++ compiler, one is taken from the package index into the environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WERROR ?= ON
ZIG := [ ! -d $(VENV)/zig ] || export PATH="$(abspath $(VENV))/zig:$$PATH" CC=cc CXX=c++;
PIP := $(ZIG) $(BIN)/python -m pip --quiet --disable-pip-version-check
BUILD := --no-build-isolation --config-settings=cmake.define.NOREGRET_WERROR=$(WERROR)
KEPT := $(BUILD) --config-settings='build-dir=build/{wheel_tag}'
EDITABLE := $(PIP) install -c constraints.txt $(KEPT) -e
NATIVE := CMakeLists.txt $(shell find native/bind -type f) $(wildcard native/*.hpp native/*.cpp)

.PHONY: demo test lint sanitized wheel docs bench clean

# The environment in three steps: what builds, then the package with what its demo needs, then what its tests need.
$(VENV)/.tools: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "noregret needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt scikit-build-core nanobind numpy cmake ninja
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || { \
	  echo 'no C++ compiler found: installing ziglang from the package index'; \
	  $(PIP) install -c constraints.txt ziglang && mkdir -p $(VENV)/zig && cd $(VENV)/zig && \
	  for tool in 'cc -mcpu=baseline' 'c++ -mcpu=baseline' ar ranlib; do \
	    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$$@"\n' '$(abspath $(BIN))/python' "$$tool" >$${tool%% *}; \
	  done && chmod +x *; }
	touch $@

$(VENV)/.core: $(VENV)/.tools pyproject.toml $(NATIVE)
	$(EDITABLE) '.[plot]'
	touch $@

$(VENV)/.all: pyproject.toml constraints.txt | $(VENV)/.core
	$(EDITABLE) '.[plot,own,serve,dev,docs,browser]'
	touch $@

READY := $(VENV)/.core $(VENV)/.all

demo: $(VENV)/.core
	$(BIN)/noregret demo
	cp demo/explains.svg docs/pictures/explains.svg

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(READY) lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

# A second environment, which sees the packages of the first one but has its own core, built with AddressSanitizer and UBSan.
CHECKED := build/sanitized
CHECKED_TESTS := tests/contract $(wildcard tests/unit/test_stream_*.py) tests/theorem/test_ledger.py \
  $(patsubst %,tests/unit/test_%.py,chain decimal experts experts_combination finite_dimension functions hindsight kernel kernel_fold late \
    looking_back native_text one_example own read_only voted)
PACKAGES := -c 'import site; print(site.getsitepackages()[0])'
$(CHECKED)/.ready: $(READY)
	$(BIN)/python -m venv --without-pip $(CHECKED)
	$(BIN)/python $(PACKAGES) >"$$($(CHECKED)/bin/python $(PACKAGES))/first.pth"
	$(CHECKED)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --ignore-installed $(BUILD) \
	  --config-settings=build-dir=$(CHECKED)/core --config-settings=install.strip=false \
	  --config-settings=cmake.define.NOREGRET_SANITIZE=ON -e .
	touch $@

sanitized: $(CHECKED)/.ready
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 NOREGRET_PROCESSOR=plain \
	  $(CHECKED)/bin/python -m pytest -n 2 --dist worksteal $(CHECKED_TESTS)

wheel: $(VENV)/.tools
	$(PIP) wheel --no-deps $(KEPT) -w dist .

docs: $(READY)
	$(BIN)/python -m sphinx -W -n --keep-going -q -b html docs build/docs
	@echo 'the guide is built: open build/docs/index.html'

bench: $(READY)
	$(EDITABLE) '.[peers]'
	$(BIN)/noregret bench --json bench.json

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
