# Two commands do all set-up: `make reproduce` and `make test`. Each makes the environments it needs, once,
# and again when a lock changes.
PYTHON ?= python3
KIT := .venv/kit
ENGINE := .venv/engine
CONFIG ?= config/quick.yaml
PIP := -m pip --disable-pip-version-check install --quiet --no-deps

export PATH := $(abspath $(KIT)/bin):$(PATH)
export PYTHONHASHSEED := 0

.PHONY: help reproduce test check bench locks clean
.DEFAULT_GOAL := help

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

reproduce: $(KIT)/ready $(ENGINE)/ready ## Rebuild everything with a small real model, without a GPU (CONFIG=… for another run)
	@flock --nonblock --conflict-exit-code 75 --close .venv/run.lock \
	  sh -c 'snakemake --configfile $(CONFIG) --unlock >/dev/null 2>&1; exec snakemake --cores all --configfile $(CONFIG)' \
	  || { status=$$?; [ $$status = 75 ] && echo "make: another run is going on in this folder; wait for it or stop it" >&2; exit $$status; }

test: $(KIT)/ready $(ENGINE)/ready ## Run the tests
	python -m pytest

check: $(KIT)/ready ## Lint, format and types
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules
	snakemake --lint --configfile config/quick.yaml

bench: $(KIT)/ready ## Measure generation and scoring on this machine
	for file in benchmarks/*.py; do python $$file || exit 1; done

locks: ## Compile the locks again from what they name (needs the registry that pip is configured for)
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/python $(PIP) uv
	$(LOCK) --extra kit pyproject.toml -o requirements.lock
	$(LOCK) --override requirements-cpu.overrides requirements-engine.in -o requirements-engine.lock
	sed -i 's|^torch==2.13.0 \\$$|&\n    --hash=sha256:$(TORCH_CPU) \\|' requirements-engine.lock

LOCK := .venv/lock/bin/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header
# The CPU build of PyTorch 2.13.0 for Python 3.11, which the registry does not hold: pip finds it where it is configured to look.
TORCH_CPU := 6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b

$(KIT)/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear $(KIT)
	$(KIT)/bin/python $(PIP) --require-hashes -r requirements.lock
	$(KIT)/bin/python $(PIP) --no-build-isolation --editable .
	@touch $@

$(ENGINE)/ready: requirements-engine.lock
	$(PYTHON) -m venv --clear $(ENGINE)
	$(ENGINE)/bin/python $(PIP) --require-hashes -r requirements-engine.lock
	@$(ENGINE)/bin/python -c 'import torch, sys; sys.exit(torch.version.cuda and "make: pip found a CUDA build of PyTorch; configure pip (find-links or an extra index) so that it finds the CPU build of torch 2.13.0")'
	@touch $@

clean: ## Remove the environments, not the results
	rm -rf .venv
