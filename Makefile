PYTHON ?= python3
BIN := .venv/bin
.PHONY: demo test test-long lint bench docs notebooks pictures format clean

demo: .venv/demo ; @$(BIN)/hermes-nb demo $(if $(HEADLESS),--print)
# The same examples, the same order of sets: what fails today and passed yesterday has changed in between.
test: lint ; $(BIN)/python tests/prepare.py && PYTHONHASHSEED=0 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 -m 'not slow' && $(BIN)/python notebooks/refresh.py --check
test-long: lint ; $(BIN)/python tests/prepare.py && HERMES_CONTRACT_HUGE=1 $(BIN)/pytest --hypothesis-profile=explore --timeout 3600 -o faulthandler_timeout=4000
lint: .venv/installed ; $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
bench: .venv/installed ; $(BIN)/python -m benchmarks
docs: .venv/installed ; $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html && echo docs/_build/html/index.html
notebooks: .venv/installed ; $(BIN)/python notebooks/refresh.py
pictures: .venv/installed ; $(BIN)/python docs/pictures.py
format: .venv/installed ; $(BIN)/ruff check --fix . ; $(BIN)/ruff format .
clean: ; rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/output docs/_build docs/generated docs/notebooks

.venv/installed: pyproject.toml constraints.txt ; $(PYTHON) -m venv .venv && $(BIN)/pip install --quiet --constraint constraints.txt --editable '.[all,dev]' && touch $@ .venv/demo
# The demo alone needs a quarter of what the tests do.
.venv/demo: pyproject.toml constraints.txt ; $(PYTHON) -m venv .venv && $(BIN)/pip install --quiet --constraint constraints.txt --editable '.[demo]' && touch $@
