"""Pygments' styles of the documents: the colours of code in the playground's editor.

`docs/conf.py` names both styles. A block keeps its colours when Run replaces it.
"""

from __future__ import annotations

import re

from pygments.style import Style
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
)

from tools.process import ROOT

SHEETS = ("web/tokens.css", "web/src/panels/editor/code.css")

PAIR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")

VARIABLES = {
    Token: "text",
    Keyword: "code-keyword",
    Operator.Word: "code-keyword",
    Name.Decorator: "code-keyword",
    String: "code-string",
    # Values inside of a string are code.
    String.Interpol: "text",
    Number: "code-number",
    Comment: "code-comment",
    Name.Function: "code-name",
    # Names with two underscores are no keywords; `__init__` is a definition.
    Name.Function.Magic: "code-name",
    Name.Class: "code-name",
    Name.Tag: "code-keyword",
    Name.Attribute: "code-name",
    Generic.Prompt: "muted",
    Generic.Output: "muted",
    Generic.Traceback: "bad",
    Generic.Error: "bad",
}
"""The variable of the style sheets that colours a kind of token."""


def colours() -> dict[str, tuple[str, str]]:
    """Return the light and the dark colour of each variable.

    >>> colours()["code-string"]
    ('#1c6e3a', '#8fd6a4')
    """
    text = "".join((ROOT / name).read_text("utf-8") for name in SHEETS)
    return {name: (light, dark) for name, light, dark in PAIR.findall(text)}


def _styles(theme: int) -> dict[object, str]:
    """Return Pygments' styles: comments in italics, as the editor has them."""
    known = colours()
    return {
        token: f"{'italic ' if token is Comment else ''}{known[name][theme]}"
        for token, name in VARIABLES.items()
    }


class Light(Style):  # type: ignore[misc]  # Pygments has no types
    """Code on a light ground."""

    background_color = colours()["surface"][0]
    styles = _styles(0)


class Dark(Style):  # type: ignore[misc]  # Pygments has no types
    """Code on a dark ground."""

    background_color = colours()["surface"][1]
    styles = _styles(1)
