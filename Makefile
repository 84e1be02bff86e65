# confml: the two commands of a new user, then what developers and readers of the papers need.
#
#   make run     make an environment, install, and run configs/quickstart.yaml
#   make test    make what they need and run the tests

PYTHON ?= python3
VENV   ?= .venv
CONFML := $(VENV)/bin/confml
JOBS   ?=
RUN    := $(CONFML) run $(if $(JOBS),--jobs $(JOBS))

.DELETE_ON_ERROR:
.PHONY: run test bench lint format table-tcm-nn figure-tcm-1 figure-tcm-2 clean help

run: $(VENV)/installed
	@$(RUN) configs/quickstart.yaml

test: $(VENV)/installed-dev
	@$(VENV)/bin/python -m pytest -n auto --dist loadfile $(PYTEST)

# ---- tables of the papers, on the real data (confml data fetch, or CONFML_DATA)

# Proedrou et al. 2002, tables 1 to 3: TCM-NN and 1-NN computed, the literature's columns quoted.
table-tcm-nn: $(VENV)/installed
	@for name in usps satellite shuttle segment; do $(RUN) configs/$$name.yaml --quiet || exit $$?; done
	@$(CONFML) report $(addprefix results/,usps satellite shuttle segment) --out results/tcm-nn \
	  --table tcm-nn-table1 --table tcm-nn-table2 --table tcm-nn-table3

# Graepel et al., Bayesian transduction, figure 2: error against rejection rate, 100 splits (some minutes).
.PHONY: figure-transduction
figure-transduction: $(VENV)/installed
	@for name in thyroid heart; do $(RUN) configs/transduction-$$name.yaml --quiet || exit $$?; done
	@ls results/transduction-*/figures/*.png

# ---- figures of the papers

# Proedrou et al. 2002, figure 1: error of TCM-NN and of nearest neighbours on USPS, k = 1 to 20.
figure-tcm-1: $(VENV)/installed
	@$(RUN) configs/tcm-nn-figure1.yaml

# The same, figure 2: regions with the true label against confidence level; 50 test images, and all of them.
figure-tcm-2: $(VENV)/installed
	@$(RUN) configs/tcm-nn-figure2.yaml

# ---- for developers

# Every benchmark beside what it is measured against, one thread: make bench, make bench ONLY=usps_k1.
bench: $(VENV)/installed-bench
	@$(VENV)/bin/python tests/bench $(if $(ONLY),--only $(ONLY))

lint: $(VENV)/installed-dev
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .

format: $(VENV)/installed-dev
	@$(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

# ---- the environment

define preflight
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "confml needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | tail -n 1);" \
	       "name another one: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || { \
	  echo "no C++ compiler, and LIBLINEAR is compiled at install;" \
	       "install one (Debian: apt-get install g++; macOS: xcode-select --install)" >&2; exit 2; }
endef

$(VENV)/bin/python:
	$(preflight)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing confml into $(VENV), once (about a minute)" >&2
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@
