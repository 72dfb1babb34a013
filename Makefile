# Everything runs in .venv, made here from the locked requirements; only python3 (3.11 or newer),
# pip and make have to be there. A second call finds what the first one installed.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --python $(RUN) --disable-pip-version-check install --quiet
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs
LOCK_VENV := build/lock
TRAIN_VENV := build/train
TRAIN_PIP = $(PYTHON) -m pip --python $(TRAIN_VENV)/bin/python --disable-pip-version-check install \
	--quiet $(LOCKED)
FRAMEWORKS_VENV := build/frameworks
UV_VERSION := 0.13.7
# Locks are complete, and pip finds no pin for "name[extra]" once a newer release is out.
LOCKED := --no-deps --require-hashes
COMPILE := $(LOCK_VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
ARGS ?=
DATA ?= data
MINUTES ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast coverage check fuzz reproducible sbom train-check frameworks-check bench experiments docs setup lock clean
.DELETE_ON_ERROR:

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(RUNTIME) ## index the bundled article and show what was understood
	$(VENV)/bin/abstrag demo

test: $(DEV) ## run the tests (ARGS="-k store" picks some)
	$(RUN) -m pytest $(ARGS)

test-fast: $(DEV) ## the tests that are over within 90 seconds
	$(RUN) -m pytest -m "not slow" $(ARGS)

coverage: $(DEV) ## the same tests, and how much of both packages they run (it has a floor)
	@mkdir -p build
	$(RUN) -m coverage run -m pytest -m "not slow" $(ARGS)
	$(RUN) -m coverage report

check: $(DEV) ## lint, formatting and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m mypy --config-file training/mypy.ini training/*.py

fuzz: $(DEV) ## hunt for files and requests that break a parser or a server (MINUTES=60)
	$(RUN) -m tests.fuzz.hunt --crafted --minutes $(MINUTES) $(ARGS)

reproducible: $(DEV) ## build both wheels twice and compare the bytes
	rm -rf build/once build/twice
	@set -e; for folder in build/once build/twice; do \
		$(RUN) -m hatchling build -t wheel -d $$folder > /dev/null; \
		(cd bench && ../$(RUN) -m hatchling build -t wheel -d ../$$folder > /dev/null); \
	done
	diff -r build/once build/twice && sha256sum build/once/*.whl

sbom: $(DEV) ## list everything that ships, with hashes and licences, in build/sbom.cdx.json
	@mkdir -p build
	$(RUN) tools/sbom.py > build/sbom.cdx.json

bench: $(DEV) ## run every script in benchmarks/
	@set -e; for script in benchmarks/*.py; do echo "== $$script"; $(RUN) $$script; done

train-check: $(RUNTIME) ## every step of training on toy data (installs PyTorch into build/train)
	$(PYTHON) -m venv --without-pip $(TRAIN_VENV)
	$(TRAIN_PIP) -r requirements/training.lock
	$(TRAIN_PIP) -r requirements/torch-cpu.lock || $(TRAIN_PIP) -r requirements/torch-gpu.lock
	$(TRAIN_VENV)/bin/python training/smoke.py --client $(RUN)

frameworks-check: ## the adapters in LangChain, LlamaIndex, Haystack, PyTerrier (into build/frameworks)
	$(PYTHON) -m venv --without-pip $(FRAMEWORKS_VENV)
	$(PYTHON) -m pip --python $(FRAMEWORKS_VENV)/bin/python --disable-pip-version-check install \
		--quiet $(LOCKED) -r requirements/frameworks.lock -r requirements/build.lock
	$(PYTHON) -m pip --python $(FRAMEWORKS_VENV)/bin/python --disable-pip-version-check install \
		--quiet --no-deps --no-build-isolation -e .
	$(FRAMEWORKS_VENV)/bin/python -m pytest tests/frameworks $(ARGS)

experiments: $(DEV) ## the paper's tables and figures, into docs/experiments (DATA=folder)
	$(VENV)/bin/abstrag bench experiments --data $(DATA) --out build/experiments \
		--pages docs/experiments --workers 2 $(ARGS)

docs: $(DOCS) $(RUNTIME) ## build the site into site/
	$(RUN) -m mkdocs build --strict --quiet
	$(VENV)/bin/abstrag schema > site/schema.json

setup: $(DEV) ## only make .venv and install everything

lock: ## bring requirements/ up to date with pyproject.toml (UPGRADE=1 moves every pin)
	$(PYTHON) -m venv --without-pip $(LOCK_VENV)
	$(PYTHON) -m pip --python $(LOCK_VENV)/bin/python install --quiet uv==$(UV_VERSION)
	$(COMPILE) pyproject.toml -o requirements/runtime.lock
	$(COMPILE) --group build -c requirements/runtime.lock -o requirements/build.lock
	$(COMPILE) pyproject.toml bench/pyproject.toml --group dev --no-emit-package abstrag \
		-c requirements/runtime.lock -c requirements/build.lock -o requirements/dev.lock
	$(COMPILE) --no-deps --group local-llm -o requirements/local-llm.lock
	$(COMPILE) pyproject.toml --extra server --extra postgres -c requirements/dev.lock \
		-o requirements/server.lock
	$(COMPILE) pyproject.toml --group frameworks -c requirements/dev.lock \
		-o requirements/frameworks.lock
	$(COMPILE) --group docs -c requirements/dev.lock -o requirements/docs.lock
	$(COMPILE) --group training -c requirements/dev.lock -o build/training.lock
	$(PYTHON) tools/split_training_lock.py build/training.lock requirements

clean: ## remove .venv, caches and everything built
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(RUN):
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("abstrag needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv --without-pip $(VENV)

# What a user installs, and what it takes to install a checkout in place.
$(RUNTIME): requirements/runtime.lock requirements/build.lock pyproject.toml | $(RUN)
	$(PIP) $(LOCKED) -r requirements/runtime.lock -r requirements/build.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# What the tests need on top of it; the locks agree, so nothing is installed twice. The benchmark too.
$(DEV): requirements/dev.lock requirements/local-llm.lock bench/pyproject.toml $(RUNTIME)
	$(PIP) $(LOCKED) -r requirements/dev.lock
	$(PIP) $(LOCKED) -r requirements/local-llm.lock
	$(PIP) --no-deps --no-build-isolation -e bench
	@touch $@

$(DOCS): requirements/docs.lock | $(RUN)
	$(PIP) $(LOCKED) -r requirements/docs.lock
	@touch $@
