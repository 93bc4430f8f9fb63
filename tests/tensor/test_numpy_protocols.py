"""NumPy's own functions on tensors: they compute on the tensor's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal

import tensorweb as tw

HOST = np.array([[0.25, 1.0, 4.0], [9.0, 2.25, 0.5]], np.float32)

UFUNCS: dict[str, Any] = {
    "one operand": lambda x: np.sqrt(x),
    "another name": lambda x: np.arctan(x),
    "with a number": lambda x: np.add(x, 1),
    "with an array": lambda x: np.maximum(np.ones(3, np.float32), x),
    "an operator": lambda x: np.full(3, 2, np.float32) * x,
    "a NumPy number": lambda x: np.float32(2) - x,
    "a product": lambda x: np.eye(2, dtype=np.float32) @ x,
    "a comparison": lambda x: np.float32(1) < x,
    "two results": lambda x: np.divmod(x, 2)[1],
}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_stay_on_the_device(name: str, device: str) -> None:
    found = UFUNCS[name](tw.asarray(HOST))
    assert type(found) is tw.Tensor
    assert found.device == device
    np.testing.assert_allclose(found.numpy(), UFUNCS[name](HOST), rtol=1e-6)


def test_results_are_written_where_they_shall_go(cpu: str) -> None:
    x = tw.asarray(HOST)
    alias = out = tw.zeros((2, 3))
    assert np.add(x, 1, out=out) is out
    assert_equal(alias, HOST + 1)
    assert np.sqrt(x, out=(out,)) is out
    assert_equal(alias, np.sqrt(HOST))
    with pytest.raises(TypeError, match="bool"):
        np.sqrt(x, out=x > 1)
    host = np.zeros((2, 3))
    assert np.add(x, x, out=host) is host
    host += x
    assert host.dtype == np.float64
    np.testing.assert_array_equal(host, 3 * HOST)
    np.add.at(host, [0, 0], x)
    np.testing.assert_allclose(host[0], 4 * HOST[0] + HOST[1])


def test_functions_without_a_counterpart_raise(cpu: str) -> None:
    x = tw.asarray(HOST)
    own = np.frompyfunc(repr, 1, 1)
    with pytest.raises(TypeError, match=r"np\.repr.*: tensorweb has no counterpart"):
        own(x)


class Holder:
    """An array of another library, which holds arrays of others."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> str:
        return f"held: {ufunc.__name__}"

    def __radd__(self, other: object) -> str:
        return "held"

    def __rmatmul__(self, other: object) -> str:
        return "held"


def test_arrays_that_hold_tensors_answer_themselves(cpu: str) -> None:
    x = tw.ones(2)
    assert x + Holder() == "held"
    assert x @ Holder() == "held"
    assert np.add(x, Holder()) == "held: add"  # type: ignore[call-overload]  # it answers
    with pytest.raises(TypeError, match="unsupported operand"):
        x - Holder()


FUNCTIONS: dict[str, Any] = {
    "a reduction": lambda x: np.sum(x, axis=0, keepdims=True),
    "a mean": lambda x: np.mean(x, 1),
    "a list": lambda x: np.concatenate([x, x], axis=1),
    "an array in a list": lambda x: np.stack([x, np.ones((2, 3), np.float32)]),
    "an order": lambda x: np.transpose(x),
    "a product": lambda x: np.dot(x, x.T),
    "a pattern": lambda x: np.einsum("ij->j", x),
    "a like": lambda x: np.zeros_like(x),
    "like=": lambda x: np.asarray([1.5, 2.5], np.float32, like=x),
    "a condition": lambda x: np.where(x > 1, x, 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_stay_on_the_device(name: str, device: str) -> None:
    found = FUNCTIONS[name](tw.asarray(HOST))
    assert type(found) is tw.Tensor
    assert found.device == device
    np.testing.assert_allclose(found.numpy(), FUNCTIONS[name](HOST), rtol=1e-6)


def test_functions_write_and_refuse_as_ufuncs_do(cpu: str) -> None:
    x = tw.asarray(HOST)
    alias = out = tw.zeros(3)
    assert np.sum(x, axis=0, out=out) is out
    np.testing.assert_allclose(alias.numpy(), HOST.sum(axis=0))
    host = np.zeros(3, np.float32)
    assert np.sum(x, axis=0, out=host) is host
    np.testing.assert_allclose(host, HOST.sum(axis=0))
    with pytest.raises(TypeError, match=r"np\.busday_count: tensorweb has no counter"):
        np.busday_count(x, x)
    assert np.array_repr(x) == np.array_repr(HOST)
    assert np.broadcast_arrays(x, None)[1].shape == (2, 3)
