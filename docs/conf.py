"""How the documentation is built: `sphinx-build -W docs .site`, offline."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from langchain_tiered_memory import __version__

HERE = Path(__file__).parent

project = "langchain-tiered-memory"
release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"langchain-tiered-memory {release}"
html_show_sphinx = False
html_show_copyright = False  # the LICENSE file says it
templates_path: list[str] = []
exclude_patterns = ["README.md"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # notebooks are kept without outputs
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
default_role = "code"

# The pages of the notebooks are the notebooks.
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True)


def _to_pages(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\((?:\.\./)+notebooks/(\w+)\.ipynb\)", r"](/notebooks/\1)", source[0])


def setup(app: Sphinx) -> None:
    """Let links of pages to notebooks lead to their pages."""
    app.connect("source-read", _to_pages)
