# What a person types: `make` lists it. Everything runs in .venv, which `make venv` makes.

PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PEERS := $(VENV)/.installed-bench

# This environment's kernel and nobody else's, whatever kernels a user has installed elsewhere.
export JUPYTER_PATH := $(CURDIR)/$(VENV)/share/jupyter
export JUPYTER_PREFER_ENV_PATH := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONHOME

.PHONY: help venv demo lab test bench check clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)$$/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

venv: $(INSTALLED) ## the environment in .venv, with all that development and the demo need

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "nbprof needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo not there)." >&2; \
	  echo "Name another one: make $(or $(MAKECMDGOALS),venv) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments (it lacks ensurepip)." >&2; \
	  echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing nbprof and what its demo and tests need into $(VENV) (some minutes the first time)"
	$(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt -e '.[demo,dev]'
	@touch $@

demo: $(INSTALLED) ## run the quickstart notebook and say where its pages are
	@$(BIN)/python notebooks/run_demo.py

lab: $(INSTALLED) ## open the quickstart in JupyterLab
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS) notebooks/quickstart.ipynb

test: $(INSTALLED) ## all tests: units, the notebooks, the browser where Chromium is there
	$(BIN)/pytest tests notebooks --nbval-lax --nbval-current-env -n auto --dist loadfile $(PYTEST_ARGS)

bench: $(PEERS) ## what profiling and reading cost, as ratios within one run
	$(BIN)/python -m tests.benchmarks $(BENCH_ARGS)

$(PEERS): $(INSTALLED)
	@$(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt -e '.[bench]' && touch $@ || \
	  echo "The peers could not be installed; their rows are skipped."

check: $(INSTALLED) ## style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict nbprof
	$(BIN)/pytest -q tests/test_house.py

clean: ## remove what was built, the environment included
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf notebooks/out notebooks/.nbprof
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
