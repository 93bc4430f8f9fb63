"""Layers and losses give what PyTorch gave: results, gradients, buffers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from nn_cases import CASES
from nn_function_cases import (
    Case,
    numbers,
    phase_of,
    values_of_state,
    weights_of_result,
)

import tensorweb as tw
from tensorweb import frames, nn

FILE = Path(__file__).parents[1] / "references" / "layers.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())["cases"]


def tensor_of(case: Case, name: str, dtype: tw.DType) -> tw.Tensor:
    given = case.inputs[name]
    if isinstance(given, tuple):
        flat = numbers(math.prod(given), phase_of(name), case.scale)
        return tw.asarray(flat, dtype).reshape(given)
    is_float = tw.asarray(given).dtype.kind == "float"
    return tw.asarray(given, dtype) if is_float else tw.asarray(given)


def layer_of(case: Case, dtype: tw.DType) -> Any:
    if case.layer is None:
        return None
    layer = case.layer(nn).to(dtype=dtype).eval()
    state = {
        name: tw.asarray(values_of_state(name, t.size), dtype).reshape(t.shape)
        if t.dtype.kind == "float"
        else t
        for name, t in layer.state_dict().items()
    }
    layer.load_state_dict(state)
    return layer


class Training:
    """A layer that is called in training."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def __call__(self, *inputs: Any) -> Any:
        return self.layer(*inputs, train=True)


def tensors_in(value: Any) -> list[tw.Tensor]:
    if isinstance(value, tuple | list):
        return [part for each in value for part in tensors_in(each)]
    return [] if value is None else [value]


def results_of(case: Case, layer: Any, inputs: dict[str, tw.Tensor]) -> list[tw.Tensor]:
    called = Training(layer) if case.train else layer
    return tensors_in(case.call(nn, called, **inputs))


def found_by(case: Case, dtype: tw.DType) -> dict[str, Any]:
    """Return what was recorded, by our layers."""
    layer = layer_of(case, dtype)
    inputs = {name: tensor_of(case, name, dtype) for name in case.inputs}
    followed = {n: x for n, x in inputs.items() if n not in case.constants}

    def total(layer: Any, followed: dict[str, tw.Tensor]) -> Any:
        results = results_of(case, layer, {**inputs, **followed})
        parts = [
            (part.reshape(-1) * tw.asarray(weights_of_result(part.size), dtype)).sum()
            for part in results
        ]
        return sum(parts[1:], start=parts[0]), results

    arguments = (0, 1) if followed else 0
    if layer is None or not list(layer.parameters()):
        arguments = 1
    both = tw.value_and_grad(total, arguments, has_aux=True)
    (_, results), gradients = both(layer, followed)
    by_layer = (
        gradients[0] if arguments == (0, 1) else gradients if arguments == 0 else None
    )
    by_input = (
        gradients[1] if arguments == (0, 1) else gradients if arguments == 1 else {}
    )
    found: dict[str, Any] = {
        "results": [[list(part.shape), part] for part in results],
        "inputs": by_input,
    }
    if layer is not None:
        named = [] if by_layer is None else by_layer.named_parameters()
        found["parameters"] = dict(named)
        found["buffers"] = dict(layer.named_buffers())
    return found


def assert_near(
    found: tw.Tensor, expected: list[Any], bound: float, words: str
) -> None:
    got = found.reshape(-1).tolist()
    exact = [float(x) for x in expected]
    size = max([abs(x) for x in exact if math.isfinite(x)], default=0.0)
    assert len(got) == len(exact), words
    for x, y in zip(got, exact, strict=True):
        same = x == y or (math.isnan(x) and math.isnan(y))
        near = abs(x - y) <= bound * max(abs(y), 0.05 * size, 1e-3)
        assert same or near, f"{words}: {x}, PyTorch has {y}"


ROUGH = ("celu", "hardsigmoid", "bce, extreme")
"""What PyTorch computes with constants of float32, also in float64."""


def check(name: str, dtype: tw.DType, bound: float) -> None:
    expected, found = RECORDED[name], found_by(CASES[name], dtype)
    assert len(found["results"]) == len(expected["results"])
    for got, (shape, flat) in zip(found["results"], expected["results"], strict=True):
        assert got[0] == shape
        assert_near(got[1], flat, bound, "result")
    for part in ("inputs", "parameters", "buffers"):
        assert found.get(part, {}).keys() == expected.get(part, {}).keys()
        for key, flat in expected.get(part, {}).items():
            assert_near(found[part][key], flat, bound, f"{part}, {key}")


def test_every_case_is_recorded() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_cpu_agrees_in_float64(name: str, cpu: str) -> None:
    check(name, tw.float64, 1e-7 if name.startswith(ROUGH) else 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_kernels_agree_in_float32(name: str, wasm: Any) -> None:
    frames.begin_program()
    check(name, tw.float32, 2e-4)


ON_GPU = (
    "gelu tanh",
    "cross_entropy ignoring",
    "GroupNorm",
    "Embedding padding_idx",
    "interpolate bicubic",
    "fold",
    "grid_sample bilinear, reflection, False",
    "Conv3d",
    "EmbeddingBag mean, offsets",
)
"""Each takes a second of compiling; the kernels themselves are tested elsewhere."""


@pytest.mark.parametrize("name", ON_GPU)
def test_the_gpu_agrees_in_float32(name: str, webgpu: str) -> None:
    check(name, tw.float32, 2e-4)
