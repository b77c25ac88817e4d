# Everything that elmbench needs goes into .venv, from the lock files; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# The seed of `make fuzz`, another one in each run; make prints it with the command.
SEED ?= $(shell date +%s)
# No command writes to results/ by itself.
COMMITTED := $(BIN)/elmbench --results-dir results
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE = .release-packages/bin/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
  --no-annotate --python-version 3.11 --custom-compile-command "make lock" $(UPGRADE)
# Threads of the tests, so that results do not depend on the machine's cores.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: reproduce test-all test-rest results results-eem results-rkelm results-ospvm results-mk-elm bench pages reference fingerprints test fuzz mutants lint types check baseline lock clean help

help: ## Show the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

reproduce: $(VENV)/.runtime ## Rerun a table of KOS-ELM beside its published values; run the other papers' models on generated data.
	$(BIN)/elmbench run rkelm/table6 rkelm/table7 rkelm/table12 -d waveform-drawn --jobs $(JOBS)
	$(BIN)/elmbench run eem/table4 ospvm/table12 mk-elm/algorithm1 --profile ci --runs 3 --jobs $(JOBS)
	$(BIN)/elmbench run kos-elm/table4 -d wdbc --jobs $(JOBS)
	@printf '\njudged: kos-elm/table4 on WDBC, the data of the paper\n'
	@$(BIN)/elmbench check kos-elm/table4 --against published --profile fast --results-dir elmbench-results \
	  | sed -n '/^kos-elm:/,$$p'
	@echo 'demonstrations, on generated data or few rows: rkelm/table6 rkelm/table7 rkelm/table12'
	@echo '  eem/table4 ospvm/table12 mk-elm/algorithm1'
	@echo 'next: source $(BIN)/activate, then: elmbench list experiments'

results: $(VENV)/.runtime ## Compute the committed results; ELMBENCH_DATA_DIR must name the folder of data files.
	@test -n "$$ELMBENCH_DATA_DIR" || { echo "set ELMBENCH_DATA_DIR to a folder with sylva.csv and calhousing.csv"; exit 2; }
	$(COMMITTED) run --paper kos-elm --jobs $(JOBS)
	$(COMMITTED) run kos-elm/table5 --runs 3 --jobs $(JOBS)
	$(COMMITTED) run table4 table7 --profile paper -d wdbc --jobs $(JOBS)
	$(COMMITTED) run table4 -d wdbc --select nested --jobs $(JOBS)
	$(COMMITTED) run table4 -d wdbc --select nested --reading c-grid=all-powers --jobs $(JOBS)
	for reading in os-start=ridge os-start=toolbox ald-threshold=as-printed carry-over=folds order=stored scaling=train; do \
	  $(COMMITTED) run table4 -d wdbc --reading $$reading --jobs $(JOBS) || exit 1; done
	$(COMMITTED) run kos-elm/table4 kos-elm/text-speed -d sylva --runs 3 --jobs $(JOBS)
	$(COMMITTED) run table4 -d sylva -m fb-kos-elm --runs 3 --reading carry-over=folds --jobs $(JOBS)
	$(COMMITTED) run kos-elm/table6 kos-elm/text-budget --runs 3 --jobs $(JOBS)
	for start in ridge toolbox; do \
	  $(COMMITTED) run table6 -m os-elm --runs 3 --reading os-start=$$start --jobs $(JOBS) || exit 1; done
	$(COMMITTED) run table6 -m ald-kos-elm --runs 3 --reading ald-threshold=as-printed --jobs $(JOBS)
	$(COMMITTED) run table6 -d calhousing -m fb-kos-elm -m ald-kos-elm --runs 3 --reading carry-over=folds --jobs $(JOBS)
	$(COMMITTED) run table6 -d calhousing -m ald-kos-elm --runs 3 --reading carry-over=folds \
	  --reading ald-threshold=as-printed --jobs $(JOBS)
	$(COMMITTED) run table6 -d calhousing -m os-elm -m fb-kos-elm -m ald-kos-elm --runs 3 --reading order=stored \
	  --jobs $(JOBS)
	for noise in 0 1e-4 2e-4; do \
	  $(COMMITTED) run table6 -d mackey-glass -m elm -m os-elm -m fb-kos-elm -m ald-kos-elm --runs 3 \
	    --reading mg-noise=$$noise --jobs $(JOBS) || exit 1; done
	$(COMMITTED) run table6 -d mackey-glass --reading mg-noise=0 --jobs $(JOBS)
	$(COMMITTED) report

results-eem: $(VENV)/.runtime ## The same for the EEM paper, on those of its data sets that the folder has.
	@test -n "$$ELMBENCH_DATA_DIR" || { echo "set ELMBENCH_DATA_DIR to a folder with the EEM paper's data files"; exit 2; }
	$(COMMITTED) run --paper eem --jobs $(JOBS)
	$(COMMITTED) run eem/table4 --profile paper --runs 10 -m w-elm -m eem -m ls-svm -m eekm --jobs $(JOBS)
	$(COMMITTED) run eem/table4 --profile paper --runs 3 -m svm --jobs $(JOBS)
	$(COMMITTED) run eem/table5 --profile paper --runs 3 --jobs $(JOBS)
	$(COMMITTED) run eem/table9 eem/table10 --profile paper --runs 3 --jobs $(JOBS)
	for models in "LS-SVM-RBF -m EEKM-RBF" "SVM-RBF -d splice"; do \
	  $(COMMITTED) run eem/table9 eem/table10 --profile paper --runs 3 --reading gamma-grid=to-0.1 \
	    -m $$models --jobs $(JOBS) || exit 1; done
	$(COMMITTED) run eem/table4 -d heart -d ionosphere -d liver-disorders --reading scaling=train --jobs $(JOBS)
	$(COMMITTED) run eem/table4 eem/table5 -m LS-SVM-RBF --reading ls-svm-weights=as-printed --jobs $(JOBS)
	$(COMMITTED) run eem/table4 eem/table5 -m LS-SVM-RBF -m EEKM-RBF --reading gamma-grid=to-0.1 --jobs $(JOBS)
	$(COMMITTED) run eem/table1 --runs 3 --jobs $(JOBS)
	$(COMMITTED) run eem/table1 --runs 3 --reading dcs=as-printed --jobs $(JOBS)
	$(COMMITTED) run eem/table1 --runs 3 --reading nodes=nsig --jobs $(JOBS)
	$(COMMITTED) run eem/table9 --reading dcs=as-printed --jobs $(JOBS)
	$(COMMITTED) report

results-rkelm: $(VENV)/.runtime ## The same for the RKELM paper.
	@test -n "$$ELMBENCH_DATA_DIR" || { echo "set ELMBENCH_DATA_DIR to a folder with the RKELM paper's data files"; exit 2; }
	$(COMMITTED) run --paper rkelm --jobs $(JOBS)
	$(COMMITTED) run rkelm/table11 --profile paper --jobs $(JOBS)
	$(COMMITTED) run rkelm/table6 rkelm/table7 --profile paper --jobs $(JOBS)
	$(COMMITTED) run rkelm/table9 --runs 3 --jobs $(JOBS)
	$(COMMITTED) run rkelm/table3 --profile paper -d auto-mpg -d wisconsin -d triazines --jobs $(JOBS)
	$(COMMITTED) run rkelm/table5 --profile paper -d segment -m rkelm -m elm -m kelm -m ls-svm -m svm --select published \
	  --jobs $(JOBS)
	$(COMMITTED) run rkelm/table5 --profile paper -d satimage -m rkelm --jobs $(JOBS)
	$(COMMITTED) run rkelm/table12 --profile paper --jobs $(JOBS)
	$(COMMITTED) report

results-ospvm: $(VENV)/.runtime ## The same for the OSPVM paper.
	@test -n "$$ELMBENCH_DATA_DIR" || { echo "set ELMBENCH_DATA_DIR to a folder with the OSPVM paper's data files"; exit 2; }
	$(COMMITTED) run --paper ospvm --jobs $(JOBS)
	$(COMMITTED) run --paper ospvm --profile paper -d orl-faces -d arcene -d dexter -d mfeat --jobs $(JOBS)
	for reading in theta-ratio=squared rank=truncate mean-update=off input-scaling=zero-one input-scaling=unit-rows; do \
	  $(COMMITTED) run ospvm/table2 ospvm/table4 ospvm/table8 ospvm/table12 --reading $$reading \
	    -d orl-faces -d arcene -d dexter -d mfeat --jobs $(JOBS) || exit 1; done
	$(COMMITTED) report

results-mk-elm: $(VENV)/.runtime ## The same for the MK-ELM paper.
	@test -n "$$ELMBENCH_DATA_DIR" || { echo "set ELMBENCH_DATA_DIR to a folder with ionosphere and mfeat"; exit 2; }
	$(COMMITTED) run mk-elm/algorithm1 --jobs $(JOBS)
	$(COMMITTED) run mk-elm/algorithm1 --profile paper -d wdbc -d ionosphere --jobs $(JOBS)

bench: $(VENV)/.runtime .bench-packages/.installed ## Measure against scikit-learn and others (half an hour); ROWS="elm-wdbc ..." for some.
	$(THREADS) $(BIN)/python -m benchmarks $(ROWS)

# Other ELM packages, apart from .venv; if one cannot be installed, its rows of the benchmark say so.
.bench-packages/.installed: benchmarks/requirements.txt | $(VENV)/.runtime
	rm -rf $(@D) && mkdir $(@D)
	$(PIP) --no-deps --require-hashes --target $(@D) -r $< || echo "other ELM packages do not install here"
	@touch $@

test: $(VENV)/.dev ## Run the tests (six minutes on two cores).
	$(THREADS) $(BIN)/python -m pytest -n $(JOBS) -m "not exhaustive"

test-all: test test-rest ## Run all tests (a quarter of an hour).

test-rest: $(VENV)/.dev ## Run what `make test` leaves out: every variant, and ten times the random problems.
	$(THREADS) $(BIN)/python -m pytest -n $(JOBS) -m "exhaustive or hypothesis" --hypothesis-profile=thorough

fuzz: $(VENV)/.dev ## Test on new random problems and damaged input; SEED=... repeats an earlier run.
	$(THREADS) $(BIN)/python -m pytest -n $(JOBS) --timeout=3000 -m "hypothesis or seeded" \
	  --hypothesis-profile=fuzz --hypothesis-seed=$(SEED)

mutants: $(VENV)/.dev .mutant-packages/.installed ## Plant faults and count those that the tests detect; MODULES="..." MUTANTS=20 each.
	$(THREADS) SEED=$(SEED) PYTHONPATH=$(CURDIR)/.mutant-packages $(BIN)/python -m tools.mutants $(MODULES)

# The tool that plants faults, apart from .venv.
.mutant-packages/.installed: tools/mutants-requirements.txt | $(VENV)/.runtime
	rm -rf $(@D) && mkdir $(@D)
	$(PIP) --require-hashes --target $(@D) -r $<
	@touch $@

lint: $(VENV)/.dev ## Check style and formatting.
	$(BIN)/ruff check elmbench tests benchmarks tools
	$(BIN)/ruff format --check elmbench tests benchmarks tools

types: $(VENV)/.dev ## Check types.
	$(BIN)/mypy elmbench benchmarks tools

check: $(VENV)/.runtime ## Run profile ci into an empty folder and compare with the baselines.
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(BIN)/elmbench --results-dir "$$folder" -q run --all --profile ci --jobs $(JOBS) > /dev/null && \
	$(BIN)/elmbench --results-dir "$$folder" check --against baseline

fingerprints: $(VENV)/.runtime ## Rewrite the fingerprints of the available data sets in datasets.yaml.
	$(BIN)/elmbench data fingerprint

pages: $(VENV)/.runtime ## Rewrite the tables in README.md and docs/ from the committed results.
	$(BIN)/python -m tools.results_pages

reference: $(VENV)/.runtime ## Rewrite docs/reference.md, the page of all YAML keys.
	$(BIN)/python -m tools.reference_page

lock: .release-packages/.installed ## Resolve the dependencies again and pin them with hashes. UPGRADE=--upgrade takes new versions.
	$(COMPILE) \
	  --group pyproject.toml:build pyproject.toml -o requirements.txt
	$(COMPILE) \
	  --group pyproject.toml:dev -c requirements.txt pyproject.toml -o requirements-dev.txt
	$(COMPILE) \
	  $$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements.txt) \
	  --group pyproject.toml:bench -c requirements.txt -o benchmarks/requirements.txt
	$(COMPILE) \
	  --group pyproject.toml:mutants -c requirements.txt -o tools/mutants-requirements.txt
	$(COMPILE) \
	  --group pyproject.toml:release -c requirements.txt -o tools/release-requirements.txt

# The tools of a release, apart from .venv.
.release-packages/.installed: tools/release-requirements.txt | $(VENV)/.runtime
	rm -rf $(@D) && mkdir $(@D)
	$(PIP) --require-hashes --target $(@D) -r $<
	@touch $@

clean: ## Remove the environment and caches; results stay.
	rm -rf $(VENV) .bench-packages .mutant-packages .release-packages .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v >= (3, 11) or sys.exit( \
	  "Found Python %d.%d; elmbench needs 3.11 or later. Next: make PYTHON=python3.13 ..." % v)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) (about a minute) ..."
	$(PIP) --require-hashes -r requirements.txt
	$(PIP) --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	$(PIP) --require-hashes -r requirements-dev.txt
	@touch $@
