"""How Sphinx makes pages of README.md, docs/ and docstrings: ``sh setup.sh docs``, from the checkout as a whole."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

project = "recursive-dyn"
author = "the authors of recursive-dyn"
release = "0.1.0"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "recursive-dyn"
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # signatures have them
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
nitpicky = False
viewcode_line_numbers = True

_KEPT = re.compile(r"(``.+?``|:\w+:`[^`]+`)", re.DOTALL)  # literals and references; all else is plain text
_MARKUP = re.compile(r"([*|\\`]|(?<=\w)_(?!\w))")


def _plain(app, what, name, thing, options, lines):
    """Escape what reStructuredText would take for markup; equations, which are indented, keep their lines."""
    parts = _KEPT.split("\n".join(lines))
    parts[::2] = [_MARKUP.sub(r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [part if part[0] == ":" else part + "\\ " for part in parts[1::2]]  # a letter may follow
    text = "".join(parts).split("\n")
    lines[:] = ["| " + line.strip() if line.startswith("    ") and line.strip() else line for line in text]


def setup(app):
    """Have docstrings pass through."""
    app.connect("autodoc-process-docstring", _plain)
