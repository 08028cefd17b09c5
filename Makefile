# `make demo` shows a tournament night, `make test` checks everything. Python 3.11 or later and make are all it takes.

PYTHON ?= python3
BIN := .venv/bin

# What is imported is compiled once: tests start hundreds of processes, each of which would compile it all anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test compiled test-installed test-web attack soak bench matrix audit dist check format lock openapi clean

demo: .venv/service.stamp
	@$(BIN)/slagveld demo

# Two processes more than there are processors: tests wait as much as they compute. What they import is compiled beside
# the checks, by one process, before all of them would do it at once.
test: .venv/dev.stamp
	$(MAKE) --jobs 2 check compiled
	$(BIN)/python -m pytest --numprocesses "$$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 2)')" --dist loadfile

compiled: .venv/dev.stamp
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true # the tests say what is wrong with it

# The wheel in environments of its own, as whoever installs it has it. Needs a package index.
test-installed: .venv/dev.stamp
	$(BIN)/python -m pytest -m installed tests/releasing

# The pages in a real Chromium: the package `chromium`, or SLAGVELD_CHROMIUM=/path/to/it. SLAGVELD_SHOTS=FOLDER keeps pictures.
test-web: .venv/dev.stamp
	$(BIN)/python -m pytest -m web tests/web --numprocesses "$$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')" --dist loadfile

# All that tries to break the arena, the long forms too, for many minutes.
attack: .venv/dev.stamp
	$(BIN)/python -m pytest -m "attack or not soak" tests/attacks tests/service/outbound

# Kills and more kills, for many minutes.
soak: .venv/dev.stamp
	$(BIN)/python -m pytest -m soak

# What the arena costs, in ratios to what others cost; `make bench SUBJECTS='worker engine'` measures only those. Status 1
# if a target is missed. Peers live beside .venv, so that what they pin never touches us; one that can't be had is skipped.
bench: .venv/dev.stamp .venv-peers/peers.stamp
	$(BIN)/python -m benchmarks $(SUBJECTS)

# A part of the tests on each Python that is promised, with the lowest and the newest versions of all else, for half an
# hour; `make matrix CELLS='3.11-lowest 3.15-newest'` tries only those.
matrix: .venv/dev.stamp
	$(BIN)/python -m releasing.matrix $(CELLS)

# Known vulnerabilities of what a deployment pins and of what is installed here. Fails, too, if nobody can be asked.
audit: .venv/dev.stamp
	$(BIN)/python -m releasing.audit

# What is uploaded at a release, made of the last commit and of nothing that happens to lie about.
dist: .venv/dev.stamp
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git archive HEAD | tar --extract --directory "$$folder" && \
	  SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --installer uv --outdir dist "$$folder"

# Everything but the tests: style, types, who may import whom, the specifications' drift.
check: .venv/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/slagveld openapi service | diff openapi/service.yaml -
	$(BIN)/slagveld openapi bot | diff openapi/bot.yaml -

format: .venv/dev.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# What the image is made of: newest versions that pyproject.toml allows, with their hashes.
LOCK := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.12 --generate-hashes --no-emit-index-url --no-annotate \
  --custom-compile-command 'make lock'
lock: .venv/dev.stamp
	$(LOCK) --extra service pyproject.toml --output-file deploy/requirements.txt
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | \
	  $(LOCK) - --output-file deploy/requirements-build.txt

openapi: .venv/dev.stamp
	for which in service bot; do \
	  $(BIN)/slagveld openapi $$which > openapi/$$which.yaml.new && mv openapi/$$which.yaml.new openapi/$$which.yaml || exit 1; \
	done

clean:
	rm -rf .venv .venv-matrix .venv-peers dist

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv

.venv/service.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[service]'
	@touch $@

.venv/dev.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[service,dev]'
	@touch $@ .venv/service.stamp

.venv-peers/peers.stamp: benchmarks/peers/requirements.txt | .venv/bin/python
	$(BIN)/python -m venv .venv-peers
	missing=; while read -r peer; do \
	  .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" || \
	    { missing=1; echo "$$peer can't be installed here: what is compared with it is skipped"; }; \
	done < $<; test -n "$$missing" || touch $@
