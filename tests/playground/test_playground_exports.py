"""What leaves the page as files, and two tensors side by side, on each device."""

from __future__ import annotations

import io
import json
import sys
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from answers import text_of_answer

from tensorweb.errors import DataError, ShapeError
from tensorweb.playground import bridge, policy
from tensorweb.playground.records import FileFormat
from tensorweb.playground.session import Session


class Console:
    """A session whose tensors are asked about."""

    def __init__(self) -> None:
        self.session = Session(lambda kind, fields: None, None, True)

    def ask(self, question: Any) -> Any:
        return json.loads(text_of_answer(bridge.drive(question)))

    def tensors(self, source: str) -> dict[str, int]:
        """Run a program and return the numbers of its tensors by name."""
        run = self.ask(self.session.run(f"import tensorweb as tw\n{source}"))
        assert run["error"] is None
        return {
            entry["name"]: entry["id"] for entry in self.ask(self.session.describe())
        }

    def parts(self, tensor: int, shape: tuple[int, ...], kind: FileFormat) -> list[str]:
        """Return every part of a file."""
        last = len(shape) - 1
        rows, columns = (last - 1 if last > 0 else None), (last if shape else None)
        zeros = [0] * len(shape)
        found: list[str] = []
        start: int | None = 0
        while start is not None:
            part = self.ask(
                self.session.export(tensor, rows, columns, zeros, kind, start)
            )
            found.append(part["data"])
            start = part["next"]
        return found


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


@pytest.mark.parametrize(
    "source",
    [
        "tw.reshape(tw.arange(24, dtype=tw.float32), (2, 3, 4)) / 7",
        "tw.reshape(tw.arange(12), (3, 4)).T[::2]",
        "tw.arange(7) > 3",
        "tw.asarray(2.5)",
        "tw.zeros((0, 3))",
        "tw.asarray([1, 2], dtype=tw.uint32)",
    ],
)
def test_npy_is_the_file_that_numpy_writes(
    console: Console, device: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_EXPORTED_VALUES", 5)
    x = console.tensors(f"x = {source}")["x"]
    expected = vars(sys.modules["__main__"])["x"].numpy()
    parts = console.parts(x, expected.shape, "npy")
    assert len(parts) == max(1, -(-expected.size // 5))
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(expected).reshape(expected.shape))
    assert b"".join(map(b64decode, parts)) == file.getvalue()


def test_csv_has_the_slice_line_by_line(
    console: Console, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_EXPORTED_TEXTS", 6)
    ids = console.tensors(
        "x = tw.reshape(tw.arange(24), (2, 4, 3)) / 8\nm = tw.arange(8) > 5\n"
        "w = tw.ones((2, 9))"
    )
    assert console.parts(ids["x"], (2, 4, 3), "csv") == [
        "0,0.125,0.25\n0.375,0.5,0.625\n",
        "0.75,0.875,1\n1.125,1.25,1.375\n",
    ]
    assert "".join(console.parts(ids["m"], (8,), "csv")) == "False\n" * 6 + "True\n" * 2
    with pytest.raises(DataError, match=r"download \.npy"):
        console.parts(ids["w"], (2, 9), "csv")


@pytest.mark.parametrize(
    ("first", "second", "differing", "largest", "index"),
    [
        ("tw.asarray([[1.0, 2], [3, 4]])", "tw.asarray([1.0, 2.5])", 3, 2.0, [1, 0]),
        ("tw.asarray([1, 5, 2])", "tw.asarray([1, 5, 2])", 0, 0.0, [0]),
        ("tw.asarray([True, False])", "tw.asarray([True, True])", 1, 1.0, [1]),
        (
            "tw.asarray([1, 5], dtype=tw.uint32)",
            "tw.asarray([3, 1], dtype=tw.uint32)",
            2,
            4.0,
            [1],
        ),
    ],
)
def test_two_tensors_are_measured_side_by_side(
    console: Console,
    device: str,
    first: str,
    second: str,
    differing: int,
    largest: float,
    index: list[int],
) -> None:
    ids = console.tensors(f"a = {first}\nb = {second}")
    pair = console.ask(console.session.pair(ids["a"], ids["b"]))
    assert (pair["differing"], pair["largest"], pair["index"]) == (
        differing,
        largest,
        index,
    )
    assert [pair[key]["name"] for key in ("first", "second", "difference")] == [
        "a",
        "b",
        "(a - b)",
    ]
    assert pair["second"]["shape"] == pair["first"]["shape"]
    assert pair["difference"]["min"] <= 0
    shape = pair["difference"]["shape"]
    rows, columns = (0, 1) if len(shape) == 2 else (None, 0)
    zeros = [0] * len(shape)
    number = pair["difference"]["id"]
    found = console.ask(console.session.heatmap(number, rows, columns, zeros))
    assert found["rows"] * found["columns"] == pair["difference"]["size"]


def test_nan_at_one_index_does_not_differ(console: Console, device: str) -> None:
    nan = "float('nan')"
    ids = console.tensors(
        f"a = tw.asarray([{nan}, {nan}, 1.0])\nb = tw.asarray([{nan}, 1.0, 1.0])"
    )
    pair = console.ask(console.session.pair(ids["a"], ids["b"]))
    assert (pair["differing"], pair["largest"], pair["index"]) == (1, 0.0, [2])


def test_shapes_must_have_a_common_one(console: Console) -> None:
    ids = console.tensors("a = tw.ones(3)\nb = tw.ones(4)")
    with pytest.raises(ShapeError, match=r"\(3,\)"):
        console.ask(console.session.pair(ids["a"], ids["b"]))
