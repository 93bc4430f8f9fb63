"""What every file of the project keeps to: size, a first sentence, no machine's traces.

And every public name: a docstring with an example that runs, and complete annotations.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import tensorweb as tw
from tools.process import ROOT
from tools.tracked import tracked_files

SOURCES = (".py", ".ts", ".js", ".mjs", ".css", ".wgsl", ".html")

LONGEST = 700
"""Lines of a file that somebody writes."""

GENERATED = re.compile("made from (the op table|Python) by `python3 build.py docs`")
"""In the first line of files that are generated."""

COMMENTS = {
    ".py": r'(#[^\n]*\n)*"""\s*[^\s"]',
    ".ts": r"/\*\*?\s+\S",
    ".css": r"/\*\s*\S",
    ".js": r"(//|/\*\*?)\s+\S",
    ".mjs": r"(//|/\*\*?)\s+\S",
    ".wgsl": r"// [A-Z]",
    ".html": r"(<!doctype html>\s*)?(<!--|{#-)\s*\S",
}
"""How a file of each kind begins when it says what it is."""

TRACES = (
    r"/(root|home|Users|work|mnt|workspace)/\w",
    r"/tmp/\w",
    r"\b[A-Z]:\\\\",
    r"registry\.[a-z]+\.\w+/",
    r"files\.pythonhosted\.",
)
"""Paths of somebody's machine and hosts of package registries."""

ALLOWED_TRACES = ("/home/pyodide",)
"""Pyodide's own home folder, the same in every browser."""


def name_of(path: Path) -> str:
    """Return a path as people write it."""
    return path.relative_to(ROOT).as_posix()


def sources() -> list[Path]:
    """Return the tracked files of source code."""
    return [path for path in tracked_files() if path.suffix in SOURCES]


def test_files_are_short() -> None:
    texts = {name_of(path): path.read_text("utf-8").splitlines() for path in sources()}
    lengths = {
        name: len(lines)
        for name, lines in texts.items()
        if not any(map(GENERATED.search, lines[:2]))
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST} == {}


def test_files_begin_with_a_description() -> None:
    assert [
        name_of(path) for path in sources() if not begins_with_a_sentence(path)
    ] == []


def begins_with_a_sentence(path: Path) -> bool:
    """Whether a file starts with a docstring or a comment."""
    return re.match(COMMENTS[path.suffix], path.read_text("utf-8")) is not None


def test_no_file_shows_a_machine_or_a_registry() -> None:
    own = Path(__file__)
    found = []
    for path in tracked_files():
        if path == own or path.suffix in (".png", ".webp"):
            continue
        text = path.read_text("utf-8")
        for allowed in ALLOWED_TRACES:
            text = text.replace(allowed, "")
        for pattern in TRACES:
            match = re.search(pattern, text)
            if match:
                found.append(f"{name_of(path)}: {match[0]}")
    assert found == []


FILE = re.compile(r"`([\w./-]*\w\.(?:py|ts|wgsl|mjs))`")
"""The name of a file in a document, a docstring or a comment."""

UNTRACKED = {
    *("main.py", "helpers.py", "title.py"),
    *("pyodide.asm.mjs", "pyodide.mjs"),
    *("vendor/tfjs.mjs", "vendor/tfjs-wasm.mjs"),
    *("shaders/NAME.wgsl", "web/examples/NN-topic.py"),
}
"""Files that are named but not tracked: of a user's program, built, or patterns."""


def test_named_files_exist() -> None:
    tracked = tracked_files()
    ends = {end for path in tracked for end in path_ends(path)} | UNTRACKED
    named = [
        (name_of(path), name)
        for path in tracked
        if path.suffix in {*SOURCES, ".md"}
        for name in FILE.findall(path.read_text("utf-8"))
    ]
    assert len(named) > 300
    assert [pair for pair in named if pair[1] not in ends] == []


def path_ends(path: Path) -> Iterator[str]:
    """Yield the names of a file with all, fewer and none of its folders."""
    parts = path.relative_to(ROOT).parts
    for start in range(len(parts)):
        yield "/".join(parts[start:])


ATTRIBUTES = re.compile(r"^Attributes:\n((?:    .*\n?|\n)+)", re.MULTILINE)

PER_LAYER = re.compile(r"(?:weight|bias)_[ih][hr]_l0")
"""Parameters that recurrent networks register for each layer, by number."""


def test_documented_attributes_exist() -> None:
    classes: dict[str, list[ast.ClassDef]] = {}
    for path in sources():
        text = path.read_text("utf-8") if path.suffix == ".py" else ""
        for node in ast.walk(ast.parse(text)) if "class " in text else ():
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)
    count, missing = 0, []
    for node in chain.from_iterable(classes.values()):
        documented = documented_attributes(node)
        count += len(documented)
        unknown = documented - members(node, classes) if documented else ()
        missing += [f"{node.name}.{name}" for name in unknown]
    assert count > 500
    assert missing == []


def documented_attributes(node: ast.ClassDef) -> set[str]:
    """Return the names under `Attributes:` in the docstring of a class."""
    return {
        name
        for section in ATTRIBUTES.findall(ast.get_docstring(node) or "")
        for names in re.findall(r"^    (\S[^:]*):", section, re.MULTILINE)
        for name in names.split(", ")
        if not PER_LAYER.fullmatch(name)
    }


def members(node: ast.ClassDef, classes: dict[str, list[ast.ClassDef]]) -> set[str]:
    """Return what a class and its bases define, assign, declare or list in slots."""
    names = set()
    for part in ast.walk(node):
        match part:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Constant(value=str(name)):
                names.add(name)
    for base in node.bases:
        written = ast.unparse(base).split("[")[0].split(".")[-1]
        for parent in classes.get(written, ()):
            if parent is not node:
                names |= members(parent, classes)
    return names


DOCUMENTED = [
    name
    for name in tw.__all__
    if inspect.isclass(getattr(tw, name))
    or inspect.isfunction(getattr(tw, name))
    or inspect.ismodule(getattr(tw, name))
]


def test_public_names_have_docstrings_with_examples() -> None:
    texts = {name: getattr(tw, name).__doc__ or "" for name in DOCUMENTED}
    assert [name for name, text in texts.items() if ">>> " not in text] == []


def callables() -> dict[str, Any]:
    """Return every public function and method of a public class by name."""
    found: dict[str, Any] = {}
    for name in tw.__all__:
        value = getattr(tw, name)
        members = inspect.getmembers(value) if inspect.isclass(value) else []
        for path, member in ((name, value), *((f"{name}.{k}", v) for k, v in members)):
            function = inspect.unwrap(getattr(member, "fget", member))
            code = getattr(function, "__code__", None)
            if code and Path(code.co_filename).is_relative_to(ROOT / "tensorweb"):
                found[path] = function
    return found


def test_public_names_are_annotated_completely() -> None:
    lacking = []
    for name, function in callables().items():
        named = set(inspect.signature(function).parameters) - {"self", "cls"}
        if not named | {"return"} <= set(function.__annotations__):
            lacking.append(name)
    assert lacking == []
