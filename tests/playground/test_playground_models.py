"""Networks of a run as trees, with what each module returned last."""

from __future__ import annotations

from typing import Any

from tensorweb.playground import bridge
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


def test_modules_are_called_as_before_after_a_run() -> None:
    from tensorweb.nn import Module

    plain = Module.__call__
    asked(PROGRAM)
    assert Module.__call__ is plain


def test_a_program_without_networks_has_no_modules() -> None:
    assert asked("x = 1") == []
