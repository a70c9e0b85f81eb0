"""How Sphinx makes the guide; `make docs` builds it. Nothing is fetched, neither to build nor to read it."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
sys.path.insert(0, str(HERE.parent / "src"))

from noregret import __version__  # noqa: E402

project = "noregret"
author = "the noregret authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "letters", "reference"]
smartquotes = False  # --option is no dash
source_suffix = {".md": "markdown"}
exclude_patterns = ["extensions"]

# Headings have the anchors that code hosts give them, so that a link is right in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# The blocks are run by the tests; a log of a terminal is not one language that a lexer could judge.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
python_display_short_literal_types = True
# A reference by name must lead somewhere in this guide; types of other libraries are words.
nitpick_ignore_regex = [("py:.*", r"(?!noregret\.).*")]

html_theme = "furo"
html_title = "noregret"
html_static_path = ["static"]
html_css_files = ["guide.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
