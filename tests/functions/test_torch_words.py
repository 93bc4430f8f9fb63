"""PyTorch's words for arguments: `dim`, `dims`, `keepdim`, `input`; and `tw.tensor`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw

X = [[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]

SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: x.sum(dim=1), lambda x: x.sum(axis=1)),
    "tw.sum": (
        lambda x: tw.sum(x, dim=(0, 1), keepdim=True),
        lambda x: tw.sum(x, axis=(0, 1), keepdims=True),
    ),
    "input": (lambda x: tw.mean(input=x, dim=0), lambda x: tw.mean(x, axis=0)),
    "mean": (
        lambda x: x.mean(dim=-1, keepdim=True),
        lambda x: x.mean(-1, keepdims=True),
    ),
    "argmax": (lambda x: x.argmax(dim=1), lambda x: x.argmax(1)),
    "std": (lambda x: tw.std(x, dim=0), lambda x: tw.std(x, axis=0)),
    "all": (lambda x: (x > 0).all(dim=1), lambda x: (x > 0).all(axis=1)),
    "stack": (lambda x: tw.stack([x, x], dim=1), lambda x: tw.stack([x, x], axis=1)),
    "concat": (lambda x: tw.concat([x, x], dim=1), lambda x: tw.concat([x, x], axis=1)),
    "flip": (lambda x: tw.flip(x, dims=(0,)), lambda x: tw.flip(x, axis=(0,))),
    "roll": (lambda x: x.roll(1, dims=1), lambda x: x.roll(1, axis=1)),
    "permute": (lambda x: x.permute_dims(dims=(1, 0)), lambda x: x.T),
    "argsort": (lambda x: tw.argsort(x, dim=0), lambda x: tw.argsort(x, axis=0)),
    "cumulative_sum": (
        lambda x: tw.cumulative_sum(x, dim=1),
        lambda x: tw.cumulative_sum(x, axis=1),
    ),
    "expand_dims": (
        lambda x: tw.expand_dims(x, dim=0),
        lambda x: tw.expand_dims(x, axis=0),
    ),
    "vmap": (
        lambda x: tw.vmap(lambda row: row * 2, in_dims=1, out_dims=1)(x),
        lambda x: x * 2,
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_words_of_torch_mean_the_same(name: str, device: str) -> None:
    theirs, ours = SAME[name]
    x = tw.asarray(X)
    assert theirs(x).tolist() == ours(x).tolist()


def test_an_argument_under_both_names_is_an_error() -> None:
    sum_of: Any = tw.sum
    x: Any = tw.asarray(X)
    with pytest.raises(TypeError, match=r"sum\(\) got the argument 'axis' twice"):
        sum_of(x, axis=0, dim=1)
    with pytest.raises(TypeError, match=r"sum\(\) got the argument 'axis' twice"):
        x.sum(0, dim=1)
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        x.flip(0, dim=1)
    with pytest.raises(TypeError, match="'x' twice, also as 'input'"):
        sum_of(x, input=x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'dimension'"):
        x.sum(dimension=1)


PAIRS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(dim=1),
    "max, by position": lambda x: x.max(1, keepdim=True),
    "max, both by position": lambda x: x.max(-1, True),
    "min": lambda x: x.min(dim=0),
    "sort": lambda x: x.sort(dim=1),
    "sort, descending": lambda x: x.sort(dim=0, descending=True),
    "tw.max": lambda x: tw.max(x, dim=0, keepdim=True),
    "tw.min, by position": lambda x: tw.min(x, 1, True),  # type: ignore[call-overload,misc]  # PyTorch's third argument
    "tw.sort": lambda x: tw.sort(x, dim=-1),
    "topk": lambda x: x.topk(2, dim=1),
}
PAIR_RESULTS: dict[str, tuple[list[Any], list[Any]]] = {
    "max": ([3, 5, 2], [0, 1, 2]),
    "max, by position": ([[3], [5], [2]], [[0], [1], [2]]),
    "max, both by position": ([[3], [5], [2]], [[0], [1], [2]]),
    "min": ([0, 1, 2], [1, 0, 0]),
    "sort": ([[1, 2, 3], [0, 4, 5], [1, 1, 2]], [[1, 2, 0], [0, 2, 1], [0, 1, 2]]),
    "sort, descending": (
        [[3, 5, 4], [1, 1, 2], [0, 1, 2]],
        [[0, 1, 1], [2, 0, 0], [1, 2, 2]],
    ),
    "tw.max": ([[3, 5, 4]], [[0, 1, 1]]),
    "tw.min, by position": ([[1], [0], [1]], [[1], [0], [0]]),
    "tw.sort": ([[1, 2, 3], [0, 4, 5], [1, 1, 2]], [[1, 2, 0], [0, 2, 1], [0, 1, 2]]),
    "topk": ([[3, 2], [5, 4], [2, 1]], [[0, 2], [1, 2], [2, 0]]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_words_of_torch_give_values_and_indices(name: str, device: str) -> None:
    data = [[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 1.0, 2.0]]
    x = tw.asarray(data)
    pair = PAIRS[name](x)
    assert (pair.values.tolist(), pair.indices.tolist()) == PAIR_RESULTS[name]
    values, indices = pair
    assert pair[0] is values
    assert pair[1] is indices
    assert x.tolist() == data
    recorded = tw.jit(PAIRS[name])(x)
    assert recorded.indices.tolist() == PAIR_RESULTS[name][1]


def test_gradients_of_pairs_go_to_one_of_equal_values(device: str) -> None:
    def loss(x: Any) -> Any:
        return (x.max(dim=1)[0] * tw.asarray([2.0, 3.0])).sum()

    assert tw.grad(loss)(tw.ones((2, 3))).tolist() == [[2, 0, 0], [3, 0, 0]]
    by_row = tw.vmap(lambda row: row.min(dim=0).values)(tw.asarray(X))
    assert by_row.tolist() == [1, 0]


def test_pairs_of_pytorch_without_its_words_are_answered(device: str) -> None:
    x: Any = tw.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 1.0, 2.0]])
    for name in ("values", "indices"):
        with pytest.raises(AttributeError, match=rf"x\.max\(dim=0\)\.{name}"):
            getattr(x.max(0), name)
    for call in (lambda: x.max(dim=(0, 1)), lambda: tw.min(x, keepdim=True)):
        with pytest.raises(tw.AxisError, match=r"one axis.*keepdims=True"):
            call()
    with pytest.raises(tw.DataError, match=r"x\.max\(axis=1, out="):
        x.max(dim=1, out=tw.zeros(3))
    for call in (lambda: tw.sort(x, axis=0, dim=1), lambda: x.max(0, dim=1)):
        with pytest.raises(TypeError, match="got the argument 'axis' twice"):
            call()
    with pytest.raises(ValueError, match="too many values to unpack"):
        _values, _indices = x.max(1)
    assert len([*x.max(1)]) == 3
    assert x.sort(1) is None


def test_sums_and_quotients_take_pytorchs_options(device: str) -> None:
    x: Any = tw.asarray([-7.0, 7.0, -4.0, 0.0])
    assert x.add(x, alpha=2).tolist() == [-21, 21, -12, 0]
    assert x.sub(1, alpha=2).tolist() == [-9, 5, -6, -2]
    for dtype in ("float32", "int32"):
        y = x.astype(dtype)
        assert y.div(2, rounding_mode="floor").tolist() == [-4, 3, -2, 0]
        assert y.div(2, rounding_mode="trunc").tolist() == [-3, 3, -2, 0]
        assert y.div(-2, rounding_mode="trunc").tolist() == [3, -3, 2, 0]
    assert x.div(2).tolist() == [-3.5, 3.5, -2, 0]
    assert x.div_(2, rounding_mode="floor") is x
    assert x.tolist() == [-4, 3, -2, 0]
    with pytest.raises(tw.DataError, match="it is 'floor', 'trunc' or None"):
        x.div(2, rounding_mode="round")
    with pytest.raises(AttributeError, match=r"x\.div\(y, rounding_mode='trunc'\)"):
        _ = tw.div  # type: ignore[attr-defined]  # PyTorch's
    seen: list[Any] = []
    layer: Any = tw.nn.ReLU()
    handle = layer.register_forward_hook(
        lambda module, args, kwargs, output: seen.append([*kwargs]), with_kwargs=True
    )
    layer(x=x)
    handle.remove()
    layer(x=x)
    assert seen == [["x"]]


def test_functions_with_two_vocabularies_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(tw.sum)) is tw.sum


def test_tensor_makes_tensors_and_stays_a_package(device: str) -> None:
    import tensorweb.tensor as package

    make: Any = tw.tensor
    x = make([1.0, 2.0], requires_grad=True)
    assert (x.tolist(), x.requires_grad) == ([1, 2], True)
    given = tw.asarray([1, 2])
    again = make(given, dtype=tw.float32)
    assert again.dtype is tw.float32
    assert make(given) is not given
    assert package.Tensor is tw.Tensor


def test_modules_take_their_input_by_name(device: str) -> None:
    layer = tw.nn.Linear(3, 2)
    x = tw.asarray(X)
    assert layer(input=x).tolist() == layer(x).tolist()
    with pytest.raises(TypeError, match="Linear: the input is given twice"):
        layer(x, input=x)
    loss = tw.nn.MSELoss()
    assert loss(input=x, target=x).item() == 0
