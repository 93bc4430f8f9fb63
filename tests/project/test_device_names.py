"""A device is named in its entry and its own modules; all others ask the table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tensorweb"
# Where `webgpu` may stand outside of docstrings: its entry, its backend, its drivers,
# and the page's messages.
OWN = ("devices.py", "backends/webgpu", "drivers/", "playground/records.py")

FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts of a file that do something, parts of f-strings included."""
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in said:
            assert isinstance(node, ast.Constant)
            yield node


def lines_with(name: str, source: str) -> list[int]:
    if name not in source:
        return []
    return [text.lineno for text in texts(ast.parse(source)) if name in str(text.value)]


def test_no_other_file_names_the_gpu() -> None:
    others = [path for path in FILES if not name_of(path).startswith(OWN)]
    found = {name_of(path): lines_with("webgpu", path.read_text()) for path in others}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_texts_are_found_and_docstrings_are_not() -> None:
    source = '"""on webgpu"""\nx = "webgpu"\ny = f"on webgpu {x}"\n'
    assert lines_with("webgpu", source) == [2, 3]
