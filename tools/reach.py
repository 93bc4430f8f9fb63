"""Find the tests that a change can reach, by the table of layers and by imports.

A part of `tensorweb` is a folder or a file at its top, as in the table of
`tests/project/test_layers.py`. A test depends on the parts that its file and its
helpers import or name (`tw.nn`), and on all that these parts may import; on files
elsewhere it depends by imports, or by naming their folder in a text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.project.test_layers import FREE, MAY_IMPORT
from tools.process import ROOT, output

RUNS = {"evaluate": ("backends",), "devices": ("backends",)}
"""What a part calls without importing it: backends register themselves."""

PART_OF_FOLDER = {"numpy_habits": "numpy", "random_numbers": "random"}
"""Parts of the folders of tests that have another name than their part."""

EVERYTHING = ("conftest.py", "tests/conftest.py", "pyproject.toml", "requirements/")
"""A change there reaches every test."""

RULES = tuple(
    f"tests/project/test_{name}.py"
    for name in ("device_names", "docs", "layers", "project", "words")
)
"""Tests that read every tracked file: each change reaches them."""

PAGE = ("web/", "tensorweb/playground/", "tensorweb/drivers/", "e2e/", "tools/site.py")
"""A change there reaches every browser test, but for a change of `e2e/test_*.py`.

The parts below reach the page as well, and its tests hold little of them: they run in
the whole run alone.
"""

SUBJECTS = {
    "tests/in_pyodide/test_inside.py": (
        *("tensorweb/playground/", "tensorweb/drivers/", "tensorweb/backends/"),
        *("tensorweb/codegen/wasm/", "tests/in_pyodide/", "tools/in_pyodide."),
    ),
}
"""Tests that run others once more, and what a change must touch to reach them."""

HELPERS = ("tests", "e2e", "tools", "bench", "fuzz")
"""Folders in which imports are followed."""


@dataclass(frozen=True)
class Reached:
    """What a change can reach: files of unit tests, parts with examples, browser tests.

    All three are paths from the root of the project.
    """

    tests: tuple[str, ...]
    examples: tuple[str, ...]
    browser: tuple[str, ...]


def changed_files() -> list[str]:
    """Return what differs from the branch `main`, or from the last commit on it."""
    base = output(["git", "merge-base", "HEAD", "main"]).strip()
    names = output(["git", "diff", "--name-only", base])
    new = output(["git", "ls-files", "--others", "--exclude-standard"])
    return sorted({*names.splitlines(), *new.splitlines()})


def reached(changed: Iterable[str]) -> Reached:
    """Return the tests that a change of these files can reach."""
    changed = [*changed]
    tests = [*_test_files("tests")]
    browser = [*_test_files("e2e")]
    if any(name.startswith(EVERYTHING) for name in changed):
        return Reached(("tests",), ("tensorweb",), ("e2e",))
    parts = {part for name in changed if (part := part_of(name))}
    others = [name for name in changed if not part_of(name)]
    found = []
    for name in tests:
        if name in SUBJECTS:
            is_reached = any(file.startswith(SUBJECTS[name]) for file in changed)
        else:
            is_reached = name in RULES or _reaches(name, parts, others)
        if is_reached:
            found.append(name)
    return Reached(
        tuple(found),
        tuple(_path(part) for part in sorted(dependants(parts))),
        tuple(name for name in browser if _reaches_browser(name, changed)),
    )


def part_of(name: str) -> str:
    """Return the part of the library that a file belongs to, or nothing."""
    top, _, rest = name.partition("/")
    if top == "shaders":
        return "codegen"
    return rest.split("/")[0].removesuffix(".py") if top == "tensorweb" else ""


def dependants(parts: Iterable[str]) -> set[str]:
    """Return the parts that depend on any of these, and these."""
    changed = {*parts}
    return {part for part in (*MAY_IMPORT, *FREE) if changed & needs(part)}


@cache
def needs(part: str) -> frozenset[str]:
    """Return the parts that a part may import, their imports, and so on."""
    if part in FREE:
        return frozenset((part, *MAY_IMPORT))
    found, waiting = {part}, [part]
    while waiting:
        name = waiting.pop()
        new = {*MAY_IMPORT.get(name, ()), *RUNS.get(name, ())} - found
        found |= new
        waiting += new
    return frozenset(found)


def _reaches(test: str, parts: set[str], others: list[str]) -> bool:
    files = _files_of(test)
    if any(parts & needs(part) for file in files for part in _parts_named(file)):
        return True
    folders = {name.split("/")[0] for name in others} - {*HELPERS}
    texts = [(ROOT / file).read_text("utf-8") for file in files]
    return any(name in files for name in others) or any(
        re.search(rf"[\"'/]{re.escape(folder)}[\"'/]", text)
        for folder in folders
        for text in texts
    )


def _reaches_browser(test: str, changed: list[str]) -> bool:
    files = _files_of(test)
    return any(
        name in files or (name.startswith(PAGE) and not name.startswith("e2e/test_"))
        for name in changed
    )


@cache
def _files_of(test: str) -> frozenset[str]:
    """Return a file, the helpers that it imports, their imports, and so on."""
    found, waiting = {test}, [test]
    while waiting:
        for module in _imports(waiting.pop()):
            path = _helper(module)
            if path and path not in found:
                found.add(path)
                waiting.append(path)
    return frozenset(found)


@cache
def _helper(module: str) -> str:
    """Return the path of a module of the tests and tools, or nothing."""
    name = module.replace(".", "/")
    for start in ("", "tests/", "e2e/"):
        for path in (f"{start}{name}.py", f"{start}{name}/__init__.py"):
            if path.startswith(HELPERS) and (ROOT / path).is_file():
                return path
    return ""


@cache
def _parts_named(file: str) -> frozenset[str]:
    """Return the parts that a file's folder stands for, or that it imports or names."""
    folders = file.split("/")[:-1]
    found = set()
    if folders[:1] == ["tests"] and len(folders) > 1:
        found.add(PART_OF_FOLDER.get(folders[1], folders[1]))
    for module in _imports(file):
        root, _, rest = module.partition(".")
        if root == "tensorweb":
            found.add(rest.split(".")[0])
    text = (ROOT / file).read_text("utf-8")
    for name in re.findall(r"\b(?:tw|tensorweb|xp)\.(\w+)", text):
        found.add(_exports().get(name, name))
    return frozenset(found & {*MAY_IMPORT, *FREE})


@cache
def _exports() -> dict[str, str]:
    """Return the part of each public name that `tensorweb` offers."""
    found = {}
    for part in ("tensor", "functions", "transforms"):
        for path in sorted((ROOT / "tensorweb" / part).rglob("*.py")):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    found[node.name] = part
    return found


@cache
def _imports(file: str) -> frozenset[str]:
    """Return the modules that a file imports; a name of a package may be one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def _test_files(folder: str) -> Iterator[str]:
    for path in sorted((ROOT / folder).rglob("test_*.py")):
        yield path.relative_to(ROOT).as_posix()


def _path(part: str) -> str:
    folder = Path("tensorweb") / part
    return str(folder if (ROOT / folder).is_dir() else folder.with_suffix(".py"))
