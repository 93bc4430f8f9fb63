"""The Sphinx directive: pages with elements, in each kind of output."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx builds documentation only")

from contributing import blocks
from sphinx.testing.util import SphinxTestApp

from tools.process import ROOT

DOCUMENTED = {
    block.where: block.code
    for block in blocks(ROOT / "docs/guide/element.md")
    if block.how == "page"
}
BASE = "https://example.org/play/"
CONF = f'project = "Plots"\n{DOCUMENTED["sphinx-settings"]}'

PROGRAM = 'print("<b>", 1 & 2)\nfor i in range(3):\n    print(i)'

PAGE = f"""
Title
=====

.. tensorweb::
   :label: "A" & <b>
   :theme: dark
   :height: 300
   :readonly:

{re.sub("^", "   ", PROGRAM, flags=re.MULTILINE)}

.. tensorweb::
   :file: program.py
   :autorun:
"""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def build(
    folder: Path, page: str, base: str, kind: str = "html", name: str = "index"
) -> tuple[str, str]:
    """Build pages; return the text of one, and Sphinx's warnings."""
    source = folder / "source"
    (source / name).parent.mkdir(parents=True)
    (source / "conf.py").write_text(CONF.replace(BASE, base))
    (source / "index.rst").write_text("Start\n=====\n")
    (source / f"{name}.rst").write_text(page)
    (source / name).with_name("program.py").write_text("x = 1\n")
    app = SphinxTestApp(kind, srcdir=source, builddir=folder / "built")
    app.build()
    warnings = app.warning.getvalue()
    target = folder / "built" / kind / app.builder.get_target_uri(name)
    if kind == "latex":
        target = folder / "built/latex/plots.tex"
    if target.is_dir():
        target = target / "index.html"
    if kind == "text":
        target = target.with_suffix(".txt")
    app.cleanup()
    return target.read_text("utf-8"), warnings


def test_a_page_has_elements_and_their_script_once(tmp_path: Path) -> None:
    text, warnings = build(tmp_path, PAGE, BASE)
    assert "tensorweb" not in warnings
    script = '<script type="module" src="https://example.org/play/tensor-web.js">'
    assert text.count(script) == 1
    first, second = re.findall(r"<tensor-web (.*?)>(.*?)</tensor-web>", text, re.DOTALL)
    options = dict(re.findall(r'([\w-]+)="(.*?)"', first[0]))
    assert html.unescape(options.pop("label")) == '"A" & <b>'
    assert options == {
        "base": BASE,
        "theme": "dark",
        "height": "300",
        "readonly": "",
    }
    assert html.unescape(re.sub("<[^>]*>", "", first[1])).strip() == PROGRAM
    assert "autorun" in second[0]
    assert html.unescape(re.sub("<[^>]*>", "", second[1])).strip() == "x = 1"
    # Before the script is there, readers see the code in colours.
    assert '<span class="k">for</span>' in first[1]


def test_the_documented_directive_is_an_element(tmp_path: Path) -> None:
    page = f"Title\n=====\n\n{DOCUMENTED['sphinx-directive']}"
    text, warnings = build(tmp_path, page, BASE)
    assert f'<tensor-web label="A sum" height="300" base="{BASE}">' in text
    assert "tensorweb" not in warnings


@pytest.mark.parametrize(
    ("kind", "address"), [("html", "../../tensor"), ("dirhtml", "../../../tensor")]
)
def test_a_site_next_to_the_documentation_is_found(
    tmp_path: Path, kind: str, address: str
) -> None:
    text, _ = build(tmp_path, PAGE, "..", kind, "guide/page")
    assert f'src="{address}-web.js"' in text


@pytest.mark.parametrize(
    ("kind", "code"), [("text", "print(i)"), ("latex", r"\begin{sphinxVerbatim}")]
)
def test_other_outputs_have_the_code(tmp_path: Path, kind: str, code: str) -> None:
    text, _ = build(tmp_path, PAGE, "", kind)
    assert code in text
    assert "tensor-web" not in text


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (".. tensorweb::\n   :label: Empty\n", "a program is missing"),
        (".. tensorweb::\n   :file: none.py\n", "none.py"),
        (".. tensorweb::\n   :theme: pink\n\n   1\n", "pink"),
    ],
)
def test_mistakes_are_warnings_at_their_line(
    tmp_path: Path, page: str, said: str
) -> None:
    _, warnings = build(tmp_path, f"Title\n=====\n\n{page}", "https://example.org/")
    assert said in warnings
    assert "index.rst:4" in warnings


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="set tensorweb_base in conf"):
        build(tmp_path, PAGE, "")
