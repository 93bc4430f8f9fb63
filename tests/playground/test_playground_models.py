"""Networks of a run as trees, with what each module returned last."""

from __future__ import annotations

from typing import Any

import pytest

from tensorweb.playground import bridge
from tensorweb.playground.models import Calls
from tensorweb.playground.session import Session, handlers

PROGRAM = """
import tensorweb as tw
from tensorweb import nn
class Net(nn.Module):
    def __init__(self):
        self.layers = [nn.Linear(3, 4), nn.ReLU()]
        self.scale = tw.ones(2)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
model = Net()
head = model.layers[0]
other = nn.Linear(2, 2)
for _ in range(3):
    y = model(tw.ones((5, 3)))
"""


def asked(source: str) -> Any:
    session = Session(lambda kind, fields: None, None, True)
    table: Any = handlers(session)
    assert bridge.drive(table["run"](source, "cpu", inside=True))["error"] is None
    bridge.drive(table["describe"]())
    return bridge.drive(table["modules"]())


def test_a_network_is_a_tree_with_tensors_and_results() -> None:
    found = asked(PROGRAM)
    assert [
        (one["path"], one["depth"], one["kind"], one["calls"]) for one in found
    ] == [
        ("model", 0, "Net", 3),
        ("model.layers.0", 1, "Linear", 3),
        ("model.layers.1", 1, "ReLU", 3),
        ("other", 0, "Linear", 0),
    ]
    model, linear, relu, other = found
    assert (model["parameters"], linear["parameters"], relu["parameters"]) == (
        18,
        16,
        0,
    )
    assert model["bytes"] == 72
    assert [one["name"] for one in linear["tensors"]] == [
        "model.layers.0.weight",
        "model.layers.0.bias",
    ]
    assert [one["name"] for one in model["tensors"]] == ["model.scale"]
    assert relu["output"]["shape"] == [5, 4]
    assert relu["output"]["min"] >= 0
    assert other["output"] is None


def test_buffers_are_no_parameters() -> None:
    source = "from tensorweb import nn\nm = nn.Sequential(nn.BatchNorm2d(4))"
    whole, layer = asked(source)
    for one in (whole, layer):
        assert (one["parameters"], one["buffers"]) == (8, 9)


def test_modules_are_called_as_before_after_a_run() -> None:
    from tensorweb.nn import Module

    plain = Module.__call__
    asked(PROGRAM)
    assert Module.__call__ is plain


def test_a_program_without_networks_has_no_modules() -> None:
    assert asked("x = 1") == []


TIMED = """
import tensorweb as tw
from tensorweb import nn
class Net(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
    def forward(self, x):
        return self.second(tw.tanh(self.first(x * 2)))
model = Net()
unused = nn.Linear(2, 2)
tw.realize(*model.parameters())
x = tw.ones((5, 3)) + 1
y = model(x).realize()
z = tw.sort(x, axis=0).realize()
"""


def timed(device: str, **how: Any) -> tuple[Any, Any]:
    session = Session(lambda kind, fields: None, None, True)
    table: Any = handlers(session)
    record = bridge.drive(table["run"](TIMED, device, inside=True, **how))
    assert record["error"] is None
    return record, bridge.drive(table["modules"]())


@pytest.mark.usefixtures("wasm")
def test_modules_have_the_time_of_the_kernels_of_their_calls() -> None:
    record, found = timed("cpu", timed=True)
    model, first, second, unused = found
    assert unused["seconds"] is None
    assert model["seconds"] >= first["seconds"] + second["seconds"] > 0
    # The sort and the values before the call belong to no module.
    products = [each for each in record["kernels"] if each["kind"] != "sort_rows"]
    assert model["seconds"] <= sum(each["seconds"] for each in products) + 1e-9
    # Kernels of tanh and of the products compute for two of them.
    assert [one["shared"] for one in (model, first)] == [True, True]


GIVEN = """
import tensorweb as tw
from tensorweb import nn
class Net(nn.Module):
    def __init__(self, function):
        self.function = function
    def forward(self, x=None):
        return self.function(x)
x = tw.ones((5, 3)) + 1
before = tw.exp(tw.sin(x))
double = Net(lambda x: x * 2)
of_dict = Net(lambda x: x["x"][0] * 2)
of_global = Net(lambda x: before * 2)
of_both = nn.Sequential(double, tw.exp)
y = double(tw.exp(tw.sin(x)))
y = of_dict({"x": [tw.exp(tw.sin(x))]})
y = of_global()
y = (lambda own: Net(lambda x: own * 2)())(tw.exp(tw.sin(x)))
y = of_both(tw.exp(tw.sin(x)))
"""


def test_nodes_that_a_module_is_given_are_not_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[int] = []
    plain = Calls._own

    def own(self: Calls, module: Any, *how: Any) -> None:
        before = len(self._owners)
        plain(self, module, *how)
        counts.append(len(self._owners) - before)

    monkeypatch.setattr(Calls, "_own", own)
    asked(GIVEN)
    # A multiplication each; `Sequential` calls one of them and owns the `exp`.
    assert counts == [1, 1, 1, 1, 1, 1]


@pytest.mark.usefixtures("wasm")
def test_a_run_without_times_says_so() -> None:
    _, found = timed("cpu")
    assert [one["seconds"] for one in found] == [None] * 4
