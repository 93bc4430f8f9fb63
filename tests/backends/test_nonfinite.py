"""Which operation and line first made a NaN or an infinity, on every device."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

import tensorweb as tw
from tensorweb import devices, evaluate, frames
from tensorweb.backends.inspecting import Inspector
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.errors import DeviceMemoryError
from tensorweb.frames import noting
from tensorweb.graph.node import Node
from tensorweb.graph.nonfinite import Found, Origin, Search

Told = tuple[str, list[int], "Told | None"]
"""An operation, its lines and the report of the infinity among its inputs."""


def report(origin: Origin) -> Told:
    lines = [line.number for line in origin.lines]
    return origin.op, lines, None if origin.cause is None else report(origin.cause)


def run(source: str) -> tuple[dict[str, Told], dict[str, Told]]:
    """Run a program; return the origins in its `r`, and in what it has read."""
    search = Search()
    names: dict[str, object] = {"tw": tw}
    with search.searching(), noting():
        exec(compile(source, "main.py", "exec"), names)
        result = names["r"]
        assert isinstance(result, tw.Tensor)
        tw.realize(result)
    assert search.is_complete
    assert frames.left == 0
    made, read = (
        {str(kind): report(each) for kind, each in found.items()}
        for found in (search.origins(result.node), search.read)
    )
    return made, read


LOG = ("log", [3], None)

CASES = {
    "log of a negative number": (
        "x = tw.asarray([1.0, -1.0])\ny = tw.exp(x)\nr = tw.log(x) * 2 + y",
        {"nan": LOG},
    ),
    "zero by zero": (
        "x = tw.asarray([1.0, 0.0])\ny = x * 3\nz = y / (x * 2)\nr = z + 1",
        {"nan": ("divide", [3], None)},
    ),
    "infinity less infinity": (
        "x = tw.asarray([1.0, 1000.0])\ny = tw.exp(x)\nr = y - y",
        {"nan": ("subtract", [3], ("exp", [2], None))},
    ),
    "overflow": (
        "x = tw.asarray([1.0, 1000.0])\ny = x * 2\nr = tw.exp(y) + 1",
        {"inf": ("exp", [3], None)},
    ),
    "square root": (
        "x = tw.asarray([1.0, -1.0])\nr = tw.sum(tw.sqrt(x))",
        {"nan": ("sqrt", [2], None)},
    ),
    "function": (
        "def f(x):\n    y = x - 1\n    return tw.log(y)\nr = f(tw.asarray([0.5, 3.0]))",
        {"nan": LOG},
    ),
    "long fused chain": (
        "x = tw.arange(8.0)\ny = tw.sin(x) * 3\nz = tw.log(y)\n"
        "r = tw.sum(tw.tanh(z) + tw.abs(z) * y)",
        {"nan": LOG},
    ),
    "both branches of a choice": (
        "x = tw.asarray([-1.0, 1.0])\na = tw.where(x > 0, tw.log(x), 0.0)\n"
        "r = a + tw.sqrt(x)",
        {"nan": ("sqrt", [3], None)},
    ),
    "infinity that is meant": (
        "x = tw.asarray([1.0, 2.0])\nm = tw.where(x > 1, x, -tw.inf)\n"
        "r = tw.log(tw.exp(m - tw.max(m)) - 2)",
        {"nan": LOG},
    ),
    "view without the NaN before": (
        "x = tw.realize(tw.sqrt(tw.asarray([-1, 2])) - 3)\ny = x[1:]\nr = tw.log(y)",
        {"nan": LOG},
    ),
    "view of data without its NaN": (
        "x = tw.asarray([tw.nan, -2.0])\ny = x[1:]\nr = tw.log(y)",
        {"nan": LOG},
    ),
    "data": (
        "x = tw.asarray([1.0, tw.nan])\nr = x + 1",
        {"nan": ("leaf", [1], None)},
    ),
    "written number": (
        "x = tw.asarray([1.0, 2.0])\nr = x * tw.nan",
        {"nan": ("constant", [2], None)},
    ),
    "matrix product": (
        "x = tw.ones((3, 3)) * 3e38\ny = x + 0\nr = tw.sum(y @ y)",
        {"inf": ("matmul", [3], None)},
    ),
    "complex": (
        "x = tw.asarray([1 + 2j, 0j])\ny = x / x\nr = tw.real(y)",
        {"nan": ("divide", [2], None)},
    ),
    "half precision": (
        "x = tw.asarray([1.0, 300.0], dtype=tw.float16)\ny = x + 1\nr = y * y",
        {"inf": ("multiply", [3], None)},
    ),
    "gradient": (
        "def f(x):\n    return tw.sum(tw.sqrt(tw.abs(x)))\n"
        "r = tw.grad(f)(tw.asarray([0.0, 1.0]))",
        {"nan": ("multiply", [3], ("divide", [3], None))},
    ),
    "finite": ("x = tw.asarray([1.0])\nr = tw.log(x)", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_line_that_made_it_is_named(device: str, name: str) -> None:
    source, expected = CASES[name]
    if "float16" in source and "float16" not in devices.backend(device).dtypes:
        pytest.skip(f"device {device!r} has no float16")
    assert run(source)[0] == expected


LOOP = """
def step(x):
    y = x - 2
    return y, tw.sqrt(y)
x = tw.asarray([4.0, 9.0])
for i in range(6):
    x, root = step(x)
    float(tw.sum(root))
r = root
"""


@pytest.mark.parametrize("before", ["", "@tw.jit"], ids=["plain", "jit"])
def test_a_loop_names_the_line_of_its_third_iteration(device: str, before: str) -> None:
    source = before + LOOP
    sqrt = ("sqrt", [4], None)
    assert run(source) == ({"nan": sqrt}, {"nan": sqrt})


TRAINING = """
w = tw.asarray([0.5, 0.25])
def loss(w):
    return tw.sum(tw.log(w))
for i in range(40):
    w = w - 0.3 * tw.grad(loss)(w) * tw.asarray([1.0, 1.5])
    float(loss(w))
r = w
"""


def test_a_loop_of_nans_is_not_computed_step_by_step(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the flushes that are the first of their graph are looked into."""
    steps: list[object] = []
    find = Inspector._find

    def counted(self: Inspector, *arguments: object) -> None:
        steps.append(arguments)
        find(self, *arguments)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(Inspector, "_find", counted)
    assert run(TRAINING + "r = tw.log(w)")[1]["nan"][:2] == ("log", [4])
    is_kernels = isinstance(devices.backend(device), KernelBackend)
    assert len(steps) <= 6 if is_kernels else not steps


def test_a_value_from_the_other_device_keeps_its_origin(webgpu: str) -> None:
    source = "x = tw.asarray([-1.0])\ny = tw.log(x)\nr = y.to_device('cpu') + 1"
    assert run(source)[0] == {"nan": ("log", [2], None)}


def test_without_room_all_lines_of_the_flush_are_named(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    look = Inspector._look_together

    def refused(self: Inspector, nodes: Sequence[Node]) -> list[Found]:
        calls.append(nodes)
        if len(calls) > 1:
            raise DeviceMemoryError("no room")
        return look(self, nodes)

    monkeypatch.setattr(Inspector, "_look_together", refused)
    source = "x = tw.asarray([-1.0])\ny = x * 2\nr = tw.log(y)"
    assert run(source)[0] == {"nan": ("", [2, 3], None)}


def test_a_device_that_cannot_be_waited_for_is_said(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = devices.backend(webgpu).driver  # type: ignore[attr-defined]  # of kernels
    monkeypatch.setattr(driver, "can_block", lambda: False)
    search = Search()
    with search.searching():
        tw.realize(tw.log(tw.asarray([-1.0])))
    assert not search.is_complete


def test_a_search_changes_no_result(device: str) -> None:
    def compute() -> tw.Tensor:
        y = tw.sin(tw.arange(100.0)) * 3 - 1
        return (tw.cumulative_sum(tw.exp(y)) + tw.log(y)) * 2

    expected = compute()
    with Search().searching():
        found = tw.realize(compute())
        assert isinstance(found, tw.Tensor)
    assert repr(found.tolist()) == repr(expected.tolist())


def test_nothing_is_noted_outside(device: str) -> None:
    search = Search()
    with search.searching():
        pass
    y = tw.log(tw.asarray([-1.0]))
    assert math.isnan(float(y[0]))
    assert search.origins(y.node) == {}
    assert search.read == {}


def test_origin_of_values_read_from_data_is_known(device: str) -> None:
    search = Search()
    with search.searching(), noting():
        x = tw.asarray([1.0, math.inf])
        evaluate.read([x.node])
    assert search.read["inf"].op == "leaf"
    assert isinstance(x.node, Node)
