# Every target does its own set-up; a second call only does what has changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find cpp/core cpp/bindings -name '*.[ch]pp')
PACKAGES := $(shell find src/ceiba -name __init__.py)
EXAMPLES := compare_kmeans tree_votes tree_pruning forest_votes boosting_rounds gradient_boosting_rounds mixture_iris
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run examples test test-slow soak lint bench docs dist stubs clean

# The main job: seven learners compared on bundled tables, with a report.
run: $(VENV)/.installed
	@$(BIN)/ceiba run examples/workshop.toml --report out/workshop.html

# Pictures of single learners, with a page that shows all of them.
examples: $(VENV)/.installed
	@$(BIN)/python tools/run_examples.py $(EXAMPLES)

# What guards a change: units, contracts, oracles on a third of their examples, docstrings.
test: $(VENV)/.installed build/core-tests/.passed
	$(PYTEST) -m "not slow and not soak" --doctest-modules tests src/ceiba

# The rest: all estimator variants, every hypothesis example, pages, wheel, benchmark code, and the
# tools that read exported models.
test-slow: $(VENV)/.installed $(VENV)/.interop
	CEIBA_EXAMPLES=1 $(PYTEST) -m "(slow or hypothesis) and not soak" tests

soak: $(VENV)/.installed
	$(BIN)/python -m pytest -m soak --timeout 3600

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(shell find cpp -name '*.[ch]pp')
	$(BIN)/python tools/check_language.py
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

dist: $(VENV)/.installed
	$(BIN)/python -m build --no-isolation --outdir dist .

stubs: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -q -m ceiba._native -o src/ceiba/_native.pyi

clean:
	rm -rf build dist docs/_build docs/gallery docs/_generated out

$(VENV)/.tools:
	@echo "Making $(VENV) and installing the build tools ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q "scikit-build-core>=0.11" "nanobind>=3.1" "cmake>=3.21,<5" ninja
	touch $@

# Editable: Python sources are used in place. Built again when C++ changed; installed again when a
# package was added, because the editable finder lists the packages at the time of installation.
$(VENV)/.installed: $(VENV)/.tools pyproject.toml $(NATIVE) $(PACKAGES)
	@echo "Building Ceiba and installing it into $(VENV): minutes the first time, then seconds ..."
	$(BIN)/pip install -q --no-build-isolation -e ".[test,files,plots,cli,dask]"
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/pip install -q --no-build-isolation -e ".[bench]"
	touch $@

$(VENV)/.interop: $(VENV)/.installed
	$(BIN)/pip install -q --no-build-isolation -e ".[interop]"
	touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/pip install -q --no-build-isolation -e ".[docs]"
	touch $@

build/core-tests/.passed: $(VENV)/.tools $(NATIVE) $(wildcard cpp/tests/*)
	$(BIN)/cmake -S . -B build/core-tests -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCEIBA_BUILD_TESTS=ON > /dev/null
	$(BIN)/cmake --build build/core-tests
	$(BIN)/ctest --test-dir build/core-tests --output-on-failure
	touch $@
