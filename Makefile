# make demo   install into .venv and score the bundled example
# make test   install into .venv and run the tests in JOBS processes, but for the slow ones
# make slow   likewise, the slow ones: clusters, kills, thousands of random orders
# make fuzz   FUZZ damaged inputs among all commands that read files, within bounds
# make lint   ruff, formatting and types
# make docs   the manual as build/site; a dead link or a page outside the navigation stops it
# make figures write the tables of README.md and docs/ anew from benchmarks/results/
# make parity compare with the original SummaC and BLANC, in a virtualenv of its own

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
FUZZ ?= 2000
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

.PHONY: demo test slow fuzz lint bench docs figures parity clean

demo: $(VENV)/.installed
	$(BIN)/prevalence score examples/summaries.jsonl
	$(BIN)/prevalence score examples/summaries.jsonl --systems balanced --explain --quiet --limit 1

# A file's tests stay in one process, with the models and servers that they share.
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow"

slow: $(VENV)/.installed-dev
	$(PYTEST) -m slow

fuzz: $(VENV)/.installed-dev
	FUZZ=$(FUZZ) $(PYTEST) --dist load tests/cli/test_fuzz.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.cpu_scoring

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

figures: $(VENV)/.installed
	$(BIN)/python -m benchmarks.figures

# The original packages need older libraries than ours; everything else, torch included, they take
# from our environment.
ORIGINAL := summac==0.0.4 blanc==0.3.4 transformers==4.34.1 tokenizers==0.14.1 huggingface-hub==0.17.3 \
  requests urllib3 charset-normalizer certifi idna

parity: .parity/.installed
	$(BIN)/python -m benchmarks.summac_parity prepare .parity/work
	HF_HUB_OFFLINE=1 .parity/bin/python benchmarks/summac_original.py .parity/work
	$(BIN)/python -m benchmarks.summac_parity record .parity/work
	$(BIN)/python -m benchmarks.blanc_parity prepare .parity/blanc
	HF_HUB_OFFLINE=1 .parity/bin/python benchmarks/blanc_original.py .parity/blanc
	$(BIN)/python -m benchmarks.blanc_parity record .parity/blanc

.parity/.installed: $(VENV)/.installed-dev Makefile
	test -x .parity/bin/python || $(BIN)/python -m venv .parity
	.parity/bin/python -m pip --disable-pip-version-check install -q --no-deps $(ORIGINAL)
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	  "$$(.parity/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/ours.pth"
	touch $@

# The CPU build of torch first: the registry that pip is set up with if it has one, PyTorch's own
# index otherwise. Everything after it finds torch installed and fetches no CUDA packages.
$(VENV)/.torch: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch \
	  || $(PIP) install -q -c constraints.txt --extra-index-url $(TORCH_INDEX) torch
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(PIP) install -q -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -q -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install -q -c constraints.txt -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .parity build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
