"""What jitted functions may return: arguments, views of them, constants, captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw

HANDED: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "in a list": lambda x: [x],
    "twice": lambda x: (x, {"again": [x]}),
    "real": lambda x: tw.real(x),
    "imag": lambda x: tw.imag(x),
    "both parts": lambda x: (tw.real(x), tw.imag(x)),
    "conj": lambda x: tw.conj(x),
    "transposed": lambda x: x.T,
    "reshaped": lambda x: x.reshape((-1,)),
    "a slice": lambda x: (x[:1], x[:, ::-1]),
    "a new axis": lambda x: x[None],
    "broadcast": lambda x: tw.broadcast_to(x, (2, *x.shape)),
    "stopped": lambda x: tw.stop_gradient(x),
    "a constant": lambda x: tw.ones(3),
    "a ramp": lambda x: tw.arange(4),
    "a number": lambda x: tw.asarray(3.5),
    "nothing in it": lambda x: tw.zeros((0, 2)),
    "captured": lambda x: CAPTURED,
    "a view of it": lambda x: CAPTURED[::-1],
    "all of these": lambda x: (x, CAPTURED, tw.zeros(2), x[None], None, 3),
    "mapped": lambda x: tw.vmap(lambda row: row)(x),
    "mapped captured": lambda x: tw.vmap(lambda row: CAPTURED)(x),
}

CAPTURED = tw.asarray([7.0, 8.0], device="cpu")

ARGUMENTS: dict[str, Callable[[], Any]] = {
    "floats": lambda: tw.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "integers": lambda: tw.asarray([[1, 2], [3, 4]]),
    "bool": lambda: tw.asarray([[True, False]]),
    "complex": lambda: tw.asarray([[1 + 2j, 3 - 1j]]),
    "empty": lambda: tw.zeros((0, 3)),
    "a view": lambda: tw.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])[:, 1:].T,
    "a constant": lambda: tw.zeros((2, 3)),
    "pending": lambda: tw.asarray([[1.0, 2.0]]) * 2,
}


@pytest.mark.parametrize("name", HANDED)
def test_a_function_may_only_hand_through(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured = CAPTURED.to_device(device)
    monkeypatch.setitem(globals(), "CAPTURED", captured)
    for make in ARGUMENTS.values():
        function, x = HANDED[name], make()
        want = tw.tree.leaves(function(x))
        jitted = tw.jit(function)
        for _ in range(2):
            found = tw.tree.leaves(jitted(x))
            assert len(found) == len(want)
            for one, other in zip(found, want, strict=True):
                if isinstance(one, tw.Tensor):
                    assert one.dtype == other.dtype
                    assert (one.shape, one.tolist()) == (other.shape, other.tolist())
                else:
                    assert one == other
