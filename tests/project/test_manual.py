"""The documents' pages: every public name, no dead link.

That they are the same bytes each time is compared by `build.py rehearse`, which builds
the site again.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import inspect
import io
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from docutils import nodes

import tensorweb as tw
from tensorweb import frames
from tools import (
    code_colours,
    environment,
    manual,
    op_notes,
    programs,
    reference,
    sphinx_glossary,
)
from tools.process import ROOT

pytestmark = [
    pytest.mark.needs_processes,
    pytest.mark.skipif(
        not environment.NODE_MODULES.is_dir(), reason="run build.py setup"
    ),
]


@pytest.fixture(scope="module")
def built() -> Path:
    return manual.build()


def inventory(pages: Path) -> dict[str, str]:
    """Return the page of each Python name of Sphinx's inventory."""
    packed = (pages / "objects.inv").read_bytes().split(b"\n", 4)[4]
    rows = re.findall(
        r"^(\S+) py:\w+ -?\d+ (\S+)", zlib.decompress(packed).decode(), re.MULTILINE
    )
    return {name: address.partition("#")[0] for name, address in rows}


def test_every_public_name_has_an_entry_on_its_page(built: Path) -> None:
    found = inventory(built)
    wrong = {
        name: found.get(name)
        for name, page in reference.all_names().items()
        if found.get(name) != f"reference/{page}.html"
    }
    assert wrong == {}
    assert len(reference.all_names()) > 1000


def test_the_reference_has_what_modules_offer() -> None:
    for module in (
        *(tw, tw.nn, tw.nn.init, tw.fft, tw.linalg, tw.optim),
        *(tw.optim.lr_scheduler, tw.data, tw.random),
    ):
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                assert f"{module.__name__}.{name}" in reference.all_names()
    for name in tw.numpy.__all__:
        if not inspect.ismodule(getattr(tw.numpy, name)):
            assert f"tensorweb.numpy.{name}" in reference.all_names()


def test_every_name_is_documented() -> None:
    lines = [
        line for slug in reference.PAGES for line in reference.page(slug).split("\n")
    ]
    names = [line for line in lines if line.startswith("- [`")]
    assert len(names) >= len(reference.all_names())
    assert [line for line in names if line.endswith(": ")] == []


def test_a_name_of_no_page_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for cached in (reference.names, reference.members, reference.all_names):
        cached.cache_clear()
    rows = {slug: row for slug, row in reference.PAGES.items() if slug != "reductions"}
    monkeypatch.setattr(reference, "PAGES", rows)
    try:
        with pytest.raises(LookupError, match=r"no page .* tensorweb\.sum"):
            reference.all_names()
    finally:
        for cached in (reference.names, reference.members, reference.all_names):
            cached.cache_clear()


def test_derivatives_are_read_from_the_table() -> None:
    assert "Derivative: `∂y/∂x = cos(x)`." in op_notes.notes("tensorweb.sin")
    assert op_notes.notes("tensorweb.numpy.multiply")[0] == (
        "Derivative: `∂y/∂x1 = x2`, `∂y/∂x2 = x1`."
    )
    assert op_notes.notes("tensorweb.less") == []
    assert op_notes.notes("tensorweb.reshape") == []


def test_entries_have_notes_errors_examples_and_sources(built: Path) -> None:
    page = (built / "reference/elementwise.html").read_text("utf-8")
    entry = page.split('id="tensorweb.sin"')[1].split('<dl class="py')[0]
    for words in ("∂y/∂x", "at most 4 ULP", "&gt;&gt;&gt; ", "_modules/tensorweb/"):
        assert words in entry, words


EXAMPLES = {
    name: value
    for slug in reference.PAGES
    for _, found in reference.members(slug)
    for name, value in found.items()
    if ">>>" in (inspect.getdoc(value) or "")
    and reference.firsts().get(id(value)) == name
    and not reference.is_dtype(value)
}

ELSEWHERE = {"tensorweb.tune", "tensorweb.tune_async"}
"""Their examples are for a GPU."""


def test_examples_run_as_programs_of_their_own() -> None:
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    wrong = []
    for name, value in EXAMPLES.items():
        session = inspect.getdoc(value) or ""
        examples = doctest.DocTestParser().get_examples(session)
        if name in ELSEWHERE or any(example.exc_msg for example in examples):
            continue
        module = sys.modules.get(getattr(value, "__module__", None) or "")
        program = programs.of_session(session, vars(module) if module else {})
        expected = "".join(example.want for example in examples)
        if not checker.check_output(expected, shown_by(program), flags):
            wrong.append(name)
    assert wrong == []
    assert len(EXAMPLES) > 600


def shown_by(program: str) -> str:
    """Return what a program prints, and the value of its last line."""
    tree = ast.parse(program)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    names: dict[str, object] = {"__name__": "__main__"}
    printed = io.StringIO()
    frames.begin_program()
    with contextlib.redirect_stdout(printed), tw.device("cpu"):
        exec(compile(tree, "example", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "example", "eval"), names)
            if value is not None:
                print(repr(value))
    return printed.getvalue()


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("with a: x = 1; print(x)", {"a"}),
        ("with a as x, f(x): y = x", {"a", "f"}),
        ("for i in rows:\n    x = i\n    print(x)\nelse:\n    print(x)", {"rows"}),
        ("while go:\n    y = x\n    x = 1", {"go", "x"}),
        ("if a:\n    x = 1\nelse:\n    print(x)\nprint(x)", {"a", "x"}),
        ("try: x = 1\nexcept E as e: print(x, e)\nfinally: print(x)", {"E"}),
        ("match a:\n    case [x] if x: print(x)\n    case _: print(y)", {"a", "y"}),
        ("def f(x):\n    with a: y = x\n    return y + z", {"a", "z"}),
        ("with a:\n    with b: x += 1", {"a", "b", "x"}),
    ],
)
def test_names_bound_inside_of_a_statement_are_not_needed(
    code: str, needed: set[str]
) -> None:
    assert programs.free_names(code) == needed


def test_a_block_that_imports_the_library_begins_a_program() -> None:
    first, second = "x = 1\ny = 2", "import tensorweb as tw\ny = x"
    blocks = [first, second, "from tensorweb.nn import relu\nprint(y)", "print(y)"]
    assert programs.with_needed(blocks, 2) == blocks[2:3]
    assert programs.with_needed([first, second, "print(y)"], 2) == [second, "print(y)"]
    assert programs.with_needed([first, "import math", "print(x)"], 2) == [
        *(first, "print(x)"),
    ]


def test_every_example_has_run_and_a_link_with_its_program(built: Path) -> None:
    page = (built / "reference/elementwise.html").read_text("utf-8")
    assert page.count('class="program-run"') == page.count("Open in playground</a>")
    [packed] = re.findall(
        r'href="../../index.html#code=([^"]+)" aria-label="[^"]*tensorweb.sin"', page
    )
    data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    program = zlib.decompress(data, -15).decode()
    assert program.startswith("import tensorweb as tw\n\ntw.sin(")


def test_blocks_that_need_a_gpu_say_so(built: Path) -> None:
    for page, expected in (("speed", 4), ("faq", 0), ("tensors", 0)):
        text = (built / f"guide/{page}.html").read_text("utf-8")
        assert text.count('<div class="program-bar"><span>needs WebGPU<') == expected


def test_blocks_of_recipes_and_for_ordinary_python_do_not_run(built: Path) -> None:
    page = (built / "contributing/extending.html").read_text("utf-8")
    assert "highlight-python" in page
    assert "program-run" not in page


def test_a_search_finds_the_main_namespace_first(built: Path) -> None:
    """And equal names elsewhere before longer ones of the main namespace."""
    scorer = (built / "_static/language_data.js").read_text("utf-8")
    scorer += (built / "_static/searchtools.js").read_text("utf-8")
    [(first, second)] = re.findall(r"objPrio: { 0: (\d+), 1: (\d+)", scorer)
    assert 0 < int(first) - int(second) < 11 - 6
    text = (built / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    found = {
        f"{module}.{row[4]}" if row[4] else module: row[2]
        for module, rows in index["objects"].items()
        for row in rows
    }
    for name in ("sum", "sin", "where"):
        assert found[f"tensorweb.{name}"] == 0
        assert found[f"tensorweb.numpy.{name}"] == 1
    assert found["tensorweb.Tensor.sum"] == 1


def test_a_search_finds_the_name_that_it_spells_first(built: Path) -> None:
    names = list(reference.all_names())
    expected = {reference.short(name): name for name in names}
    for prefix, name in (("", "nn.Linear"), ("", "Tensor.at"), ("tw.", "kernel")):
        expected[prefix + name] = f"tensorweb.{name}"
    expected |= {"np.linalg.solve()": "tensorweb.numpy.linalg.solve"}
    expected |= {"optim.adam": "tensorweb.optim.Adam", "x.AT": "tensorweb.Tensor.at"}
    found = subprocess.run(
        [environment.node(), Path(__file__).parent / "search.mjs", built],
        input=json.dumps(list(expected)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == expected


def test_an_entry_has_parameters_results_and_errors(built: Path) -> None:
    page = (built / "reference/nn.html").read_text("utf-8")
    entry = page.split('id="tensorweb.nn.MultiheadAttention"')[1].split("<dl class=py")[
        0
    ]
    for words in (
        "Parameters",
        "<strong>num_heads</strong>",
        "count of heads",
        "Raises",
    ):
        assert words in entry, words
    assert "alias of" not in page
    entry = (built / "reference/creation.html").read_text("utf-8")
    assert entry.count("Returns<") == entry.count('<dl class="py function">')


@pytest.mark.parametrize("slug", ["optim", "nn", "derivatives"])
def test_signatures_are_those_that_python_reports(built: Path, slug: str) -> None:
    page = (built / f"reference/{slug}.html").read_text("utf-8")
    heads = re.findall(r'<dt class="sig[^>]*id="([^"]*)">(.*?)</dt>', page, re.DOTALL)
    shown = {
        name: re.findall(r'<span class="n"><span class="pre">(\w+)', head)
        for name, head in heads
        if "viewcode-link" in head
    }
    expected = {
        name: list(inspect.signature(value).parameters)
        for _, values in reference.members(slug)
        for name, value in values.items()
        if name in shown and callable(value)
    }
    assert {name: shown[name] for name in expected} == expected
    assert "tensorweb.optim.Adam" in expected or slug != "optim"


def test_the_sidebar_groups_the_pages_of_the_guide(built: Path) -> None:
    index = (ROOT / "docs/guide/index.md").read_text("utf-8")
    groups = re.findall(r"^## (.*)$", index, re.MULTILINE)
    for name in ("index", "guide/index", "guide/install", "guide/pytorch"):
        page = (built / f"{name}.html").read_text("utf-8")
        assert re.findall(r'<span class="caption-text">(.*?)</span>', page) == groups
        assert '<span class="caption-text">Begin</span><a class=' in page


def test_code_has_the_colours_of_the_playground(built: Path) -> None:
    sheet = (built / "_static/pygments.css").read_text("utf-8")
    known = code_colours.colours()
    for kind, name in (
        ("k", "code-keyword"),
        ("s1", "code-string"),
        ("c1", "code-comment"),
    ):
        light, dark = known[name]
        assert re.search(
            rf"^\.highlight \.{kind} {{ color: {light}", sheet, re.M | re.I
        )
        assert re.search(rf'dark"\] \.highlight \.{kind} {{ color: {dark}', sheet, re.I)


LINK = re.compile(
    r'<a class="[^"]*" href="([^"]*#term-[^"]*)" title="[^"]+">([^<]+)</a>'
)


def test_words_of_the_glossary_are_links_at_their_first_use(built: Path) -> None:
    page = (built / "guide/derivative_rules.html").read_text("utf-8")
    assert ("../contributing/glossary.html#term-leaf", "leaf") in LINK.findall(page)
    for path in built.rglob("*.html"):
        found = [address for address, _ in LINK.findall(path.read_text("utf-8"))]
        assert len(found) == len({*found}), path
        assert not found or path.parent.name in ("guide", "reference")


def test_code_headings_and_links_have_no_links_to_the_glossary() -> None:
    text = nodes.Text("A leaf of leafy leafs; two kernels.")
    page = nodes.document("", reporter=None)  # type: ignore[arg-type]  # reports nothing
    for kind in (nodes.title, nodes.literal, nodes.reference, nodes.literal_block):
        page += nodes.paragraph("", "", kind("", "", text.copy()))
    page += nodes.paragraph("", "", nodes.strong("", "", text.copy()))
    page += nodes.paragraph("", "", text.copy())
    cell = nodes.entry()
    sphinx_glossary.link(page, {w: (cell, w) for w in ("leaf", "kernel")}, "words.html")
    links = [each for each in page.findall(nodes.reference) if "refuri" in each]
    assert [each.astext() for each in links] == ["leaf", "kernels"]
    assert [type(each.parent) for each in links] == [nodes.strong] * 2
    assert page.astext().count(text.astext()) == 6


def test_pages_have_no_inline_script(built: Path) -> None:
    for path in built.rglob("*.html"):
        text = path.read_text("utf-8")
        assert re.findall(r"<script(?![^>]*\bsrc=)", text) == [], path
        assert re.findall(r"\son\w+=\"", text) == [], path
        assert 'content="POLICY"' in text, path


def test_links_within_the_pages_lead_somewhere(built: Path) -> None:
    targets = {
        path: set(re.findall(r'\bid="([^"]+)"', path.read_text("utf-8")))
        for path in built.rglob("*.html")
    }
    dead = []
    for path in targets:
        for address in re.findall(r'(?:href|src)="([^"]*)"', path.read_text("utf-8")):
            file, _, part = address.partition("#")
            if "//" in address or not address.strip("#"):
                continue
            target = (path.parent / file.split("?")[0]).resolve() if file else path
            if target == built.resolve().parent / "index.html":
                continue  # the playground, which the site has there
            is_page = target in targets
            if not target.is_file() or (
                part and is_page and part not in targets[target]
            ):
                dead.append(f"{path.name}: {address}")
    assert dead == []
