"""Recorded functions index with their arguments, and every call is checked exactly."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb.errors import RangeError, TensorIndexError, TraceError
from tensorweb.nodes.ranges import interval_of
from tensorweb.tensor import Tensor

TABLE = [[float(10 * row + column) for column in range(3)] for row in range(5)]


def on_device(numbers: list[int], device: str) -> Tensor:
    """Return integers that only the device knows."""
    return tw.realize((tw.asarray(numbers, dtype=tw.float32) * 1.0).astype(tw.int32))


FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "rows": lambda t, i: t[i],
    "columns": lambda t, i: t[:, i % 3],
    "pairs": lambda t, i: t[i, i % 3],
    "take": lambda t, i: tw.take(t, i, axis=0),
    "along": lambda t, i: tw.take_along_axis(t, i.reshape(-1, 1) % 3, axis=0),
    "add": lambda t, i: t.at[i].add(1.5),
    "multiply": lambda t, i: t.at[i, 1].multiply(2.0),
    "set": lambda t, i: t.at[i].set(-1.0),
    "box": lambda t, i: t.at[1:, i % 3].set(7.0),
    "matrix": lambda t, i: t[i.reshape(2, 2)],
    "segments": lambda t, i: tw.segment_sum(t[:4], i, 5),
    "cross entropy": lambda t, i: (
        tw.log(tw.exp(t).sum(axis=1)) - t[tw.arange(5), tw.concat([i, i[:1]]) % 3]
    ),
    "clipped": lambda t, i: t[tw.clip(i * 3 - 1, 0, 4)],
    "best": lambda t, i: t[tw.argmax(t, axis=0)] + t[i].sum(),
    "scalar": lambda t, i: t[i[1]] + t[i[0], i[2] % 3],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_recorded_index_agrees_with_the_function(name: str, device: str) -> None:
    table = tw.asarray(TABLE)
    function = FUNCTIONS[name]
    jitted = tw.jit(function)
    draw = random.Random(3)
    for call in range(4):
        numbers = [draw.randrange(5) for _ in range(4)]
        indices = tw.asarray(numbers) if call % 2 else on_device(numbers, device)
        assert jitted(table, indices).tolist() == function(table, indices).tolist()
    if device == "webgpu":
        assert jitted.recordings == 1


@pytest.mark.parametrize("wrong", [[0, 1, 5, 2], [0, -6, 1, 2]])
def test_an_index_out_of_range_is_an_error_in_every_call(
    wrong: list[int], device: str
) -> None:
    jitted = tw.jit(FUNCTIONS["rows"])
    table = tw.asarray(TABLE)
    words = r"index (5|-6) is out of range for axis 0 of shape \(5, 3\)"
    for indices in (tw.asarray(wrong), on_device(wrong, device)):
        with pytest.raises(TensorIndexError, match=words):
            jitted(table, indices)
    right = tw.asarray([4, 0, 1, 1])
    assert jitted(table, right).tolist() == table[right].tolist()
    for indices in (tw.asarray(wrong), on_device(wrong, device)):
        with pytest.raises(TensorIndexError, match=words):
            jitted(table, indices)
    assert jitted(table, right).tolist() == table[right].tolist()


def test_negative_indices_count_from_the_end(device: str) -> None:
    jitted = tw.jit(FUNCTIONS["rows"])
    table = tw.asarray(TABLE)
    for numbers in ([0, 1, 2, 3], [-1, 0, -5, 2], [4, 4, 4, 4]):
        indices = tw.asarray(numbers)
        assert jitted(table, indices).tolist() == table[indices].tolist()
    if device == "webgpu":
        assert jitted.recordings == 2


def test_indices_calculated_from_an_argument_are_checked(device: str) -> None:
    @tw.jit
    def later(table: Tensor, indices: Tensor) -> Tensor:
        return table[indices + 1]

    table = tw.asarray(TABLE)
    assert later(table, tw.asarray([0, 3])).tolist() == [TABLE[1], TABLE[4]]
    assert later(table, tw.asarray([2, 1])).tolist() == [TABLE[3], TABLE[2]]
    with pytest.raises(TensorIndexError, match="index 5 is out of range"):
        table[tw.asarray([4, 0]) + 1]
    with pytest.raises((TensorIndexError, TraceError)):
        later(table, tw.asarray([4, 0]))


def test_indices_that_nobody_can_bound_are_refused_with_a_way_out(webgpu: str) -> None:
    @tw.jit
    def scaled(table: Tensor, x: Tensor) -> Tensor:
        return table[(x * 2).astype(tw.int32)]

    with pytest.raises(TraceError, match=r"tw.clip\(i, 0, 4\)"):
        scaled(tw.asarray(TABLE), tw.ones(2))

    @tw.jit
    def bounded(table: Tensor, x: Tensor) -> Tensor:
        return table[tw.clip((x * 2).astype(tw.int32), 0, 4)]

    assert bounded(tw.asarray(TABLE), tw.ones(2)).tolist() == [TABLE[2]] * 2
    assert bounded(tw.asarray(TABLE), tw.ones(2) * 9).tolist() == [TABLE[4]] * 2


def test_segments_out_of_range_are_an_error(device: str) -> None:
    jitted = tw.jit(lambda x, ids: tw.segment_sum(x, ids, 3))
    x = tw.arange(4.0)
    assert jitted(x, tw.asarray([0, 2, 0, 1])).tolist() == [2.0, 3.0, 1.0]
    with pytest.raises(RangeError, match="has -1"):
        jitted(x, tw.asarray([0, -1, 0, 1]))
    with pytest.raises(TensorIndexError, match="index 3 is out of range"):
        jitted(x, tw.asarray([0, 3, 0, 1]))


def test_a_known_range_is_never_read(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    indices = tw.realize(tw.argmax(tw.asarray(TABLE), axis=1))
    table = tw.asarray(TABLE)[:, ::-1]
    step = tw.jit(lambda at: (at + 1) % 5)
    start = step(tw.asarray(3))
    monkeypatch.setattr(
        "tensorweb.lookups.read", lambda *_: pytest.fail("a value was read")
    )
    rows = tw.asarray(TABLE)
    for known in (
        rows[tw.argmin(table, axis=0)],
        rows[tw.argsort(rows[:, 0])],
        rows[tw.arange(50) % 5],
        rows[tw.clip((rows[:, 0] * 0.1).astype(tw.int32), 0, 4)],
        rows[tw.where(rows[:, 0] > 20, 1, 4)],
    ):
        assert known.shape[1] == 3
    walk = tw.jit(lambda table, at: table[at])
    at = start
    for _ in range(3):
        assert walk(rows, at).shape == (3,)
        at = step(at)
    with pytest.raises(pytest.fail.Exception, match="was read"):
        rows[tw.realize(indices * 1)]


def test_arguments_that_are_views_are_not_copied(webgpu: str) -> None:
    base = tw.realize(tw.arange(24.0).reshape(4, 6) + 0)
    jitted = tw.jit(lambda x: x * 2)
    for view in (base.T, base[1:3, ::2], base[:, 0], base[::-1]):
        jitted(view)
        with tw.record_kernels() as kernels:
            assert jitted(view).tolist() == (view * 2).tolist()
        replayed = kernels[: len(kernels) // 2]
        assert len(replayed) == 1


def test_many_windows_over_a_tensor_record_a_few_times_only(webgpu: str) -> None:
    data = tw.realize(tw.arange(100.0) + 0)
    jitted = tw.jit(lambda x: x.sum())
    for start in range(90):
        window = data[start : start + 10]
        assert jitted(window).item() == sum(range(start, start + 10))
    assert jitted.recordings <= 5


def test_views_that_are_returned_written_or_given_twice(device: str) -> None:
    @tw.jit
    def swap(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        x[0] = 9.0
        return y.T, x + y.T[:2]

    for _ in range(3):
        base = tw.realize(tw.arange(6.0).reshape(3, 2) + 0)
        view = base[:2]
        transposed, total = swap(view, base.T)
        assert base.tolist() == [[9.0, 9.0], [2.0, 3.0], [4.0, 5.0]]
        assert view.tolist() == [[9.0, 9.0], [2.0, 3.0]]
        assert transposed.tolist() == base.tolist()
        assert total.tolist() == [[18.0, 18.0], [4.0, 6.0]]
        other = tw.realize(tw.arange(6.0).reshape(3, 2) + 0)
        transposed, _ = swap(view, other.T)
        assert transposed.tolist() == other.tolist()


def test_an_index_of_another_recording_is_refused(webgpu: str) -> None:
    kept: list[Tensor] = []

    @tw.jit
    def keeps(table: Tensor, at: Tensor) -> Tensor:
        kept.append(at)
        return table[at]

    table, at = tw.asarray(TABLE), tw.asarray([1, 2])
    keeps(table, at)
    other = tw.jit(lambda table: table[kept[0]])
    with pytest.raises(TraceError, match="was asked for"):
        other(table)
    for _ in range(200):
        with pytest.raises(TraceError):
            other(tw.ones((len(kept) + 5, 3)))
        kept.append(at)
    assert len(other._known) == 0


def test_large_indices_are_not_looked_at_for_nothing(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = tw.arange(1 << 17, dtype=tw.int32).tolist()
    indices = tw.asarray(numbers, dtype=tw.int32)
    monkeypatch.setattr(
        "tensorweb.lookups.extremes", lambda _: pytest.fail("looked at values")
    )
    assert tw.asarray(TABLE)[indices % 5].shape == (1 << 17, 3)
    assert interval_of(indices.node) == (-(2**31), 2**31 - 1)
