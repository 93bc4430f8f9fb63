"""Index the example programs by their docstrings, for the page's menu."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TypedDict

from tools.process import BuildError

GROUPS = {
    "Learn": ("01", "02", "03", "04", "05", "06", "12"),
    "Puzzles": (*map(str, range(36, 48)), "49"),
    "Train": (
        *("17", "18", "19", "16", "20", "21", "22", "23", "24", "25", "26", "27"),
        *("28", "29", "30", "31", "32"),
    ),
    "Courses": tuple(map(str, range(50, 62))),
    "See": ("15", "08", "35", "09", "10", "34", "33", "07"),
    "Measure": ("11", "13", "14", "48"),
}
"""The menu: groups, and the numbers of their examples in its order.

New ones come last in Learn.
"""

DATA = {
    "23": ("names.txt",),
    "24": ("names.txt",),
    "26": ("digits.py",),
    "28": ("rhyme.txt",),
    "51": ("digits.py",),
    "52": ("digits.py",),
    "60": ("rhyme.txt", "names.txt"),
}
"""Files of `data/` that the programs of these numbers open, next to their `main.py`."""

ASKED = "Predict: "
"""Begins the paragraph that asks the reader something before a run."""

LOOKS = "Then look: "
"""Begins the paragraph of what the page offers to look at after a run: panels, with a
cell for Why?, and Layout with a tensor, as in `Then look: Kernels; Why? result[3]`."""

SEVERAL = "#!tensorweb files\n"
"""Begins the text of a program of several files, as in `web/src/page/program.ts`."""


class Entry(TypedDict):
    """What the menu tells of an example."""

    file: str
    group: str
    title: str
    description: str
    question: str
    looks: list[str]


def index(folder: Path) -> list[Entry]:
    """Return what the menu tells of each example, in its order.

    The docstring's first line is the title, its next paragraph the description; the
    last one is what the reader is asked before a run, `Predict: …?`, unless that is
    followed by what to look at after it.

    Raises:
        BuildError: an example has no such docstring or is not Python.
    """
    entries = [_entry(path) for path in sorted(folder.glob("*.py"))]
    return sorted(entries, key=_place)


def source(path: Path) -> str:
    """Return the text of an example: that of its file, or all its files' in one."""
    text = path.read_text("utf-8")
    names = DATA.get(path.name[:2], ())
    if not names:
        return text
    data = path.parent / "data"
    files = [["main.py", text]]
    files += [[name, (data / name).read_text("utf-8")] for name in names]
    return SEVERAL + json.dumps(files, ensure_ascii=False, separators=(",", ":"))


def write_index(folder: Path, target: Path) -> None:
    """Write the index of `folder` with every program's text as JSON to `target`.

    With the texts in it an example opens at once: nobody types while one is fetched.
    """
    entries = [
        {**entry, "source": source(folder / entry["file"])} for entry in index(folder)
    ]
    target.write_text(json.dumps(entries, indent=1, ensure_ascii=False), "utf-8")


def _entry(path: Path) -> Entry:
    try:
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"), path.name))
    except SyntaxError as error:
        raise BuildError(f"{path}: {error}") from None
    if not text:
        raise BuildError(
            f"{path}: an example starts with a docstring: a title line, an empty line "
            "and one paragraph of description"
        )
    title, *paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    looks = []
    if paragraphs and paragraphs[-1].startswith(LOOKS):
        looks = paragraphs.pop().removeprefix(LOOKS).split("; ")
    description = "" if len(paragraphs) < 2 else paragraphs[0]
    question = paragraphs[-1] if paragraphs else ""
    if not question.startswith(ASKED) or not question.endswith("?"):
        raise BuildError(
            f"{path}: the last paragraph of its docstring, or the last but one before "
            f"{LOOKS}…, asks the reader something: {ASKED}…?"
        )
    return {
        "file": path.name,
        "group": _group(path.name[:2]),
        "title": title.removesuffix("."),
        "description": description,
        "question": question.removeprefix(ASKED),
        "looks": looks,
    }


def _place(entry: Entry) -> tuple[int, int]:
    """Return an example's position in the menu: its group's index, and its own."""
    number, numbers = entry["file"][:2], GROUPS[entry["group"]]
    own = numbers.index(number) if number in numbers else len(numbers)
    return list(GROUPS).index(entry["group"]), own


def _group(number: str) -> str:
    """Return the group that an example's number is in."""
    return next((name for name, has in GROUPS.items() if number in has), "Learn")
