"""A program stops at the first operation that makes a NaN or an infinity."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tensorweb as tw
from tensorweb.errors import NonFiniteError


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    tw.debug_nans(False)


def test_the_line_that_makes_nan_stops(device: str) -> None:
    x = tw.asarray([1.0, -4.0])

    def program() -> None:
        reached.append(x * 2)
        reached.append(tw.log(reached[0]))
        reached.append(x)

    reached: list[tw.Tensor] = []
    with pytest.raises(NonFiniteError) as caught, tw.debug_nans():
        program()
    assert len(reached) == 1
    text = str(caught.value)
    line = program.__code__.co_firstlineno + 2
    assert f"test_debug_nans.py:{line}, of tensor([ 2., -8.])" in text
    assert text.startswith("log: it made NaN in")
    # Afterwards nothing is computed early, and nothing raised.
    z = tw.log(x)
    assert not z.node.is_computed
    assert z.tolist()[0] == 0


def test_infinity_stops_and_what_data_contains_does_not(device: str) -> None:
    mask = tw.asarray([0.0, -tw.inf])
    with tw.debug_nans():
        scores = tw.ones(2) + mask
        assert tw.nn.softmax(scores).tolist() == [1, 0]
        filled = tw.ones(2).masked_fill(tw.asarray([True, False]), -tw.inf)
        assert (filled * 2).tolist() == [-tw.inf, 2]
        with pytest.raises(NonFiniteError, match=r"made an infinity.*from 0 to 99"):
            1 / tw.arange(100.0)


def test_a_plain_call_looks_into_jit_and_gradients_until_it_ends(device: str) -> None:
    @tw.jit
    def root(x: tw.Tensor) -> tw.Tensor:
        return tw.sqrt(x) + 1

    assert root(tw.zeros(2)).tolist() == [1, 1]
    tw.debug_nans()
    with pytest.raises(NonFiniteError, match="made NaN"):
        root(-tw.ones(2))
    with pytest.raises(NonFiniteError, match="made an infinity"):
        tw.grad(lambda x: tw.sqrt(x).sum())(tw.zeros(2))
    tw.debug_nans(False)
    assert root(-tw.ones(2)).isnan().all()
