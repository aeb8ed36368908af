# Two commands do all set-up: `make reproduce` and `make test`. Each makes the environments it needs, once,
# and again when a lock changes.
PYTHON ?= python3
KIT := .venv/kit
ENGINE := .venv/engine
CONVERTER := .venv/converter
CONFIG ?= config/quick.yaml
RUN_REPORT ?= results/snakemake-report.html
PIP := -m pip --disable-pip-version-check install --quiet --no-deps

export PATH := $(abspath $(KIT)/bin):$(PATH)
export PYTHONHASHSEED := 0
MAKEFLAGS += --jobs=2 # two environments at a time

.PHONY: help reproduce test check snakemake-report bench images locks clean
.DEFAULT_GOAL := help

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

reproduce: $(KIT)/ready $(ENGINE)/ready $(CONVERTER)/ready ## Rebuild everything with a small real model, without a GPU (CONFIG=… for another run)
	@test -f "$(CONFIG)" || { echo "make: CONFIG=$(CONFIG) is no file; expected a run's config, such as config/quick.yaml" >&2; exit 2; }
	@flock --nonblock --conflict-exit-code 75 --close .venv/run.lock sh -c \
	  'said=$$(snakemake --configfile "$$1" --unlock 2>&1) || { echo "$$said" >&2; exit 1; }; \
	  exec snakemake --cores all --configfile "$$1"' run "$(CONFIG)" \
	  || { status=$$?; [ $$status = 75 ] && echo "make: another run is going on in this folder; wait for it or stop it" >&2; exit $$status; }

test: $(KIT)/ready $(ENGINE)/ready $(CONVERTER)/ready ## Run the tests
	python -m pytest --numprocesses 2 --dist loadfile

check: $(KIT)/ready ## Lint, format and types
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules
	snakemake --lint --configfile config/quick.yaml
	hadolint Dockerfile

snakemake-report: $(KIT)/ready ## Snakemake's own report of a finished run, every figure with its caption (RUN_REPORT=FILE)
	snakemake --configfile "$(CONFIG)" --report "$(RUN_REPORT)"

bench: $(KIT)/ready ## Measure generation, scoring, queries and answers on this machine
	for file in benchmarks/*.py; do python $$file || exit 1; done

images: $(KIT)/ready ## Build the container images (IMAGES=--help shows the choices, such as IMAGES="engine --cpu")
	longtrek images $(if $(BUILDER),--builder "$(BUILDER)") $(addprefix --find-links ,$(firstword $(wildcard $(FIND_LINKS)))) $(IMAGES)

# PyTorch's CPU build is not in the registry: uv must be told of the folder or page where pip is configured to find it.
FIND_LINKS ?= $(shell $(PYTHON) -m pip config get global.find-links)
LOCK := .venv/lock/bin/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header
CPU := --find-links $(FIND_LINKS) --no-emit-find-links --override requirements-cpu.overrides

locks: ## Compile the locks again from what they name (needs the registry and the CPU build of PyTorch)
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/python $(PIP) uv
	$(LOCK) --extra kit pyproject.toml -o requirements.lock
	$(LOCK) $(CPU) requirements-engine.in -o requirements-engine.lock
	$(LOCK) requirements-engine-cuda.in -o requirements-engine-cuda.lock
	$(LOCK) $(CPU) requirements-converter.in -o requirements-converter.lock
	$(LOCK) requirements-converter-cuda.in -o requirements-converter-cuda.lock
	for lock in requirements-engine.lock requirements-converter.lock; do \
	  awk "/^[^ ]/ { keep = !/'never'/ } keep" $$lock > $$lock.kept && mv $$lock.kept $$lock; done

$(KIT)/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear $(KIT)
	$(KIT)/bin/python $(PIP) --require-hashes -r requirements.lock
	$(KIT)/bin/python $(PIP) --no-build-isolation --editable .
	@touch $@

$(ENGINE)/ready $(CONVERTER)/ready: .venv/%/ready: requirements-%.lock
	$(PYTHON) -m venv --clear .venv/$*
	.venv/$*/bin/python $(PIP) --require-hashes -r $< || { echo "make: $< was not installed. It needs PyTorch's CPU build" \
	  "(torch 2.13.0+cpu, Python 3.11): configure pip's find-links or extra-index-url so that pip finds it" >&2; exit 1; }
	@touch $@

clean: ## Remove the environments, not the results
	rm -rf .venv
