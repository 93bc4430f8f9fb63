"""Indexing and assignment on both devices: NumPy's rules, checked at the line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checks import assert_equal, ramp
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorweb as tw
from tensorweb import devices
from tensorweb.errors import DeviceError, DTypeError, RangeError, TensorIndexError

Array = np.ndarray[Any, Any]
Key = tuple[Any, ...]

LENGTHS = st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=4).map(tuple)
BOUND = st.none() | st.integers(-7, 7)
STEP = st.sampled_from([None, 1, 2, 3, -1, -2])


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Key:
    """Draw an index of any kind for a shape; index arrays may fail to broadcast."""
    together = draw(st.sampled_from([(), (3,), (2, 3)]))
    parts: list[Any] = []
    axis = 0
    while axis < len(shape):
        length = shape[axis]
        kind = draw(st.sampled_from(["int", "slice", "new", "array", "mask", "end"]))
        if kind == "end":
            break
        if kind == "new":
            parts.append(None)
            continue
        if kind == "mask":
            rank = draw(st.integers(1, len(shape) - axis))
            seed = draw(st.integers(0, 99))
            chosen = np.random.default_rng(seed).random(shape[axis : axis + rank])
            parts.append(chosen < 0.4)
            axis += rank
            continue
        if kind == "int":
            parts.append(draw(st.integers(-length, length - 1)))
        elif kind == "slice":
            parts.append(slice(draw(BOUND), draw(BOUND), draw(STEP)))
        else:
            seed = draw(st.integers(0, 99))
            among = np.random.default_rng(seed).integers(-length, length, together)
            parts.append(among.astype(np.int32))
        axis += 1
    if draw(st.booleans()):
        parts.append(Ellipsis)
    return tuple(parts)


def looked_at(
    host: Array, order: list[int], is_flipped: bool
) -> tuple[Array, tw.Tensor]:
    """Return one view of equal numbers in NumPy and in tensorweb."""
    view, x = host.transpose(order), tw.asarray(host).permute(order)
    return (np.flip(view, 0), x.flip(0)) if is_flipped else (view, x)


def on_device(key: Key, how: int) -> Key:
    """Return a key with its arrays as tensors, some of them computed on the device."""
    return tuple(_part(part, how) for part in key)


def _part(part: Any, how: int) -> Any:
    if not isinstance(part, np.ndarray) or how == 0:
        return part
    if how == 1:
        return tw.asarray(part)
    return ~tw.asarray(~part) if part.dtype == bool else tw.asarray(part + 1) - 1


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, list[int], bool, Key, int]:
    shape = draw(LENGTHS)
    order = draw(st.permutations(range(len(shape))))
    key = draw(keys(tuple(shape[axis] for axis in order)))
    flipped, how = draw(st.booleans()), draw(st.integers(0, 2))
    return ramp(*shape, dtype=np.int32), list(order), flipped, key, how


def numpy_answer(host: Array, key: Key) -> Array | None:
    try:
        return np.asarray(host[key])
    except IndexError:
        return None


def check_reading(case: tuple[Array, list[int], bool, Key, int]) -> None:
    host, x = looked_at(*case[:3])
    expected, key = numpy_answer(host, case[3]), on_device(*case[3:])
    if expected is None:
        with pytest.raises(TensorIndexError):
            x[key]
    else:
        assert_equal(x[key], expected)


def check_writing(case: tuple[Array, list[int], bool, Key, int], width: int) -> None:
    host, x = looked_at(*case[:3])
    expected = numpy_answer(host, case[3])
    if expected is None:
        return
    values = np.arange(expected.size, dtype=np.int32).reshape(expected.shape) + 100
    if width == 1 and values.ndim and values.shape[0]:
        values = values[:1]
    after, before = np.array(host), x
    after[case[3]] = 7 if width == 0 else values
    y = x.copy()
    y[on_device(*case[3:])] = 7 if width == 0 else values
    assert_equal(y, after)
    assert_equal(before, host)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_reading_equals_numpy(case: tuple[Array, list[int], bool, Key, int]) -> None:
    with devices.device("cpu"):
        check_reading(case)


@settings(max_examples=300, deadline=None)
@given(cases(), st.integers(0, 2))
def test_writing_equals_numpy(
    case: tuple[Array, list[int], bool, Key, int], width: int
) -> None:
    with devices.device("cpu"):
        check_writing(case, width)


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_reading_on_webgpu_equals_numpy(
    session_webgpu: str, case: tuple[Array, list[int], bool, Key, int]
) -> None:
    with devices.device(session_webgpu):
        check_reading(case)


@settings(max_examples=60, deadline=None)
@given(case=cases(), width=st.integers(0, 2))
def test_writing_on_webgpu_equals_numpy(
    session_webgpu: str, case: tuple[Array, list[int], bool, Key, int], width: int
) -> None:
    with devices.device(session_webgpu):
        check_writing(case, width)


@pytest.fixture(scope="module")
def session_webgpu() -> str:
    try:
        devices.backend("webgpu")
    except DeviceError as error:
        pytest.skip(f"device 'webgpu': {error}")
    return "webgpu"


@pytest.mark.usefixtures("device")
class TestOneByOne:
    """Cases with a name, on both devices."""

    def test_an_ellipsis_of_no_axes_keeps_index_tensors_apart(self) -> None:
        host = ramp(3, 5)
        assert_equal(tw.asarray(host)[[0, 1], ..., [2, 2]], host[[0, 1], ..., [2, 2]])

    def test_true_and_false_add_an_axis(self) -> None:
        host = ramp(2, 3)
        for key in (True, False, (slice(None), True)):
            assert_equal(tw.asarray(host)[key], host[key])

    def test_basic_keys_share_storage(self) -> None:
        x = tw.asarray(ramp(5, 7))
        for part in (x[1], x[::2, ::-1], x[..., None], x[1:, 2]):
            assert part.shares_memory_with(x)
        assert not x[[0, 1]].shares_memory_with(x)
        assert not x[:2].shares_memory_with(x[2:])

    def test_tensors_without_axes_are_integers(self) -> None:
        x = tw.asarray(ramp(5, 7))
        assert_equal(x[tw.asarray(2)], ramp(5, 7)[2])
        assert_equal(x[x.argmax() // 7, 0], ramp(5, 7)[4, 0])

    def test_empty_lists_choose_nothing(self) -> None:
        assert tw.asarray(ramp(5, 7))[[]].shape == (0, 7)
        assert tw.asarray(ramp(0, 7))[:, [1, 2]].shape == (0, 2)

    def test_take(self) -> None:
        host = ramp(2, 3, 5)
        x = tw.asarray(host)
        assert_equal(tw.take(x, [4, -5], axis=-1), host.take([4, -5], -1))
        assert_equal(x.take([[0, 1], [1, 0]], axis=1), host.take([[0, 1], [1, 0]], 1))
        order = np.argsort(-host, axis=1)
        assert_equal(
            tw.take_along_axis(x, order, axis=1), np.take_along_axis(host, order, 1)
        )

    def test_nonzero(self) -> None:
        host = ramp(2, 3, 5) % 4 - 1
        for got, expected in zip(tw.nonzero(host), np.nonzero(host), strict=True):
            assert_equal(got, expected)

    def test_at(self) -> None:
        host = ramp(2, 3, 5)
        x = tw.asarray(host)
        assert_equal(x.at(1), host[1])
        assert x.at([1, 2, 3]).item() == x.at(1, 2, 3).item() == host[1, 2, 3]

    def test_iteration_and_membership(self) -> None:
        x = tw.asarray(ramp(3, 2))
        assert [row.tolist() for row in x] == ramp(3, 2).tolist()
        assert 5 in x
        assert 6 not in x
        with pytest.raises(TypeError, match="0-d"):
            iter(x.sum())

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (5, r"index 5 is out of range for axis 0 of shape \(5, 7\) \(length 5\)"),
            ((0, -8), "index -8 is out of range for axis 1"),
            ((0, 0, 0), "3 for the 2 axes"),
            ((..., ...), "one ellipsis"),
            ([0, 5], "index 5 is out of range for axis 0"),
            ((slice(None), [-8]), "index -8 is out of range for axis 1"),
            ([True, False], r"mask of shape \(2,\)"),
            (1.5, "1.5 of type float cannot index axis 0"),
            ("a", "'a' of type str"),
            ([0.5], "float32 tensor cannot index"),
            (([0, 1], [0, 1, 2]), "index tensors: shapes"),
            (slice(None, None, 0), "zero"),
        ],
    )
    def test_wrong_keys(self, key: Any, message: str) -> None:
        x = tw.asarray(ramp(5, 7))
        with pytest.raises(TensorIndexError, match=message):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 0

    def test_indices_from_the_device_are_checked_at_the_line(self) -> None:
        x, indices = tw.asarray(ramp(5, 7)), tw.asarray([1, 2]) * 3
        with pytest.raises(TensorIndexError, match="index 6 is out of range"):
            x[indices]

    def test_assignment_accepts_values_that_fit_the_dtype(self) -> None:
        x = tw.zeros(3, dtype=tw.int32)
        x[0] = True
        x[1] = tw.asarray(5, dtype=tw.uint32)
        x[2:] = [9]
        assert x.tolist() == [1, 5, 9]
        with pytest.raises(DTypeError, match=r"v is float32 and x is int32"):
            x[0] = 1.5
        with pytest.raises(DTypeError, match=r"astype\(tw.int32\)"):
            x[0] = tw.asarray(1.5)
        with pytest.raises(RangeError, match="2147483648"):
            x[0] = 2**31
        assert x.tolist() == [1, 5, 9]

    @pytest.mark.parametrize("key", [0, slice(1, 3), [0, 1], slice(None, None, 2)])
    def test_assigned_values_must_broadcast(self, key: Any) -> None:
        x = tw.zeros((4, 3))
        with pytest.raises(ValueError, match=r"v has shape \(2,\)"):
            x[key] = [1, 2]
        with pytest.raises(ValueError, match="v has shape"):
            x[x > 1] = [1, 2]

    def test_the_last_of_several_values_wins(self) -> None:
        x = tw.zeros(3, dtype=tw.int32)
        x[[1, 1, 2, 1]] = [5, 6, 7, 8]
        assert x.tolist() == [0, 8, 7]

    def test_a_tensor_written_into_itself(self) -> None:
        x = tw.asarray([1, 2, 3, 4])
        x[1:] = x[:-1]
        assert x.tolist() == [1, 1, 2, 3]
        x[::-1] = x
        assert x.tolist() == [3, 2, 1, 1]

    def test_masks_with_one_value_read_nothing(self) -> None:
        x = tw.asarray(ramp(3, 5))
        x[x > 7] = -1
        assert not x.node.is_computed
        assert_equal(x, np.where(ramp(3, 5) > 7, -1, ramp(3, 5)))


def test_values_from_another_device_are_refused() -> None:
    x = tw.zeros(3, device="cpu")
    with pytest.raises(DeviceError, match="move v"):
        x[0] = tw.zeros((), device="webgpu")


def test_index_tensor_is_checked_once(device: str) -> None:
    indices = tw.realize((tw.arange(5.0) * 0.6).astype(tw.int32))
    table = tw.arange(7)
    first = table[indices].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tensorweb.lookups.read", lambda *_: pytest.fail("read again"))
        assert (table[indices] + 0).shape == (5,)
    assert first == [0, 0, 1, 1, 2]
