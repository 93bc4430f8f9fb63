"""Loops and choices as functions give what loops of Python give, as in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw

MATRIX = [[0.5, -0.25], [0.125, 0.75]]


def cell(h: tw.Tensor, x: tw.Tensor) -> tuple[tw.Tensor, dict[str, Any]]:
    h = tw.tanh(h @ tw.asarray(MATRIX) + x)
    return h, {"state": h, "none": None, "sums": (h.sum(), x * 2)}


@pytest.mark.parametrize(("count", "reverse"), [(1, True), (5, True), (40, False)])
def test_scan_is_a_loop(device: str, count: int, reverse: bool) -> None:
    with tw.device(device):
        xs = tw.sin(tw.arange(2.0 * count)).reshape(count, 2)
        last, outputs = tw.scan(cell, tw.zeros(2), xs, reverse=reverse)
        h, rows = tw.zeros(2), []
        for x in list(xs)[::-1] if reverse else xs:
            h, row = cell(h, x)
            rows.append(row)
        rows = rows[::-1] if reverse else rows
        assert last.tolist() == pytest.approx(h.tolist(), rel=1e-6)
        assert outputs["state"].shape == (count, 2)
        assert outputs["none"] is None
        for at, row in enumerate(rows):
            assert outputs["sums"][0][at].item() == pytest.approx(
                row["sums"][0].item(), rel=1e-6
            )


def test_scan_without_iterations_has_the_shapes_of_outputs() -> None:
    carry, outputs = tw.scan(cell, tw.ones(2), tw.zeros((0, 2)))
    assert carry.tolist() == [1.0, 1.0]
    assert outputs["state"].shape == (0, 2)
    assert outputs["sums"][0].shape == (0,)


def test_scan_by_length() -> None:
    last, powers = tw.scan(lambda c, _: (c * 2, c), 1, length=5)
    assert last.item() == 32
    assert powers.tolist() == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("wrap", [lambda f: f, tw.jit], ids=["eager", "jit"])
def test_scan_has_the_gradient_of_the_loop(
    device: str, wrap: Callable[[Any], Any]
) -> None:
    def by_scan(w: tw.Tensor, xs: tw.Tensor) -> tw.Tensor:
        def step(h: tw.Tensor, x: tw.Tensor) -> tuple[tw.Tensor, None]:
            return tw.tanh(h @ w + x), None

        return tw.scan(step, tw.zeros(2), xs)[0].sum()

    def by_loop(w: tw.Tensor, xs: tw.Tensor) -> tw.Tensor:
        h = tw.zeros(2)
        for x in xs:
            h = tw.tanh(h @ w + x)
        return h.sum()

    with tw.device(device):
        w, xs = tw.asarray(MATRIX), tw.sin(tw.arange(40.0)).reshape(20, 2)
        found, expected = wrap(tw.grad(by_scan))(w, xs), tw.grad(by_loop)(w, xs)
        assert found.reshape(-1).tolist() == pytest.approx(
            expected.reshape(-1).tolist(), rel=1e-5
        )


def test_numbers_of_python_take_the_dtype_of_the_next_value() -> None:
    last, sums = tw.scan(lambda c, x: (c + x, c), 0, tw.full(3, 0.5))
    assert (last.item(), sums.tolist()) == (1.5, [0.0, 0.5, 1.0])
    assert tw.fori_loop(0, 3, lambda i, v: v + 0.5, 0).item() == 1.5
    assert tw.while_loop(lambda v: v < 1, lambda v: v + 0.5, 0).item() == 1.0


def test_fori_loop_counts_in_python() -> None:
    seen = []

    def body(i: int, value: dict[str, Any]) -> dict[str, Any]:
        seen.append(i)
        return {"sum": value["sum"] + i}

    assert tw.fori_loop(3, 6, body, {"sum": 0})["sum"].item() == 12
    assert seen == [3, 4, 5]
    assert tw.fori_loop(6, 3, body, {"sum": 7})["sum"].item() == 7


def test_while_loop_under_vmap_runs_until_the_last_is_done(device: str) -> None:
    def steps(x: tw.Tensor) -> Any:
        def body(state: Any) -> Any:
            return state[0] * 3, state[1] + 1

        return tw.while_loop(lambda state: state[0] < 100, body, (x, 0))

    with tw.device(device):
        values, counts = tw.vmap(steps)(tw.asarray([1.0, 2.0, 50.0, 200.0]))
        assert values.tolist() == [243.0, 162.0, 150.0, 200.0]
        assert counts.tolist() == [5, 4, 1, 0]


def test_while_loop_of_an_argument_is_refused_by_jit() -> None:
    grow = tw.jit(lambda x: tw.while_loop(lambda v: v < 100, lambda v: v * 3, x))
    with tw.device("webgpu"), pytest.raises(tw.TraceError, match="jit"):
        grow(tw.asarray(1.0))


def test_cond_computes_one_side_where_it_can() -> None:
    def fails(x: tw.Tensor) -> tw.Tensor:
        raise AssertionError

    assert tw.cond(tw.asarray(1) > 0, lambda x: x + 1, fails, tw.asarray(2)).item() == 3
    assert tw.cond(False, fails, lambda x: x + 1, tw.asarray(2)).item() == 3


def test_switch_selects_under_jit_and_vmap(device: str) -> None:
    branches = [lambda x: x, lambda x: -x, lambda x: x * 10]

    def choose(i: tw.Tensor, x: tw.Tensor) -> tw.Tensor:
        return tw.switch(i, branches, x)

    with tw.device(device):
        i, x = tw.asarray([-1, 0, 1, 2, 5]), tw.arange(1.0, 6.0)
        expected = [1.0, 2.0, -3.0, 40.0, 50.0]
        assert [choose(*pair).item() for pair in zip(i, x, strict=True)] == expected
        assert tw.vmap(choose)(i, x).tolist() == expected
        assert tw.jit(tw.vmap(choose))(i, x).tolist() == expected
        gradients = tw.vmap(tw.grad(choose, 1))(i, x)
        assert gradients.tolist() == [1.0, 1.0, -1.0, 10.0, 10.0]


@pytest.mark.parametrize(
    ("count", "reverse"), [(0, True), (1, False), (2, True), (7, False), (8, True)]
)
def test_associative_scan_equals_a_fold(device: str, count: int, reverse: bool) -> None:
    def after(one: Any, other: Any) -> Any:  # a linear recurrence, not commutative
        return one[0] * other[0], one[1] * other[0] + other[1]

    with tw.device(device):
        a = tw.cos(tw.arange(2.0 * count)).reshape(2, count)
        b = tw.sin(tw.arange(2.0 * count)).reshape(2, count)
        found = tw.associative_scan(after, (a, b), reverse, axis=1)
        for row in range(2):
            pairs = list(zip(a[row].tolist(), b[row].tolist(), strict=True))
            pairs = pairs[::-1] if reverse else pairs
            sums = [(1.0, 0.0)]
            for pair in pairs:
                sums.append(after(sums[-1], pair))
            expected = sums[:0:-1] if reverse else sums[1:]
            got = zip(found[0][row].tolist(), found[1][row].tolist(), strict=True)
            for one, other in zip(got, expected, strict=True):
                assert one == pytest.approx(other, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tw.scan(lambda c, x: c, 0.0, tw.ones(3)), tw.TransformError, "tuple"),
        (
            lambda: tw.scan(lambda c, x: (tw.ones(2), x), 0.0, tw.ones(3)),
            tw.ShapeError,
            r"shape \(\) and then \(2,\)",
        ),
        (
            lambda: tw.scan(lambda c, x: (c + x, x), tw.asarray(0), tw.ones(3)),
            tw.TransformError,
            "int32 and then float32",
        ),
        (
            lambda: tw.scan(lambda c, x: ((c, c), x), 0.0, tw.ones(3)),
            tw.TransformError,
            "structure",
        ),
        (
            lambda: tw.scan(lambda c, x: (c, x), 0.0, (tw.ones(3), tw.ones(4))),
            tw.ShapeError,
            "3 and 4",
        ),
        (lambda: tw.scan(lambda c, x: (c, x), 0.0), tw.DataError, "length"),
        (
            lambda: tw.scan(lambda c, x: (c, x), 0.0, length=-2),
            tw.DataError,
            "length is -2",
        ),
        (
            lambda: tw.scan(lambda c, x: (tw.ones(()), x), None, tw.ones(3)),
            tw.TransformError,
            "None",
        ),
        (lambda: tw.fori_loop(0, 2.7, lambda i, x: x, 0), TypeError, "integer"),
        (
            lambda: tw.cond(tw.ones(2) > 0, tw.sin, tw.cos, tw.ones(2)),
            tw.ShapeError,
            "one boolean",
        ),
        (
            lambda: tw.associative_scan(lambda a, b: (a + b).sum(), tw.ones(4)),
            tw.ShapeError,
            "elementwise",
        ),
        (
            lambda: tw.scan(lambda c, x: (c, x), 0.0, tw.asarray(1.0)),
            tw.ShapeError,
            "0-d",
        ),
        (lambda: tw.switch(0, []), tw.DataError, "no branch"),
    ],
)
def test_mistakes_are_named(
    call: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()
