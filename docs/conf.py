"""Sphinx's settings for the documents; `tools/manual.py` runs it.

The theme is furo: 60 kB of styles and 8 kB of scripts, where pydata-sphinx-theme has
380 kB and, with Bootstrap and icon fonts, 430 kB. Its one inline script, for colours,
is replaced in `web/documents/templates/base.html`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tensorweb.version import VERSION  # noqa: E402

project = "tensorweb"
version = release = VERSION
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "tools.sphinx_entries",
    "tools.sphinx_glossary",
]
root_doc = "index"
nitpicky = True
show_warning_types = True

myst_heading_anchors = 4
# Else each link is tried as a name of C++ as well.
myst_ref_domains = ["std", "py"]

# Docstrings say the types in words.
autodoc_typehints = "none"
add_module_names = False
python_use_unqualified_type_names = True
# Headings alone: furo copies the contents of all pages into each.
toc_object_entries = False
viewcode_line_numbers = False

html_theme = "furo"
pygments_style = "tools.code_colours.Light"
pygments_dark_style = "tools.code_colours.Dark"
html_title = "tensorweb"
html_favicon = "../web/favicon.svg"
html_static_path = [
    "../web/tokens.css",
    "../web/documents/documents.css",
    "../.cache/manual/documents.js",
]
html_css_files = ["tokens.css", "documents.css"]
templates_path = ["../web/documents/templates"]
html_search_scorer = str(ROOT / "web/documents/search_scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_domain_indices = False
html_theme_options = {"top_of_page_buttons": []}
