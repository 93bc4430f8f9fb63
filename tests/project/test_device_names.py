"""A device is named in its row and in its own modules; all others ask the table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tensorweb"
OWN = ("devices.py", "backends/webgpu", "drivers/")
"""Where `webgpu` may stand outside of docstrings: its row, its backend, its drivers."""

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
    return [text.lineno for text in texts(ast.parse(source)) if name in str(text.value)]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_other_file_names_the_gpu(path: Path) -> None:
    if not name_of(path).startswith(OWN):
        assert lines_with("webgpu", path.read_text()) == []


def test_texts_are_found_and_docstrings_are_not() -> None:
    source = '"""on webgpu"""\nx = "webgpu"\ny = f"on webgpu {x}"\n'
    assert lines_with("webgpu", source) == [2, 3]
