"""How the site is made: `make docs` builds it into docs/_build/html, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

import hermes_nb

sys.path.insert(0, str(Path(__file__).parent))
import generate

project = "hermes-nb"
author = "The hermes-nb maintainers"
project_copyright = author
version = release = hermes_nb.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "generated/modules.md"]
html_theme = "furo"
html_title = f"hermes-nb {version}"
html_copy_source = False
default_role = "code"  # docstrings write code in single or double backticks

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks are committed with their outputs, and run by the tests

# A struct's hints are looked up at run time, where these names are imported for type checkers only.
vars(hermes_nb.context)["Session"] = hermes_nb.Session
vars(hermes_nb.context)["Place"] = hermes_nb.calls.place.Place
vars(hermes_nb.calls.results)["Decision"] = hermes_nb.Decision

generate.write_all()
