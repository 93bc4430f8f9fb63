"""Foreign names are answered with ours, and Python's own errors name the tensor."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.tensor.unknown_names import DTYPES, NAMES, advice

METHODS = frozenset(dir(tw.ones(2, device="cpu")))


@pytest.mark.parametrize("name", NAMES)
def test_rows_lead_to_something_that_is_there(name: str) -> None:
    ours = NAMES[name]
    assert not hasattr(tw, name) or not hasattr(tw.Tensor, name)
    assert name not in dir(tw.ones(2, device="cpu")) or hasattr(tw.Tensor, name)
    if ours.isidentifier():
        assert ours in tw.__all__ or ours in METHODS
        assert ours != name
    else:
        assert " " in ours


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("concatenate", "tensorweb calls it concat."),
        ("array", "tensorweb calls it asarray."),
        ("arctan2", "tensorweb calls it atan2."),
        ("clone", "tensorweb calls it x.copy."),
        ("randn", "write key = tw.random.key(0) and tw.random.normal(key, shape)."),
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
        ("absolute", "tensorweb calls it abs."),
        ("float", "write x.astype(tw.float32)."),
        ("clamp", "tensorweb calls it clip."),
        ("retain_grad", "tw.grad(function)(x)"),
        ("unique", "tensorweb calls it tw.unique_values."),
        ("stack", "it is a function: tw.stack(x, ...)."),
    ],
)
def test_tensors_answer_with_our_name(name: str, words: str) -> None:
    x = tw.ones(2, device="cpu")
    with pytest.raises(AttributeError) as caught:
        getattr(x, name)
    assert f"a tensor has no attribute {name!r}" in str(caught.value)
    assert words in str(caught.value)


def test_other_names_are_plain_errors() -> None:
    with pytest.raises(AttributeError, match=r"'nothing_like_it'$"):
        tw.nothing_like_it  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'nothing_like_it'$"):
        tw.ones(2).nothing_like_it  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(tw, "__wrapped__")
    assert not hasattr(tw.ones(2, device="cpu"), "__array_interface__")
    assert advice("nothing_like_it", tw.__all__) is None
    assert all(hasattr(tw, name) for name in DTYPES)


def test_dir_lists_what_is_there() -> None:
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
    assert f"Tensor.{name}()" in str(caught.value)
