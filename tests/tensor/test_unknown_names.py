"""Foreign names are answered with ours, and Python's own errors name the tensor."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb import nn
from tensorweb.advice import ADVICE, DTYPES

METHODS = frozenset(dir(tw.ones(2, device="cpu")))

HOMES = {
    **{"tensorweb": tw, "tensorweb.nn": tw.nn, "tensorweb.numpy": np},
    **{"tensorweb.scipy": tw.scipy, "tensorweb.scipy.integrate": tw.scipy.integrate},
    "tensorweb.scipy.optimize": tw.scipy.optimize,
}
"""By the key of a table, the module that it answers for."""

ENTRIES = [
    pytest.param(module, name, id=f"{module}-{name}")
    for module, entries in ADVICE.items()
    for name, entry in entries.items()
    if ".numpy()" not in entry
]

OF_ARRAYS = [
    pytest.param(module, name, id=f"{module}-{name}")
    for module, entries in ADVICE.items()
    for name, entry in entries.items()
    if ".numpy()" in entry
]
"""Entries that need NumPy."""


def names_of_advice() -> dict[str, Any]:
    """Return values for the names in the code of the advice."""
    x = tw.reshape(tw.arange(4.0), (2, 2)) + 1
    names = {"tw": tw, "np": np, "sys": sys, "x": x, "y": x + 1}
    names |= {"a": x, "b": x, "c": x, "parts": [x, x], "columns": [x, x]}
    names |= {"p": tw.asarray([1.0, 0.5, 0.2]), "q": tw.asarray([0.5, 0.1, 0.4])}
    names |= {"i": tw.asarray([0, 1]), "v": x, "values": x, "value": 2, "mask": x > 1}
    names |= {"n": 3, "d": 2, "r": 2, "start": 0, "end": 1, "low": 0, "high": 9}
    names |= {"indices": tw.zeros_like(x, dtype=tw.int32), "axis": 0, "shape": (2,)}
    names |= {"key": tw.random.key(0), "dtype": tw.int32, "device": "cpu"}
    names |= {"f": tw.sum, "function": tw.sum, "distance": tw.subtract, "margin": 1.0}
    names |= {"loss": tw.ones(()).requires_grad_() * 2, "order": [1, 0]}
    names |= {"logits": x, "t": 2.0, "widths": 1, "gradients": [x], "limit": 1.0}
    names |= {"image": tw.zeros((3, 4, 5, 2)), "channels": 1, "height": 5, "width": 2}
    names |= {"model": tw.nn.Linear(2, 2), "module": tw.nn.ReLU(), "name": "scale"}
    names |= {"self": tw.nn.Linear(2, 2), "tensor": x, "file": os.devnull}
    names |= {"f_of_x": lambda x: x.sum()}
    names["model"].requires_grad_()
    names["model"](x).sum().backward()
    return names | {"opt": tw.optim.SGD([tw.ones(2)])}


@pytest.mark.parametrize(("module", "name"), ENTRIES)
def test_advice_can_be_followed(module: str, name: str, cpu: str) -> None:
    entry = ADVICE[module][name]
    if " " not in entry:
        home = HOMES.get(module, tw)
        known = np.__all__ if entry.startswith("np.") else home.__all__
        ours = entry.removeprefix("np.")
        assert ours in known or (module == "tensorweb" and ours in METHODS)
        assert entry != name
    for code in re.findall("`(.*?)`", entry):
        if code not in ("@", "_"):
            exec(f"{code} pass" if code.endswith(":") else code, names_of_advice())


@pytest.mark.parametrize(("module", "name"), OF_ARRAYS)
def test_advice_of_arrays_can_be_followed(
    module: str, name: str, cpu: str, np: Any
) -> None:
    test_advice_can_be_followed(module, name, cpu)


@pytest.mark.parametrize("module", HOMES)
def test_advice_answers_names_that_are_not_there(module: str) -> None:
    for name in ADVICE[module]:
        is_method = module == "tensorweb" and hasattr(tw.Tensor, name)
        assert not hasattr(HOMES[module], name) or not is_method, name
        assert module == "tensorweb" or name not in HOMES[module].__all__, name


@pytest.mark.parametrize("name", ["isclose", "percentile", "bitwise_count", "loadtxt"])
def test_names_that_the_namespace_of_numpy_has_lead_there(name: str) -> None:
    for owner in (tw, tw.ones(2, device="cpu")):
        with pytest.raises(AttributeError, match=rf"write np\.{name}, with import"):
            getattr(owner, name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("concatenate", "tensorweb calls it concat"),
        ("array", "tensorweb calls it asarray"),
        ("arctan2", "tensorweb calls it atan2"),
        ("clone", "tensorweb calls it x.copy"),
        ("randn", "write key = tw.random.key(0) and tw.random.normal(key, shape)"),
        ("vstack", "write tw.concat(parts, axis=0)"),
    ],
)
def test_module_answers_with_our_name(name: str, words: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(tw, name)
    assert f"module 'tensorweb' has no attribute {name!r}" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absolute", "tensorweb calls it abs"),
        ("single", "write x.astype(tw.float32)"),
        ("bitwise_not", "tensorweb calls it bitwise_invert"),
        ("unique", "tensorweb calls it tw.unique_values"),
        ("stack", "it is a function: tw.stack(x, ...)"),
    ],
)
def test_tensors_answer_with_our_name(name: str, words: str) -> None:
    x = tw.ones(2, device="cpu")
    with pytest.raises(AttributeError) as caught:
        getattr(x, name)
    assert f"a tensor has no attribute {name!r}" in str(caught.value)
    assert words in str(caught.value)


IMAGE = tw.ones((1, 2, 4, 4), device="cpu")

OPTIMIZER = tw.optim.SGD([tw.ones(2, device="cpu")], lr=0.5)

KEYWORDS: dict[str, Callable[..., Any]] = {
    "create_graph": lambda **k: tw.grad(tw.sum, **k),
    "device": lambda **k: nn.ReLU(**k),
    "dtype": lambda **k: nn.functional.softmax(IMAGE, dim=1, **k),
    "foreach": lambda **k: tw.optim.Adam([IMAGE], **k),
    "generator": lambda **k: tw.random.normal(tw.random.key(0), (2,), **k),
    "inplace": lambda **k: nn.functional.relu(IMAGE, **k),
    "max_norm": lambda **k: nn.Embedding(3, 2, **k),
    "memory_format": lambda **k: tw.zeros_like(IMAGE, **k),
    "out": lambda **k: tw.linalg.inv(IMAGE, **k),
    "pin_memory": lambda **k: tw.zeros(3, **k),
    "requires_grad": lambda **k: nn.Linear(2, 2, **k),
    "size_average": lambda **k: nn.MSELoss(**k),
    "args": lambda **k: tw.scipy.integrate.odeint(tw.sin, 0.0, [0.0, 1.0], **k),
    "bounds": lambda **k: tw.scipy.optimize.minimize(tw.sum, IMAGE, **k),
    "events": lambda **k: tw.scipy.integrate.solve_ivp(tw.sin, (0, 1), 0.0, **k),
    "jac": lambda **k: tw.scipy.optimize.minimize(tw.sum, IMAGE, **k),
    "last_epoch": lambda **k: tw.optim.lr_scheduler.StepLR(OPTIMIZER, 1, **k),
    "verbose": lambda **k: tw.optim.lr_scheduler.ExponentialLR(OPTIMIZER, 1, **k),
    "donate_argnums": lambda **k: tw.jit(tw.sum, **k),
    "train": lambda **k: nn.Linear(4, 2)(IMAGE, **k),
    "training": lambda **k: nn.Dropout()(IMAGE, **k),
}
"""By a keyword, a call that does not take it."""


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_are_answered_with_what_to_write(name: str, cpu: str) -> None:
    with pytest.raises((TypeError, tw.DataError)) as caught:
        KEYWORDS[name](**{name: 1})
    assert ADVICE["keywords"][name].replace("`", "") in str(caught.value)
    with pytest.raises((TypeError, tw.DataError)) as caught:
        KEYWORDS[name](no_such_word=1)
    assert "no_such_word" in str(caught.value)
    assert ";" not in str(caught.value) or isinstance(caught.value, tw.DataError)


def test_keywords_of_torch_that_have_a_meaning(device: str) -> None:
    x = tw.asarray([[1.0, 0.0], [0.0, 3.0]])
    assert tw.zeros((2, 3), requires_grad=True).requires_grad
    assert tw.arange(3.0, requires_grad=True).is_leaf
    assert x.var(dim=0, unbiased=True).tolist() == [0.5, 4.5]
    assert tw.std(x, dim=0, unbiased=False).tolist() == [0.5, 1.5]
    assert tw.nonzero(x, as_tuple=False).tolist() == [[0, 0], [1, 1]]
    assert tw.linalg.vector_norm(x, dim=1, keepdim=True).tolist() == [[1], [3]]
    assert nn.functional.relu is not tw.relu
    for name in ("softmax", "conv2d", "dropout"):
        function = getattr(nn.functional, name)
        assert pickle.loads(pickle.dumps(function)) is getattr(nn, name)


def test_a_device_is_a_name_and_a_block() -> None:
    device = tw.device("cpu")
    assert (device, device.type, tw.ones(2, device=device).device) == ("cpu",) * 3
    with device, device:
        assert tw.default_device() == "cpu"
    with pytest.raises(tw.DeviceError, match=r"GPU is \"webgpu\"; tw\.default_d"):
        tw.device("cuda")


def test_other_names_are_plain_errors() -> None:
    with pytest.raises(AttributeError, match=r"'nothing_like_it'$"):
        tw.nothing_like_it  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'nothing_like_it'$"):
        tw.ones(2).nothing_like_it  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(tw, "__wrapped__")
    assert not hasattr(tw.ones(2, device="cpu"), "__array_interface__")
    with pytest.raises(AttributeError, match=r"calls it tw\.concat"):
        tw.linalg.concatenate  # type: ignore[attr-defined]  # noqa: B018
    assert all(hasattr(tw, name) for name in DTYPES)


def test_dir_lists_existing_names() -> None:
    names = dir(tw.Tensor)
    assert [name for name in names if not hasattr(tw.Tensor, name)] == []
    assert set(dir(tw.ones(2, device="cpu"))) <= set(names)
    assert {"cumsum", "flat", "sum", "T"} <= set(names)


def method_names() -> list[str]:
    return [
        name
        for name, value in inspect.getmembers(tw.Tensor)
        if inspect.isfunction(value) and not name.startswith("_")
    ]


@pytest.mark.parametrize("name", method_names())
def test_wrong_calls_name_the_tensor_and_no_inner_class(name: str) -> None:
    method: Any = getattr(tw.ones((2, 2), device="cpu"), name)
    with pytest.raises(TypeError) as caught:
        method(no_such_argument=1)
    assert "Methods" not in str(caught.value)
    assert f"Tensor.{method.__name__}()" in str(caught.value)
