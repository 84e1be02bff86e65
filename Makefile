# confml: commands for new users first, then for readers of the papers and developers.
#
#   make run     make an environment, install, and run configs/quickstart.yaml
#   make test    install the packages for development, and run the tests
#   make help    list all targets

PYTHON ?= python3
VENV   ?= .venv
CONFML := $(VENV)/bin/confml
JOBS   ?=
# Targets that run configs take JOBS, ENGINE=joblib, serial or the address of a dask cluster, and SHARD=1/4, or auto
# in a job array: one part of each run, without the tables and figures of several runs. Run the target without SHARD
# when all parts are done.
RUN    := $(CONFML) run $(if $(JOBS),--jobs $(JOBS)) $(if $(ENGINE),--engine $(ENGINE)) \
  $(if $(SHARD),--shard $(SHARD))
# Compiles kernels, so that processes of the tests do not compile the same ones.
WARM   := $(CONFML) doctor --warm >/dev/null
# Without files of bytecode each new interpreter compiles all of confml.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: run test test-all gallery docs docs-outputs release-check bench validity arena fuzz goldens \
  kill-trial lint coverage format clean help

run: $(VENV)/installed  ## install, and run the quick start
	@$(RUN) configs/quickstart.yaml
	@echo 'page: results/quickstart/report.html   figures: results/quickstart/figures' >&2
	@echo 'the command is $(CONFML); ". $(VENV)/bin/activate" makes it available as confml' >&2

test: $(VENV)/installed-dev  ## install for development, and run the tests
	@$(WARM)
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal $(PYTEST)

test-all: $(VENV)/installed-dev  ## run the tests with all cases and draws
	@$(WARM)
	@$(VENV)/bin/python -m pytest -n auto --dist worksteal --exhaustive $(PYTEST)

# ---- tables and figures of the papers, on the real data (confml data fetch, or CONFML_DATA)

include tests/programs/reproduction/targets.mk

# Every kind of figure on data that need no download, with captions, in results/gallery/README.md (some minutes).
GALLERY := $(notdir $(basename $(wildcard configs/gallery/*.yaml)))
gallery: $(VENV)/installed  ## every kind of figure with its caption, in results/gallery/README.md
	@for name in $(GALLERY); do $(RUN) configs/gallery/$$name.yaml --out results/gallery/$$name --quiet || exit $$?; done
	@for name in $(GALLERY); do \
	  sed "s|](|]($$name/figures/|; s|^# .*|# $$name|" results/gallery/$$name/figures/index.md; done > results/gallery/README.md
	@echo results/gallery/README.md

# ---- documentation and release

# The site, in build/site: open build/site/index.html. "make gallery docs" has more figures, with captions.
docs: $(VENV)/installed-docs  ## build the documentation in build/site
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet --strict -f docs/mkdocs.yml
	@echo build/site/index.html

# Outputs that the pages show, from real runs (needs the data set fars).
docs-outputs: $(VENV)/installed-dev  ## write the outputs that the documentation shows
	@OMP_NUM_THREADS=1 $(VENV)/bin/python tests/documentation $(PAGES)

# The archives, in an empty environment: quick start, and tests of the installed package (PYTEST="..." for others).
RELEASE := build/release
release-check: $(VENV)/installed-dev  ## build the archives, and test them in an empty environment
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@$(VENV)/bin/python -m hatchling build -d $(RELEASE)/dist
	@$(PYTHON) -m venv $(RELEASE)/venv
	@$(RELEASE)/venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(echo $(RELEASE)/dist/*.whl)[liblinear,files]" pytest hypothesis
	@tar -xzf $(RELEASE)/dist/*.tar.gz -C $(RELEASE) && mv $(RELEASE)/confml-* $(RELEASE)/source && rm -r $(RELEASE)/source/confml
	@cd $(RELEASE)/source && PATH="$(abspath $(RELEASE))/venv/bin:$$PATH" && confml --version && confml doctor \
	  && confml run quickstart --quiet && confml compare results/quickstart --quiet \
	  && python -m pytest $(or $(PYTEST),tests/test_public_interface.py tests/commands tests/methods/test_methods_contract.py)

# ---- for developers

# Every benchmark with its baseline, on one thread: make bench, make bench ONLY=linear_svms,
# make bench PAGE=docs/pages/results/benchmarks.md.
bench: $(VENV)/installed-bench  ## benchmarks (ONLY=name; PAGE=file writes their table)
	@$(VENV)/bin/python tests/programs/bench $(if $(ONLY),--only $(ONLY)) $(if $(PAGE),--page $(PAGE))

# Simulated and guaranteed error rates of every p-value, probability and certificate (about 25 minutes on 2 cores):
# make validity, make validity DRAWS=500, make validity ONLY=martingales.
validity: $(VENV)/installed  ## error rates of p-values, probabilities and certificates (ONLY, DRAWS)
	@OMP_NUM_THREADS=1 $(VENV)/bin/python tests/programs/validity $(if $(ONLY),--only $(ONLY)) $(if $(DRAWS),--draws $(DRAWS)) \
	  $(if $(JOBS),--jobs $(JOBS))

# Other packages' own code and confml on the same rows of 54 data sets, in build/arena (hours; a run continues where it
# was stopped), with the page of its results: make arena, make arena ARENA="tables".
arena: $(VENV)/installed-bench  ## the arena: confml compared with MAPIE, crepes, puncc and others (ARENA)
	@OMP_NUM_THREADS=1 $(VENV)/bin/python tests/programs/arena $(ARENA) $(if $(JOBS),--jobs $(JOBS)) \
	  --page $(or $(PAGE),docs/pages/results/arena.md)

# Mutants of configs, CSV files, manifests and stored records. Each must be read, computed again, or
# refused with an error message: make fuzz MINUTES=5.
MINUTES ?= 5
fuzz: $(VENV)/installed-dev  ## fuzz the readers (MINUTES=5)
	@$(VENV)/bin/python tests/programs/fuzz $(MINUTES)

# Kill a small run with two workers at random times, resume it, and compare all CSV files: make kill-trial TRIALS=20.
TRIALS ?= 20
kill-trial: $(VENV)/installed-dev  ## kill and resume a run (TRIALS=20)
	@$(VENV)/bin/python tests/programs/kill_trial.py $(TRIALS)

# Outputs of the runs of tests/programs/goldens, compared with those of the baseline: make goldens, make goldens ONLY=usps.
goldens: $(VENV)/installed-dev  ## compare outputs of this checkout with those of the baseline (ONLY)
	@$(VENV)/bin/python tests/programs/goldens check $(if $(ONLY),--only $(ONLY))

lint: $(VENV)/installed-dev  ## ruff, mypy, and numpydoc for the docstrings of public names
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy
	@$(VENV)/bin/python -m pytest -p no:cacheprovider tests/documentation/test_public_docstrings.py -k valid

# Percentage of lines and branches that the tests execute, in all processes, without compiled kernels.
coverage: $(VENV)/installed-dev  ## count the lines that the tests execute
	@$(VENV)/bin/python -m coverage erase
	@$(VENV)/bin/python -m coverage run -m pytest -n auto --dist worksteal $(PYTEST)
	@$(VENV)/bin/python -m coverage combine --quiet
	@$(VENV)/bin/python -m coverage report --skip-covered --sort=cover

format: $(VENV)/installed-dev  ## format the code
	@$(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

clean:  ## remove the environment and caches
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every line "target: ... ## text" of this file and of targets.mk.
help:  ## list the targets
	@echo 'make TARGET [JOBS=N]'
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*  ## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	  while IFS='|' read -r name text; do printf '  %-31s  %s\n' "$$name" "$$text"; done

# ---- the environment

define preflight
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "confml needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | tail -n 1);" \
	       "name another one: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@[ "$(LIBLINEAR)" = no ] || command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || { \
	  echo "no C++ compiler, and LIBLINEAR is compiled at install;" \
	       "install one (Debian: apt-get install g++; macOS: xcode-select --install)," \
	       "or leave LIBLINEAR and its methods out: make $(MAKECMDGOALS) LIBLINEAR=no" >&2; exit 2; }
endef

$(VENV)/bin/python:
	$(preflight)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing confml into $(VENV), once (about a minute)" >&2
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.$(if $(filter no,$(LIBLINEAR)),,[liblinear])'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[bench]'
	@# smartsvm does not state what it needs to be built, and its own C files are too old for Python 3.11.
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check cython setuptools wheel six
	@$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-build-isolation smartsvm
	@touch $@
