"""The texts of driver errors: sizes, limits, compiler messages of naga and Tint."""

from __future__ import annotations

import pytest

from tensorweb.drivers import messages

NAGA = """
Shader validation error: Entry point main at Compute is invalid
  ┌─ add:8:43
  │
8 │   y[id.x] = x[id.x] + parameters.size;
  │             ^^^^^^^^^^^^^^^^^^^^^^^^^ naga::ir::Expression [16]
  │
  = Expression [16] is invalid
"""

TINT = """Entry-point uses workgroup_size(4096, 1, 1).
 - While initializing [ComputePipeline "add"]
"""


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (7, "7 bytes"),
        (1536, "1.5 KiB"),
        (128 << 20, "128 MiB"),
        ((4 << 30) - 4, "4 GiB"),
        (3 << 40, "3072 GiB"),
    ],
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert messages.size_text(size) == text


def test_naga_message_loses_its_drawing_and_keeps_location_and_notes() -> None:
    found = messages.compiler_message(NAGA)
    assert found.text == (
        "Entry point main at Compute is invalid\nExpression [16] is invalid"
    )
    assert (found.line, found.column) == (8, 43)


def test_tint_message_keeps_its_first_lines() -> None:
    found = messages.compiler_message(TINT, 3, 5)
    assert found.text == "Entry-point uses workgroup_size(4096, 1, 1)."
    assert (found.line, found.column) == (3, 5)


def test_excerpt_at_the_edges_of_the_source() -> None:
    source = "one\ntwo\nthree"
    assert (
        messages.excerpt(source, 1, 2) == "> 1 | one\n    |  ^\n  2 | two\n  3 | three"
    )
    assert messages.excerpt(source, 3, 0) == "  1 | one\n  2 | two\n> 3 | three"
