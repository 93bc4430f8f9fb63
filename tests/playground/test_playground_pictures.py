"""What the page draws of tensors: pictures, samples and tables, made on each device."""

from __future__ import annotations

import json
import math
import sys
from array import array
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from answers import text_of_answer

import tensorweb as tw
from tensorweb.display.cells import (
    PICTURE,
    SMALL_PICTURE,
    Budget,
    block_sizes,
    cells_of,
)
from tensorweb.errors import ShapeError
from tensorweb.playground import bridge
from tensorweb.playground.session import Session


class Console:
    """A session of which only answers are looked at."""

    def __init__(self) -> None:
        self.session = Session(lambda kind, fields: None, None, True)

    def run(self, source: str) -> Any:
        return self.ask(self.session.run(source))

    def ask(self, question: Any) -> Any:
        # JSON forms what the page gets.
        return json.loads(text_of_answer(bridge.drive(question)))


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


CODES = {"float32": "f", "int32": "i", "uint32": "I", "float64": "d"}


def values_of(heatmap: Mapping[str, Any]) -> list[float]:
    code = CODES[heatmap["encoding"]]
    return array(code, b64decode(heatmap["values"])).tolist()


def pictured(console: Console, source: str) -> int:
    console.run(f"import tensorweb as tw\nx = {source}")
    return int(console.ask(console.session.describe())[0]["id"])


def test_small_heatmap_has_every_cell(console: Console, device: str) -> None:
    x = pictured(console, "tw.asarray([[1.0, float('nan')], [-2.0, float('inf')]])")
    heatmap = console.ask(console.session.heatmap(x, 0, 1, [0, 0]))
    one, nan, minus_two, infinity = values_of(heatmap)
    assert (one, minus_two, infinity) == (1, -2, math.inf)
    assert math.isnan(nan)
    assert (heatmap["how"], heatmap["encoding"]) == ("each", "float32")


def test_heatmap_swaps_axes_and_fixes_others(console: Console, device: str) -> None:
    x = pictured(console, "tw.reshape(tw.arange(24), (2, 3, 4))")
    heatmap = console.ask(console.session.heatmap(x, 2, 1, [1, 0, 0]))
    assert (heatmap["rows"], heatmap["columns"]) == (4, 3)
    assert values_of(heatmap)[:3] == [12, 16, 20]


@pytest.mark.parametrize(
    "source", ["tw.asarray(7)", "tw.arange(5)", "tw.ones((2, 3)) > 0"]
)
def test_heatmap_of_other_ranks(console: Console, device: str, source: str) -> None:
    x = pictured(console, source)
    shape = console.ask(console.session.describe())[x]["shape"]
    rows, columns = (0, 1) if len(shape) == 2 else (None, 0 if shape else None)
    heatmap = console.ask(console.session.heatmap(x, rows, columns, [0] * len(shape)))
    assert heatmap["rows"] * heatmap["columns"] == math.prod(shape)


def test_picture_has_every_element_of_a_large_plane(
    console: Console, device: str
) -> None:
    x = pictured(console, "tw.reshape(tw.arange(1_000_000), (1000, 1000))")
    heatmap = console.ask(console.session.heatmap(x, 0, 1, [0, 0]))
    assert (heatmap["how"], heatmap["encoding"]) == ("each", "int32")
    assert values_of(heatmap)[999_999] == 999_999


@pytest.mark.parametrize("how", ["mean", "extreme"])
def test_larger_picture_is_pooled_on_the_device(
    console: Console, device: str, how: str
) -> None:
    x = pictured(
        console, "tw.reshape(tw.arange(250 * 307, dtype=tw.float32), (250, 307)) * -1"
    )
    heatmap = console.ask(console.session.heatmap(x, 0, 1, [0, 0], how, "small"))
    assert heatmap["rows"] * heatmap["columns"] <= SMALL_PICTURE.cells
    assert heatmap["how"] == how
    down, across = heatmap["blockRows"], heatmap["blockColumns"]
    steps = (
        range(0, down, heatmap["stepRows"]),
        range(0, across, heatmap["stepColumns"]),
    )
    first = [-(307 * row + column) for row in steps[0] for column in steps[1]]
    expected = sum(first) / len(first) if how == "mean" else min(first)
    assert values_of(heatmap)[0] == pytest.approx(expected, rel=1e-6)
    rows = range(249 // down * down, 250, heatmap["stepRows"])
    columns = range(306 // across * across, 307, heatmap["stepColumns"])
    last = [-(307 * row + column) for row in rows for column in columns]
    expected = sum(last) / len(last) if how == "mean" else min(last)
    assert values_of(heatmap)[-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("how", ["mean", "extreme"])
def test_pooled_heatmap_keeps_nan_and_infinity(
    console: Console, device: str, how: str
) -> None:
    x = pictured(
        console,
        "tw.concat([tw.ones((200, 200)), tw.full((1, 200), float('nan')),"
        " tw.full((2, 200), -float('inf'))])",
    )
    found = console.ask(console.session.heatmap(x, 0, 1, [0, 0], how, "small"))
    values = values_of(found)
    assert values[0] == 1
    assert any(math.isnan(value) for value in values)


@pytest.mark.parametrize(("how", "most"), [("mean", 1), ("extreme", 2)])
def test_pooling_passes_over_the_data_once_or_twice(
    console: Console, how: str, most: int
) -> None:
    x = pictured(console, "tw.ones((2048, 1500)) + tw.arange(1500.0)")
    with tw.record_kernels() as kernels:
        found = console.ask(console.session.heatmap(x, 0, 1, [0, 0], how))
    assert (found["how"], found["stepRows"]) == (how, 1)
    size = 4 * 2048 * 1500
    assert sum(kernel.loaded >= size for kernel in kernels) <= most


def test_very_large_picture_is_made_of_a_sample() -> None:
    huge = tw.broadcast_to(tw.arange(30_000.0), (30_000, 30_000)).node
    cells = cells_of(huge, "mean", PICTURE)
    # One row is there: what repeats needs no sample.
    assert (cells.step_rows, cells.step_columns) == (1, 1)
    x = tw.reshape(tw.arange(300 * 400, dtype=tw.float32), (300, 400)).node
    cells = cells_of(x, "mean", Budget(1200, 512, looked_at=10_000))
    assert (cells.block_rows, cells.block_columns) == (10, 10)
    assert (cells.step_rows, cells.step_columns) == (5, 5)
    # Elements 0, 5, 2000 and 2005 of the first block.
    assert tw.Tensor(cells.node)[0, 0].item() == 1002.5


def test_corner_of_a_large_heatmap(console: Console, device: str) -> None:
    x = pictured(console, "tw.reshape(tw.arange(90_000), (300, 300))")
    heatmap = console.ask(console.session.heatmap(x, 0, 1, [0, 0], "corner", "small"))
    assert (heatmap["rows"], heatmap["fullRows"], heatmap["how"]) == (
        100,
        300,
        "corner",
    )
    assert values_of(heatmap)[100] == 300


@pytest.mark.parametrize("budget", [PICTURE, SMALL_PICTURE])
@pytest.mark.parametrize(
    ("rows", "columns"),
    [(1, 1), (100, 100), (1, 10**7), (10**7, 1), (999, 1001), (3, 70_000)],
)
def test_blocks_leave_few_cells(rows: int, columns: int, budget: Budget) -> None:
    down, across = block_sizes(rows, columns, budget)
    cells = math.ceil(rows / down), math.ceil(columns / across)
    assert math.prod(cells) <= budget.cells
    assert max(cells) <= budget.per_axis


COLOURS = "tw.reshape(tw.arange(8 * 9 * 3), (8, 9, 3))"


def test_picture_in_colour_has_a_plane_for_each_channel(
    console: Console, device: str
) -> None:
    x = pictured(console, COLOURS)
    found = console.ask(
        console.session.heatmap(x, 0, 1, [0, 0, 0], "mean", "full", channels=2)
    )
    assert (found["channels"], found["rows"], found["columns"]) == (3, 8, 9)
    assert values_of(found) == [*range(0, 216, 3), *range(1, 216, 3), *range(2, 216, 3)]


def test_large_picture_in_colour_is_pooled_in_each_channel(console: Console) -> None:
    ramp = "tw.expand_dims(tw.arange(200.0), (1, 2)) + tw.zeros((200, 250, 1))"
    x = pictured(console, f"{ramp} + tw.asarray([0.0, 1000.0, 2000.0, 3000.0])")
    found = console.ask(
        console.session.heatmap(x, 0, 1, [0, 0, 0], "mean", "small", channels=2)
    )
    cells = found["rows"] * found["columns"]
    values = values_of(found)
    assert (found["channels"], len(values)) == (4, 4 * cells)
    assert values[cells] == values[0] + 1000
    assert values[-1] == values[cells - 1] + 3000


def test_channels_are_three_or_four_and_not_drawn(console: Console) -> None:
    x = pictured(console, "tw.ones((5, 6, 7))")
    with pytest.raises(ShapeError, match=r"axis 2 of \(5, 6, 7\) has 7"):
        console.ask(console.session.heatmap(x, 0, 1, [0] * 3, channels=2))
    x = pictured(console, "tw.ones((5, 6, 3))")
    with pytest.raises(ShapeError, match="axis that is not drawn"):
        console.ask(console.session.heatmap(x, 0, 2, [0] * 3, channels=2))


@pytest.mark.parametrize(
    ("source", "channels", "coloured"),
    [
        ("tw.ones((8, 9, 3))", 2, True),
        ("tw.ones((5, 8, 9, 4), dtype=tw.int32)", 3, True),
        ("tw.ones((2, 3, 4))", 2, False),
        ("tw.ones((8, 9, 5))", None, False),
        ("tw.ones((8, 9, 3)) > 0", None, False),
        ("tw.ones((9, 3))", None, False),
    ],
)
def test_pictures_in_colour_are_known_by_their_shape(
    console: Console, source: str, channels: int | None, coloured: bool
) -> None:
    pictured(console, source)
    record = console.ask(console.session.describe())[0]
    assert (record["channels"], record["coloured"]) == (channels, coloured)


def test_sample_has_a_small_slice_whole_and_an_even_step_of_a_large_one(
    console: Console, device: str
) -> None:
    x = pictured(console, "tw.reshape(tw.arange(12), (2, 3, 2))")
    found = console.ask(console.session.sample(x, 1, 2, [1, 0, 0]))
    assert (found["step"], values_of(found)) == (1, [6, 7, 8, 9, 10, 11])
    x = pictured(console, "tw.reshape(tw.linspace(0.0, 1.0, 250_000), (500, 500))")
    found = console.ask(console.session.sample(x, 0, 1, [0, 0]))
    assert found["step"] == 4
    assert len(values_of(found)) == 62_500


def test_cells_are_exact_texts(console: Console, device: str) -> None:
    x = pictured(console, "tw.asarray([[0.1, 1e20, -0.0], [float('nan'), 3.0, 1 / 3]])")
    found = console.ask(console.session.cells(x, 0, 1, [0, 0], [0, 1, 9, 9]))
    assert found["texts"] == [["1e+20", "-0"], ["3", "0.33333334"]]


@pytest.mark.parametrize(
    ("what", "index"), [("max", [1, 0, 2]), ("min", [1, 1, 0]), ("nan", [0, 1, 1])]
)
def test_values_are_found_anywhere_in_a_tensor(
    console: Console, device: str, what: str, index: list[int]
) -> None:
    nan, inf = "float('nan')", "float('inf')"
    rows = f"[[[0.0, 1, 2], [3, {nan}, {nan}]], [[-{inf}, 4, 5], [-7, {inf}, 1]]]"
    x = pictured(console, f"tw.asarray({rows})")
    assert console.ask(console.session.find(x, what))["index"] == index


def test_a_missing_value_has_no_index(console: Console, device: str) -> None:
    x = pictured(console, "tw.arange(4)")
    assert console.ask(console.session.find(x, "nan"))["index"] is None
    x = pictured(console, "tw.asarray([float('nan')])")
    assert console.ask(console.session.find(x, "max"))["index"] is None
    x = pictured(console, "tw.asarray([False, True])")
    assert console.ask(console.session.find(x, "max"))["index"] == [1]
