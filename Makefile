# The whole interface of the project. Every target sets up what it needs in .venv and .cache.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup compile check test test-cluster test-argocd test-browser test-telemetry lint types format golden docs schemas kubeconform bench wheel clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(READY) ## Make the virtual environment

compile: $(READY) ## Compile the example organization to out/
	$(BIN)/tenancy compile org -o out

check: $(READY) ## Fail if out/, the schemas of the language or the generated documentation are stale
	$(BIN)/tenancy compile org -o out --check
	$(BIN)/python tools/docs.py --check

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest -n auto --dist worksteal

test-cluster: $(READY) ## Run the tests against real control planes with Kueue and Volcano, built first (Linux)
	$(BIN)/python -m tests.cluster.build
	$(BIN)/python -m pytest tests/cluster -n 3 --dist loadscope --no-loadscope-reorder

test-argocd: $(READY) ## Run the tests against a real Argo CD on such control planes, built first (Linux, Redis)
	$(BIN)/python -m tests.cluster.build --argocd
	$(BIN)/python -m pytest tests/argocd -n 2 --dist loadscope

test-browser: $(READY) ## Run the tests of the site in a headless Chromium (installed by apt where there is none)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r tests/browser/requirements.txt
	$(BIN)/python -m pytest tests/browser

test-telemetry: $(READY) ## Run the tests of rules and dashboards with promtool and with Grafana's packages (installed from npm)
	$(BIN)/python -m tests.telemetry.grafana
	$(BIN)/python -m pytest tests/telemetry -n auto

lint: $(READY) ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types
	$(BIN)/mypy

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(READY) ## Rewrite the golden files; review them with git diff
	$(BIN)/python -m pytest -n auto --golden
	$(BIN)/tenancy compile org -o out
	$(BIN)/python tools/docs.py

docs: $(READY) ## Rewrite the generated documentation and the schemas of the language
	$(BIN)/python tools/docs.py

schemas: $(READY) ## Regenerate the Kubernetes, Kueue and Volcano schemas from the upstream modules (needs Go)
	$(BIN)/python tools/schemas.py

kubeconform: $(READY) ## Validate out/ with the real kubeconform
	$(BIN)/python tools/kubeconform.py out

bench: $(READY) ## Measure against the usual script and the bare floor
	$(BIN)/python tools/bench.py

wheel: $(READY) ## Build the wheel
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation -w dist .

clean: ## Remove what the targets made (not out/)
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
