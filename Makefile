PYTHON ?= python3
BIN := .venv/bin
.PHONY: demo test lint bench docs notebooks format clean

demo: .venv/installed ; @$(BIN)/python notebooks/demo.py
test: lint ; $(BIN)/python tests/prepare.py && $(BIN)/pytest && $(BIN)/python notebooks/refresh.py --check
lint: .venv/installed ; $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
bench: .venv/installed ; $(BIN)/python -m benchmarks
docs: .venv/installed ; $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html && echo docs/_build/html/index.html
notebooks: .venv/installed ; $(BIN)/python notebooks/refresh.py
format: .venv/installed ; $(BIN)/ruff check --fix . ; $(BIN)/ruff format .
clean: ; rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/output docs/_build docs/generated docs/notebooks

.venv/installed: pyproject.toml constraints.txt ; $(PYTHON) -m venv .venv && $(BIN)/pip install --quiet --constraint constraints.txt --editable '.[all,dev]' && touch $@
