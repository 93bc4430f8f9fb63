"""The training benchmark: equal numbers in both languages, losses, tables."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import tensorweb as tw
from bench import kit, training
from bench.results import Results, Row
from bench.train import gpt2
from bench.train.models import LOSSES, SIZES
from bench.train.trainer import Trainer
from bench.train.values import values_of
from bench.train_report import OURS, training_table

VALUES = """
import {{ valuesOf }} from "{module}";
const {{ parameters, x, y }} = valuesOf({network});
const arrays = Object.entries(parameters);
const few = ([name, array]) => [name, [...array.slice(0, 3), ...array.slice(-2)]];
console.log(JSON.stringify([...arrays, ["x", x], ["y", y]].map(few)));
"""


def in_node(network: str) -> dict[str, list[float]]:
    """Return some numbers of each array as JavaScript makes them."""
    program = VALUES.format(
        module=(kit.BENCH / "js/train/values.mjs").as_uri(),
        network=json.dumps(training.specified(network, tiny=True)),
    )
    command = [kit.node(), "--input-type=module", "--eval", program]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(shown))


@pytest.mark.parametrize("network", SIZES)
def test_both_languages_begin_with_the_same_numbers(network: str) -> None:
    found, x, y = values_of(network, SIZES[network][True])
    expected = {**found, "x": x, "y": y}
    made = in_node(network)
    assert made.keys() == expected.keys()
    for name, few in made.items():
        flat = expected[name].reshape(-1)
        assert few == [*flat[:3].tolist(), *flat[-2:].tolist()]


@pytest.mark.parametrize("network", SIZES)
def test_steps_learn_what_plain_gradients_say(network: str, cpu: str) -> None:
    size = SIZES[network][True]
    values, x, y = values_of(network, size)
    given = {name: array.tobytes() for name, array in values.items()}
    trainer = Trainer(network, True, given, x.tobytes(), y.tobytes())

    def loss(model: dict[str, tw.Tensor]) -> tw.Tensor:
        found: tw.Tensor = LOSSES[network](tw, size, model, trainer.x, trainer.y)
        return found

    model = {name: tw.asarray(array) for name, array in values.items()}
    first, gradients = tw.value_and_grad(loss)(model)
    trainer.run(1)
    assert trainer.loss is not None
    assert trainer.loss.item() == pytest.approx(first.item(), rel=1e-6)
    for name, gradient in gradients.items():
        moved = np.asarray(trainer.model[name]) - values[name]
        # Adam's first step is the rate against the gradient's sign.
        steep = np.abs(np.asarray(gradient)) > 1e-5
        wanted = -1e-3 * np.sign(np.asarray(gradient))
        assert np.allclose(moved[steep], wanted[steep], atol=2e-6)
    trainer.run(5)
    assert trainer.loss.item() < first.item()


def test_forward_pass_attends_to_earlier_places_only(cpu: str) -> None:
    size = gpt2.SHAPES["gpt2_short"][True]
    weights = gpt2.weights(tw, size)
    text = tw.asarray([[3, 1, 4, 1, 5, 9, 2, 6]])
    logits = gpt2.forward(tw, size, weights, text)
    assert logits.shape == (size.batch, size.length, size.letters)
    changed = gpt2.forward(tw, size, weights, tw.asarray([[3, 1, 4, 1, 5, 9, 2, 7]]))
    difference = np.abs(np.asarray(changed - logits))[0].max(axis=-1)
    assert (difference[:-1] == 0).all()
    assert difference[-1] > 0


def test_whole_sizes_are_those_of_the_table() -> None:
    count = {
        name: sum(np.prod(row["shape"]) for row in specified["parameters"])
        for name in SIZES
        if (specified := training.specified(name, tiny=False))
    }
    assert count["train_mlp"] == 784 * 128 + 128 + 1280 + 10
    assert count["train_cnn"] == 16 * 9 + 16 + 32 * 16 * 9 + 32 + 15680 + 10
    assert 800_000 < count["train_gpt"] < 830_000
    assert gpt2.SHAPES["gpt2_forward"][0].tokens == 8192


def row(impl: str, ms: float, losses: list[float], workload: str = "train_mlp") -> Row:
    found: Row = {"workload": workload, "impl": impl, "ms": ms, "rate": 1.0}
    return found | {"unit": "images/s", "err": None, "losses": losses}


def test_losses_that_differ_are_told() -> None:
    ours = row(OURS, 0.2, [2.3, 0.5])
    assert not training.disagreements([ours, row("TF.js", 9, [2.3, 0.50005])])
    [told] = training.disagreements([ours, row("TF.js", 9, [2.3, 0.5002])])
    assert "train_mlp" in told
    assert "twentieth" in told


def test_table_has_peers_ratio_and_aim() -> None:
    rows = [row(OURS, 0.2, [1.0, 1.0]), row("jax-js jit", 9.0, [1.0, 1.0])]
    rows += [row("PyTorch eager", 0.7, [1.0, 1.0]), row("PyTorch graph", 0.1, [])]
    found = Results("NVIDIA H200", "2026-11-22", {}, rows)
    line = training_table(found).splitlines()[4]
    for cell in ("9 ms", "0.2 ms", "| 45 |", "0.7 ms", "0.1 ms", "≤ 0.25 ms: met"):
        assert cell in line
    slow = replace(found, rows=[row(OURS, 0.5, [])])
    assert "≤ 0.25 ms: 2.00 times" in training_table(slow)
    later = {**rows[0], "date": "2026-11-23"}
    assert "measured on 2026-11-23" in training_table(replace(found, rows=[later]))
    assert training_table(Results("x", "2026-11-22")) == ""
