"""A Sphinx extension: words of the glossary are links at their first use in a page."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "contributing/glossary"
FOLDERS = ("guide/", "reference/")
"""Whose pages have links; those for contributors use the words throughout."""

EVERYDAY = {
    *(
        "tensor",
        "element",
        "index",
        "dtype",
        "device",
        "view",
        "broadcast",
        "transpose",
    ),
    *("permute", "graph", "node", "entry", "iteration", "gradient", "recompute"),
    *("buffer", "storage", "pool", "driver", "evaluation", "plan", "tile", "tangent"),
    *("retain", "free", "submit", "trace", "capture", "scan", "gather", "scatter"),
}
"""Words that readers of NumPy know, or that also mean something else in prose."""

OTHERWISE = {"reference/tree": "leaf", "reference/nn": "kernel"}
"""Pages with a word in another sense: a leaf of a tree, the kernel of a convolution."""

UNLINKED = (
    *(nodes.title, nodes.literal, nodes.reference, nodes.FixedTextElement, nodes.raw),
    *(nodes.rubric, nodes.caption, nodes.thead, addnodes.desc_signature),
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the functions of this file to Sphinx."""
    app.connect("doctree-read", _mark)
    app.connect("doctree-resolved", _link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def terms(page: nodes.document) -> dict[str, tuple[nodes.Element, str]]:
    """Return the words of the glossary's page, with their cell and their meaning."""
    found = {}
    for row in page.findall(nodes.row):
        if isinstance(row.parent, nodes.tbody):
            term, meaning = (cell.astext() for cell in row.children[:2])
            for word in re.sub(r" \(.*\)", "", term).split(", "):
                if word not in EVERYDAY:
                    found[word] = row.children[0], meaning
    return found


def _mark(app: Sphinx, page: nodes.document) -> None:
    """Give the words of the glossary addresses."""
    if app.env.docname == GLOSSARY:
        for word, (cell, _) in terms(page).items():
            cell.children[0]["ids"].append(nodes.make_id(f"term-{word}"))


def _link(app: Sphinx, page: nodes.document, name: str) -> None:
    if app.builder.format == "html" and name.startswith(FOLDERS):
        address = app.builder.get_relative_uri(name, GLOSSARY)
        words = terms(app.env.get_doctree(GLOSSARY))
        words.pop(OTHERWISE.get(name, ""), None)
        link(page, words, address)


def link(
    page: nodes.document, words: dict[str, tuple[nodes.Element, str]], address: str
) -> None:
    """Make the first use of each word in the prose of a page a link."""
    remaining = dict(words)
    pattern = re.compile(rf"\b({'|'.join(sorted(words, key=len, reverse=True))})s?\b")
    for text in list(page.findall(nodes.Text)):
        if _is_within(text, UNLINKED):
            continue
        plain, parts, start = text.astext(), list[nodes.Node](), 0
        for match in pattern.finditer(plain):
            _, meaning = remaining.pop(match[1], (None, ""))
            if meaning:
                uri = f"{address}#{nodes.make_id(f'term-{match[1]}')}"
                parts.append(nodes.Text(plain[start : match.start()]))
                options = {"refuri": uri, "reftitle": meaning, "internal": True}
                parts.append(nodes.reference("", match[0], **options))
                start = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(plain[start:])])


def _is_within(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False
