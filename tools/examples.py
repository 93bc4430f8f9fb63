"""Index the example programs by their docstrings, for the page's menu."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from tools.process import BuildError

GROUPS = {
    "Learn": ("01", "02", "03", "04", "05", "06", "17", "18", "12", "16"),
    "See": ("15", "08", "09", "10", "07"),
    "Measure": ("11", "13", "14"),
}
"""The menu: groups, and the numbers of their examples; new ones come last in Learn."""


def index(folder: Path) -> list[dict[str, str]]:
    """Return file, title, description and group of each example in the menu's order.

    The docstring's first line is the title, its next paragraph the description.

    Raises:
        BuildError: an example has no docstring or is not Python.
    """
    entries = [_entry(path) for path in sorted(folder.glob("*.py"))]
    names = list(GROUPS)
    return sorted(entries, key=lambda entry: names.index(entry["group"]))


def write_index(folder: Path, target: Path) -> None:
    """Write the index of `folder` with every program's text as JSON to `target`.

    With the texts in it an example opens at once: nobody types while one is fetched.
    """
    entries = [
        {**entry, "source": (folder / entry["file"]).read_text("utf-8")}
        for entry in index(folder)
    ]
    target.write_text(json.dumps(entries, indent=1, ensure_ascii=False), "utf-8")


def _entry(path: Path) -> dict[str, str]:
    try:
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"), path.name))
    except SyntaxError as error:
        raise BuildError(f"{path}: {error}") from None
    if not text:
        raise BuildError(
            f"{path}: an example starts with a docstring: a title line, an empty line "
            "and one paragraph of description"
        )
    title, *paragraphs = text.split("\n\n")
    description = paragraphs[0] if paragraphs else ""
    return {
        "file": path.name,
        "group": _group(path.name[:2]),
        "title": " ".join(title.split()).removesuffix("."),
        "description": " ".join(description.split()),
    }


def _group(number: str) -> str:
    """Return the group that an example's number is in."""
    return next((name for name, has in GROUPS.items() if number in has), "Learn")
