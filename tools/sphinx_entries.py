"""A Sphinx extension: our docstrings as reStructuredText, notes of the op table, links.

Docstrings mark code with single backticks, as Markdown does. Names of the library
become links to their entries; other code stays code.
"""

from __future__ import annotations

import html
import importlib
import inspect
import posixpath
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

from tools import op_notes, parameters, programs, reference

CODE = re.compile(r"`([^`]+)`")
NAME = re.compile(r"(?:(tw|tensorweb|np)\.)?([A-Za-z_][\w.]*[A-Za-z_0-9])(?:\(\))?")
MARKUP = re.compile(r"[*|\\]|(?<=\w)_(?=\W|$)")
"""What reStructuredText would read as markup in prose."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the functions of this file to Sphinx."""
    app.connect("autodoc-process-docstring", _convert)
    app.add_directive("tensorweb-entry", DataEntry)
    app.add_domain(Names, override=True)
    app.connect("missing-reference", _resolve)
    app.connect("source-read", _redirect)
    app.connect("doctree-resolved", _offer)
    app.connect("autodoc-process-signature", _sign)
    # After furo's own function, which makes the tree.
    app.connect("html-page-context", _group, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _convert(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Rewrite a docstring in place and add notes to it."""
    lines[:] = converted(name, value, lines)


NAPOLEON = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)


def converted(name: str, value: object, lines: Sequence[str]) -> list[str]:
    """Return a docstring as reStructuredText, and what tables say about its name."""
    names = _parameters(value)
    entry: Any = value
    text = list(lines)
    fields: list[str] = []
    if callable(entry) and not reference.is_dtype(entry):
        if made_of_tables := field_list(name, entry):
            fields = [".. raw:: html", "", f"   {made_of_tables}", ""]
        text = parameters.without(text, "Args", "Returns", "Raises")
    at = next((i for i, line in enumerate(text) if SECTION.match(line)), len(text))
    made: list[str] = []
    is_example = False
    for line in [*text[:at], "", *fields, *text[at:]]:
        begins = line.lstrip().startswith(">>>")
        is_example = bool(line.strip()) and (is_example or begins)
        is_prose = not is_example and line not in fields
        made.append(_prose(line, name, names) if is_prose else line)
    notes = [_prose(note, name, frozenset()) for note in op_notes.notes(name)]
    made += ["", *(line for note in notes for line in (note, ""))]
    return GoogleDocstring(made, NAPOLEON).lines()  # type: ignore[arg-type]


SECTION = re.compile(r"(Yields|Attributes):|>>> ")
"""What the parameters and the result stand before in an entry."""


DASH = " \N{EN DASH} "


def field_list(name: str, value: Any) -> str:
    """Return the parameters, the result and the errors of a callable as HTML.

    It is what Sphinx makes of fields. Sphinx would take a third of the whole build for
    them, most of it to parse and to copy their nodes.
    """
    names = _parameters(value)

    def marked(text: str) -> str:
        return _html(text, name, names)

    fields: list[tuple[str, str]] = []
    if rows := list(parameters.fields(name, value)):
        items = [_item(*row, name, names) for row in rows]
        fields.append(("Parameters", _listed(items)))
    if not inspect.isclass(value):
        found = parameters.result(name, value)
        said = f"{DASH}{marked(found.text)}" if found.text else ""
        fields.append(("Returns", f"<p><em>{html.escape(found.type)}</em>{said}</p>"))
    if errors := parameters.errors(name, value):
        items = [
            f"{_html(f'`{error}`', name, frozenset())}{DASH}{marked(text)}"
            for error, text in errors.items()
        ]
        fields.append(("Raises", _listed(items)))
    parts = [
        f'<dt class="field-{parity}">{title}<span class="colon">:</span></dt>'
        f'<dd class="field-{parity}">{text}</dd>'
        for (title, text), parity in zip(fields, ("odd", "even", "odd"), strict=False)
    ]
    return f'<dl class="field-list simple">{"".join(parts)}</dl>' if parts else ""


def _item(
    word: str, kind: str, default: str, text: str, name: str, names: frozenset[str]
) -> str:
    """Return a parameter with its type, its default and its meaning."""
    facts = [f"<em>{html.escape(kind)}</em>"] if kind else []
    facts += [f"default {_literal(default)}"] if default else []
    stated = f" ({', '.join(facts)})" if facts else ""
    # What a text may be, `mean` for example, is no function of that name.
    values = CODE.findall(text) if kind.startswith("str") else ()
    meant = _html(text, name, names.union(values))
    return f"<strong>{word}</strong>{stated}{DASH}{meant}"


def _listed(items: Sequence[str]) -> str:
    listed = "".join(f"<li><p>{item}</p></li>" for item in items)
    return f'<ul class="simple">{listed}</ul>'


def _html(text: str, name: str, names: frozenset[str]) -> str:
    """Return a docstring's prose as HTML, its code marked and linked."""
    parts: list[str] = []
    start = 0
    for found in CODE.finditer(text):
        code = found[1]
        named = NAME.fullmatch(code) if code not in names else None
        target = _entry(named[1], named[2], name) if named else None
        parts.append(html.escape(text[start : found.start()], quote=False))
        parts.append(_link(code, target) if target else _literal(code))
        start = found.end()
    return "".join([*parts, html.escape(text[start:], quote=False)])


def _link(code: str, target: str) -> str:
    address = f"{reference.all_names()[target]}.html#{target}"
    shown = _literal(code, "xref py py-obj ")
    return f'<a class="reference internal" href="{address}">{shown}</a>'


def _literal(code: str, kind: str = "") -> str:
    text = html.escape(code, quote=False)
    kinds = f"{kind}docutils literal notranslate"
    return f'<code class="{kinds}"><span class="pre">{text}</span></code>'


def _parameters(value: object) -> frozenset[str]:
    """Return the names of a function's parameters, which are no links."""
    try:
        return frozenset(inspect.signature(value).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return frozenset()


def _prose(line: str, name: str, names: frozenset[str]) -> str:
    """Return a line with its code marked and everything else as plain text."""
    parts: list[str] = []
    start = 0
    for found in CODE.finditer(line):
        parts.append(MARKUP.sub(r"\\\g<0>", line[start : found.start()]))
        parts.append(_code(found[1], name, names))
        start = found.end()
    return "".join([*parts, MARKUP.sub(r"\\\g<0>", line[start:])])


def _code(code: str, name: str, names: frozenset[str]) -> str:
    found = NAME.fullmatch(code)
    target = found and code not in names and _entry(found[1], found[2], name)
    return f":py:obj:`{code} <{target}>`" if target else f"``{code}``"


def _entry(prefix: str | None, path: str, name: str) -> str | None:
    """Return the full name that code in an entry's text means, if it has an entry."""
    module = name.rpartition(".")[0]
    bases = {"tw": ["tensorweb"], "tensorweb": ["tensorweb"], "np": ["tensorweb.numpy"]}
    modules = bases.get(prefix or "", [module, "tensorweb"])
    if not prefix and len(path) < 2:
        return None  # a letter is a variable, not the constant e
    tried = (f"{module}.{path}" for module in modules)
    return next((each for each in tried if each in reference.all_names()), None)


def _sign(
    app: Sphinx,
    what: str,
    name: str,
    value: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str, None] | None:
    """Return the parameters that Python itself reports.

    Autodoc prefers `__new__` of a class and Python `__init__`, which has the parameters
    where both are there.
    """
    if what not in ("class", "function") or not callable(value):
        return None
    try:
        found = inspect.signature(value)
    except ValueError:
        return None
    return stringify_signature(found, show_annotation=False), None


def _group(
    app: Sphinx, name: str, template: str, context: dict[str, Any], page: object
) -> None:
    """Put the captions of lists of pages into the sidebar, above their first pages.

    Sphinx shows captions of the first page's lists only.
    """
    tree = context.get("furo_navigation_tree", "")
    for source in app.env.tocs.values():
        for pages in source.findall(addnodes.toctree):
            if not pages.get("caption") or not pages["entries"]:
                continue
            address = html.escape(context["pathto"](pages["entries"][0][1]))
            link = re.compile(
                rf'(<li class="toctree-l[^>]*>)(<a class="[^"]*" href="{address}">)'
            )
            caption = html.escape(pages["caption"])
            label = f'<span class="caption-text">{caption}</span>'
            tree = link.sub(rf"\1{label}\2", tree, count=1)
    context["furo_navigation_tree"] = tree


class Names(PythonDomain):
    """Python's names; a search finds those of the main namespace first."""

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Yield each name with its page and its priority, 0 for the first ones."""
        for *name, priority in super().get_objects():
            is_main = priority > 0 and name[0].count(".") == 1
            yield (*name, 0 if is_main else priority)  # type: ignore[misc]  # 5 texts


class DataEntry(SphinxDirective):
    """The entry of an object that is no plain function or class."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the entry."""
        signature: str = self.arguments[0]
        name, is_called, _ = signature.partition("(")
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        said = inspect.getdoc(value) if _has_text(value) else None
        text = said or f"{reference.summary(name, value)}."
        body = converted(name, value, text.split("\n"))
        kind = "function" if is_called else "data"
        head = [f".. py:{kind}:: {signature}", ""]
        return self.parse_text_to_nodes(
            "\n".join([*head, *(f"   {line}" for line in body)])
        )


def _has_text(value: object) -> bool:
    """Return whether a docstring is about this object, not about numbers or text."""
    return type(value).__module__ != "builtins" and not reference.is_dtype(value)


def _resolve(
    app: Sphinx, env: Any, node: Any, content: nodes.TextElement
) -> nodes.Node | None:
    """Find classes by where they are defined or by their bare names.

    Those of Python, and ours that are not public, are no links.
    """
    if node.get("refdomain") != "py":
        return None
    target = str(node.get("reftarget", ""))
    value = _imported(f"builtins.{target}") or _imported(target)
    full = reference.firsts().get(id(value), f"tensorweb.{target}")
    domain = env.domains.python_domain
    if full in domain.objects:
        return domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", full, node, content
        )
    return content if value is not None else None


def _imported(name: str) -> object:
    """Return what a full name means; None if nothing."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except (ImportError, ValueError):
        return None


LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(#[^)]*)?\)")


def _redirect(app: Sphinx, name: str, content: list[str]) -> None:
    """Let links that leave the documents lead to a page, or be their words alone.

    Sphinx knows no file outside of the documents, so a link to the site is HTML.
    """
    folder = posixpath.dirname(f"docs/{name}")

    def replaced(found: re.Match[str]) -> str:
        words, target, part = found.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith("docs/"):
            return found[0]
        if path in SITE:
            address = posixpath.relpath(SITE[path], folder)
            return f'<a class="reference" href="{address}">{words}</a>'
        if path not in PAGES:
            return words
        page = posixpath.relpath(PAGES[path], folder)
        return f"[{words}]({page}{part or ''})"

    content[0] = LINK.sub(replaced, content[0])


PAGES = {
    "CONTRIBUTING.md": "docs/contributing/first_change.md",
    "README.md": "docs/index.md",
}
"""Files of the repository's root that have a page."""

SITE = {"web/index.html": "index.html"}
"""Pages of the site outside of the documents, by their source."""


BAR = """\
<div class="program-bar">{need}<button type="button" class="program-run" hidden \
aria-label="Run {label}">Run</button>
<a href="{address}" aria-label="Open in playground: {label}">Open in playground</a>
</div>"""


NEED = "<span>needs WebGPU</span>"
"""Says before Run that a program computes on `webgpu` alone."""


def _offer(app: Sphinx, page: nodes.document, name: str) -> None:
    """Add Run and Open in playground to each Python block of a page."""
    if app.builder.format != "html":
        return
    root = "../" * (name.count("/") + 1)
    blocks = list(page.findall(_is_runnable))
    cells = [block.astext() for block in blocks if block.get("language") == "python"]
    for number, block in enumerate(blocks, 1):
        if block.get("language") == "python":
            needed = programs.with_needed(cells, cells.index(block.astext()))
            label, program = f"program {number}", programs.joined(needed)
        else:
            entry, scope = _scope(block)
            label = f"example of {entry}" if entry else f"program {number}"
            program = programs.of_session(block.astext(), scope)
        address = f"{root}index.html{programs.link(program)}"
        need = NEED if programs.needs_gpu(program) else ""
        text = BAR.format(need=need, label=label, address=address)
        bar = nodes.raw("", text, format="html")
        block.replace_self(
            nodes.container("", block.deepcopy(), bar, classes=["program"])
        )


def _is_runnable(node: nodes.Node) -> bool:
    """Return whether a block is Python for every device; comments above say others."""
    if isinstance(node, nodes.doctest_block):
        return True
    if not isinstance(node, nodes.literal_block):
        return False
    before = node.previous_sibling()
    is_step = isinstance(before, nodes.comment) or (
        isinstance(before, nodes.raw) and before.astext().startswith("<!--")
    )
    return node.get("language") in ("python", "pycon") and not is_step


def _scope(block: nodes.Node) -> tuple[str, Mapping[str, object]]:
    """Return the entry that an example is in, and the names of its module."""
    parent = block.parent
    while parent is not None and not isinstance(parent, addnodes.desc):
        parent = parent.parent
    if parent is None or not parent[0].get("ids"):
        return "", {}
    entry = str(parent[0]["ids"][0])
    value = _found(entry)
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return entry, vars(module) if module else {}


def _found(entry: str) -> object:
    """Return the value of an entry's full name."""
    value: object = importlib.import_module("tensorweb")
    for part in entry.split(".")[1:]:
        value = getattr(value, part, None)
    return value
