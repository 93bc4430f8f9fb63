"""Notebooks and the page have the same colours, and numbers of the same look."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tensorweb.display.statistics import shape_text, short
from tensorweb.display.summary import (
    DIVERGING,
    GLYPHS,
    NAN_COLOUR,
    NAN_INK,
    SEQUENTIAL,
    Colour,
    scale_of,
)

TENSORS = Path(__file__).parents[2] / "web/src/panels/tensors"
COLOURS = (TENSORS / "colours.ts").read_text("utf-8")
MARKS = (TENSORS / "marks.ts").read_text("utf-8")


def stops(name: str) -> tuple[Colour, ...]:
    """Return the list of colours that follows a name in the page's source."""
    after = COLOURS[re.search(rf"\b{name}\b.*= \[|\b{name}: \[", COLOURS).end() :]  # type: ignore[union-attr]
    inside = after[: re.search(r"\n *\],?;?\n", after).start()]  # type: ignore[union-attr]
    triples = re.findall(r"\[(\d+), (\d+), (\d+)\]", inside)
    return tuple((int(r), int(g), int(b)) for r, g, b in triples)


def test_stops_equal_those_of_the_page() -> None:
    assert stops("SEQUENTIAL") == SEQUENTIAL
    assert {name: stops(name) for name in ("light", "dark")} == DIVERGING


def test_marks_equal_those_of_the_page() -> None:
    assert f"NAN_COLOUR: Colour = [{', '.join(map(str, NAN_COLOUR))}]" in MARKS
    assert f'NAN_INK = "#{bytes(NAN_INK).hex()}"' in MARKS
    there = {"nan": "nan", "inf": "infinity", "-inf": "minusInfinity"}
    for name, rows in GLYPHS.items():
        texts = ", ".join(f'"{row}"' for row in rows)
        assert f"  {there[name]}: [{texts}]," in MARKS


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(0, 3, (0, 3)), (-1, 3, (-3, 3)), (-4, 1, (-4, 4)), (-4, -1, (-4, -1))],
)
def test_scale_is_symmetric_where_values_change_sign(
    low: float, high: float, ends: tuple[float, float]
) -> None:
    scale = scale_of(low, high)
    assert (scale.low, scale.high) == ends
    assert scale.is_diverging == (low < 0 < high)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.30000000000000004, "0.3"),
        (-0.0, "-0"),
        (9_999_999, "9999999"),
        (10_000_000, "1e7"),
        (2**63, "9.223e18"),
        (123456.78, "1.235e5"),
        (0.00001234567, "1.235e-5"),
        (0.99996, "1"),
        (True, "1"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_shape_of_many_axes_is_cut() -> None:
    assert shape_text((3,)) == "(3,)"
    assert shape_text((1,) * 20) == f"({'1, ' * 14}… 20 axes)"
