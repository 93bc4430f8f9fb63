"""What the page learns of storages: shared ones, copies, and their elements."""

from __future__ import annotations

import json
import sys
from array import array
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from answers import text_of_answer

from tensorweb.playground import bridge, policy
from tensorweb.playground.session import Session

CODES = {"float32": "f", "int32": "i"}


class Console:
    """A session of which only answers are looked at."""

    def __init__(self) -> None:
        self.session = Session(lambda kind, fields: None, None, True)

    def ask(self, question: Any) -> Any:
        return json.loads(text_of_answer(bridge.drive(question)))

    def tensors(self, source: str) -> dict[str, Any]:
        run = self.ask(self.session.run(f"import tensorweb as tw\n{source}"))
        assert run["error"] is None
        return {found["name"]: found for found in self.ask(self.session.describe())}

    def elements(self, tensor: Any) -> tuple[Any, list[float]]:
        found = self.ask(self.session.storage(tensor["id"]))
        code = CODES[found["encoding"]]
        values = array(code, b64decode(found["values"]))
        return found, [float(value) for value in values]


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


def test_views_share_the_id_of_their_storage(console: Console, device: str) -> None:
    found = console.tensors(
        "x = tw.asarray([[1, 2, 3], [4, 5, 6]])\n"
        "y = x.T\nhead, tail = x[0], x[1]\nz = x + 1"
    )
    ids = {name: tensor["storage"]["id"] for name, tensor in found.items()}
    assert ids["x"] == ids["y"] == ids["head"] == ids["tail"]
    assert ids["z"] != ids["x"]
    assert found["tail"]["storage"]["size"] == 6
    assert (found["tail"]["strides"], found["tail"]["offset"]) == ([1], 3)


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("x.T.reshape(-1)", "reshape"),
        ("x.T.reshape(-1)[::2]", "reshape"),
        ("x.T.reshape(3, 2)", "computed"),
        ("x.reshape(-1)", "computed"),
        ("x.T.copy()", "copy"),
        ("x.copy().reshape(-1)", "copy"),
        ("x.T.contiguous()", "copy"),
        ("x + 1", "computed"),
        ("tw.zeros((2, 3))", "constant"),
    ],
)
def test_copies_are_told_from_views(
    console: Console, device: str, source: str, made: str
) -> None:
    found = console.tensors(f"x = tw.asarray([[1, 2, 3], [4, 5, 6]])\ny = {source}")
    y = found["y"]["storage"]
    assert y["made"] == made
    if made in ("reshape", "copy"):
        assert y["line"] == 3
        assert y["id"] != found["x"]["storage"]["id"]


def test_a_loop_copies_at_one_place(console: Console, device: str) -> None:
    found = console.tensors(
        "x = tw.asarray([[1, 2, 3], [4, 5, 6]])\nfor _ in range(2):\n"
        "    y = x.T.reshape(-1)\n    z = x.T.copy()\n    z = z.reshape(-1)"
    )
    assert found["y"]["storage"]["made"] == "reshape"
    assert found["z"]["storage"]["made"] == "copy"


def test_storage_is_read_in_the_order_of_memory(console: Console, device: str) -> None:
    found = console.tensors("x = tw.asarray([[1, 2, 3], [4, 5, 6]])\ny = x.T[::-1, 1]")
    y = found["y"]
    assert (y["strides"], y["offset"]) == ([-1], 5)
    cells, values = console.elements(y)
    assert values == [1, 2, 3, 4, 5, 6]
    assert (cells["rows"], cells["columns"], cells["how"]) == (1, 6, "each")


def test_a_large_storage_is_divided_into_blocks(console: Console, device: str) -> None:
    size = 10 * policy.MOST_STORAGE_CELLS + 1
    found = console.tensors(f"x = tw.arange({size}.0)[5:7]")
    cells, values = console.elements(found["x"])
    assert found["x"]["storage"]["size"] == size
    assert cells["blockColumns"] == 11
    assert cells["columns"] == len(values) <= policy.MOST_STORAGE_CELLS
    assert values[:2] == [5, 16]


def test_storages_of_complex_numbers_count_these(console: Console, device: str) -> None:
    found = console.tensors("x = tw.asarray([3 + 4j, 0, 1j])\ny = x[::-1]\nr = x.real")
    stored = {name: tensor["storage"] for name, tensor in found.items()}
    assert (stored["x"]["size"], stored["r"]["size"]) == (3, 6)
    assert stored["x"]["id"] == stored["y"]["id"] != stored["r"]["id"]
    assert console.elements(found["y"])[1] == [5, 0, 1]
    assert console.elements(found["r"])[1] == [3, 4, 0, 0, 0, 1]


def test_a_constant_has_cells_though_it_is_not_stored(console: Console) -> None:
    found = console.tensors("x = tw.full((2, 3), 7.0)")
    assert console.elements(found["x"])[1] == [7] * 6
