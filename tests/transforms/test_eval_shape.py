"""Shapes without values, and arguments of `jit` that are constants, as in JAX."""

from __future__ import annotations

import copy
import gc
import math
import weakref
from functools import partial
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.transforms.jit import SIGNATURES_KEPT


def test_shapes_are_those_of_a_call(device: str) -> None:
    with tw.device(device):
        x = tw.ones((3, 2))

        def f(tree: Any, count: int, *, scale: Any) -> Any:
            total = (tree["x"] * scale).sum(axis=0)
            return {"total": total, "many": [tw.stack([total] * count), count, "text"]}

        found = tw.eval_shape(f, {"x": x}, 4, scale=tw.asarray(2.0))
        given = {"x": tw.ShapeDtypeStruct((3, 2), "float32")}
        assert found == tw.eval_shape(f, given, 4, scale=2.0)
        expected = f({"x": x}, 4, scale=2.0)
        assert found["total"] == tw.ShapeDtypeStruct(2, expected["total"].dtype)
        assert found["many"][0].shape == expected["many"][0].shape == (4, 2)
        assert found["many"][1:] == [tw.ShapeDtypeStruct((), tw.int32), "text"]
        assert len({found["total"], tw.ShapeDtypeStruct((2,), tw.float32)}) == 1


def test_no_memory_is_used_and_no_value_is_read(device: str) -> None:
    huge = tw.ShapeDtypeStruct((10**5, 10**5), tw.float32)
    assert tw.eval_shape(lambda a: (a @ a).mean(), huge).shape == ()
    grads = tw.eval_shape(tw.grad(lambda a: (a * a).sum()), huge)
    assert grads == huge
    with pytest.raises(tw.TraceError, match=r"eval_shape: a value .* is described"):
        tw.eval_shape(lambda x: x if x.sum() > 0 else -x, tw.ones(3))
    z = tw.eval_shape(tw.fft.fft, tw.zeros(4, dtype=tw.complex64))
    assert z.dtype == tw.complex64


def test_running_statistics_stay(device: str) -> None:
    with tw.device(device):
        model = tw.nn.Sequential(tw.nn.Linear(3, 3), tw.nn.BatchNorm1d(3)).train()
        before = [buffer.tolist() for buffer in model.buffers()]
        seen = []

        def train(x: tw.Tensor) -> tw.Tensor:
            seen.append(x.shape)
            x += 1
            running = model(x)
            weight[...] = running.sum()
            return running

        weight = tw.ones(())
        for function in (model, train):
            assert tw.eval_shape(function, tw.ones((4, 3))).shape == (4, 3)
        assert seen == [(4, 3)]
        assert weight.item() == 1
        assert [buffer.tolist() for buffer in model.buffers()] == before
        assert model.eval()(tw.ones((4, 3))).shape == (4, 3)


class Config:
    """No tree, and no number: a constant only if it is said to be one."""

    def __init__(self, power: int) -> None:
        self.power = power


def test_static_arguments_are_constants_of_the_recording(device: str) -> None:
    with tw.device(device):

        @partial(tw.jit, static_argnums=(1,), static_argnames="sign")
        def f(x: tw.Tensor, config: Config, *, sign: float = 1.0) -> tw.Tensor:
            return sign * x**config.power

        two, three = Config(2), Config(3)
        x = tw.asarray([2.0])
        for _ in range(2):
            found = [f(x, two), f(x, three), f(x, config=two, sign=-1.0)]
            assert [y.item() for y in found] == [4, 8, -4]
        if device == "webgpu":
            assert f.recordings == 3
        with pytest.raises(tw.TraceError, match="jit: static arguments of f are comp"):
            f(x, [2])  # type: ignore[arg-type]  # cannot be hashed


def test_static_self_of_a_method(device: str) -> None:
    class Model:
        """An object whose method is recorded, as in JAX's tutorials."""

        rate = 0.5

        @partial(tw.jit, static_argnums=0)
        def step(self, x: tw.Tensor) -> tw.Tensor:
            return x - self.rate * x

    with tw.device(device):
        assert Model().step(tw.ones(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("which", [{"static_argnames": "n"}, {"static_argnums": -3}])
def test_static_arguments_must_exist(which: Any) -> None:
    with pytest.raises(tw.TransformError, match=r"f has no argument .*; it has x, m"):

        @partial(tw.jit, **which)
        def f(x: tw.Tensor, m: int) -> tw.Tensor:
            return x * m


def test_copies_have_the_same_static_arguments(device: str) -> None:
    class Power:
        """Refers to its own method, so that a copy compiles that of the copy."""

        def __init__(self) -> None:
            self.call = tw.jit(self.of, static_argnames="config")

        def of(self, x: tw.Tensor, config: Config) -> tw.Tensor:
            return x**config.power

    with tw.device(device):
        copied = copy.deepcopy(Power())
        assert copied.call(tw.asarray([3.0]), Config(2)).item() == 9


def test_equal_static_numbers_of_other_kinds_record_again(webgpu: str) -> None:
    with tw.device(webgpu):
        x = tw.ones(1)
        f = tw.jit(lambda x, s: x / s, static_argnames="s")
        assert [f(x, 0.0).item(), f(x, -0.0).item()] == [math.inf, -math.inf]
        g = tw.jit(lambda x, s: x.astype("int32") * s[0], static_argnames="s")
        assert [g(x, (1,)).dtype, g(x, (1.0,)).dtype] == [tw.int32, tw.float32]


def test_recordings_of_static_arguments_are_bounded(webgpu: str) -> None:
    with tw.device(webgpu):
        x = tw.ones(1)
        f = tw.jit(lambda x, s: x * s, static_argnames="s")
        for _ in range(2):
            f(x, float("nan"))
        assert f.recordings == 1
        g = tw.jit(lambda x, each: each(x), static_argnames="each")
        first = [lambda x: x + 1]
        is_alive = weakref.ref(first[0])
        g(x, first.pop())
        for _ in range(SIGNATURES_KEPT):
            g(x, lambda x: x + 2)
        gc.collect()
        assert is_alive() is None
        assert g.recordings == SIGNATURES_KEPT + 1
