"""What holds of keys and samples: independence, fusion, and every transformation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from checks import assert_equal

import tensorweb as tw
from tensorweb.nodes.ranges import interval_of

Sampler = Callable[[tw.Tensor], tw.Tensor]

SAMPLERS: dict[str, Sampler] = {
    "bits": lambda key: tw.random.bits(key, (3, 5)),
    "uniform": lambda key: tw.random.uniform(key, 7),
    "normal": lambda key: tw.random.normal(key, (3, 5)),
    "truncated_normal": lambda key: tw.random.truncated_normal(key, -1, 2, (7,)),
    "exponential": lambda key: tw.random.exponential(key, (2, 3)),
    "gumbel": lambda key: tw.random.gumbel(key, (2, 3)),
    "bernoulli": lambda key: tw.random.bernoulli(key, 0.3, (7,)),
    "randint": lambda key: tw.random.randint(key, (7,), -3, 4),
    "categorical": lambda key: tw.random.categorical(key, tw.arange(5) * 0.5, shape=7),
    "permutation": lambda key: tw.random.permutation(key, 7),
    "choice": lambda key: tw.random.choice(key, tw.arange(5) * 2, (2, 3)),
    "weighted choice": lambda key: tw.random.choice(
        key, 3, (5,), p=tw.asarray([0.5, 0.25, 0.25])
    ),
    "split": lambda key: tw.random.split(key, 3),
    "fold_in": lambda key: tw.random.fold_in(key, 5),
}


def template_kinds(function: Callable[[], object]) -> list[str]:
    """Return the templates of the kernels that a function's work takes."""
    with tw.record_kernels() as records:
        tw.realize(function())
    return [record.kind for record in records]


PLACES = [
    *[("cpu", name) for name in SAMPLERS],
    *[("webgpu", name) for name in ("normal", "randint", "permutation")],
]
"""Compiling takes the time: a GPU sees three, of which the others are made."""


@pytest.mark.parametrize(("device", "name"), PLACES, indirect=["device"])
def test_a_batch_of_keys_is_a_loop_over_them(name: str, device: str) -> None:
    sampler = SAMPLERS[name]
    keys = tw.random.split(tw.random.key(3), 4)
    together = tw.vmap(sampler)(keys)
    apart = tw.stack([tw.realize(sampler(keys[i])) for i in range(4)])
    assert together.dtype == apart.dtype
    assert_equal(together, apart.tolist())


@pytest.mark.parametrize(("device", "name"), PLACES, indirect=["device"])
def test_a_recording_gives_other_numbers_for_another_key(
    name: str, device: str
) -> None:
    sampler = SAMPLERS[name]
    recorded = tw.jit(sampler)
    for seed in range(3):
        key = tw.random.key(seed)
        assert_equal(recorded(key), sampler(key).tolist())
    assert recorded.recordings == (1 if device == "webgpu" else recorded.recordings)


@pytest.mark.parametrize("name", ["uniform", "normal", "randint", "bernoulli"])
def test_samplers_take_one_kernel_besides_the_key_s(name: str, webgpu: str) -> None:
    known, key = tw.random.key(1), on_the_device(tw.random.key(1))
    assert template_kinds(lambda: SAMPLERS[name](known)) == ["elementwise"]
    kinds = template_kinds(lambda: SAMPLERS[name](key))
    assert kinds == ["elementwise"] * (2 if name == "randint" else 1)
    assert_equal(SAMPLERS[name](key), SAMPLERS[name](known).tolist())


def test_a_dropout_mask_is_part_of_the_kernel_that_uses_it(webgpu: str) -> None:
    key, x = tw.random.key(1), tw.arange(60, dtype=tw.float32).reshape((4, 15))
    tw.realize(key, x)

    def dropped(x: tw.Tensor) -> tw.Tensor:
        return tw.where(tw.random.bernoulli(key, 0.75, x.shape), x / 0.75, 0.0)

    assert template_kinds(lambda: dropped(x)) == ["elementwise"]
    assert template_kinds(lambda: tw.grad(lambda x: (dropped(x) ** 2).sum())(x)) == [
        "elementwise"
    ]
    kept = (dropped(x) != 0).tolist()
    gradient = tw.grad(lambda x: dropped(x).sum())(x)
    assert (gradient != 0).tolist()[1:] == kept[1:]


def on_the_device(key: tw.Tensor) -> tw.Tensor:
    """Return a key whose words only the device has."""
    return tw.realize(key | tw.zeros(2, dtype=tw.uint32))


def test_new_keys_take_one_kernel(webgpu: str) -> None:
    key = on_the_device(tw.random.key(1))
    assert template_kinds(lambda: tw.random.split(key, 100)) == ["elementwise"]
    assert template_kinds(lambda: tw.random.fold_in(key, 100)) == ["elementwise"]


def test_few_words_of_a_known_key_take_no_kernel(device: str) -> None:
    makers: tuple[Sampler, ...] = (
        *(tw.random.split, lambda key: tw.random.split(key, (2, 4))),
        *(lambda key: tw.random.fold_in(key, 2**32 - 1), tw.random.bits),
        lambda key: tw.random.bits(key, (4, 4)),
        lambda key: tw.random.bits(key, 0),
    )
    for make in makers:
        known = make(tw.random.key(1))
        assert template_kinds(partial(make, tw.random.key(1))) == []
        assert_equal(known, make(on_the_device(tw.random.key(1))).tolist())


def test_shapes_are_views_of_the_same_words(device: str) -> None:
    key = tw.random.key(5)
    flat = tw.random.bits(key, 24)
    assert_equal(tw.random.bits(key, (2, 3, 4)), flat.reshape((2, 3, 4)).tolist())
    assert_equal(tw.random.bits(key, 7), flat[:7].tolist())
    assert tw.random.bits(key).item() == flat[0].item()
    assert tw.random.normal(key, (3, 0)).tolist() == [[], [], []]
    assert tw.random.permutation(key, 0).tolist() == []
    assert tw.random.permutation(key, 1).tolist() == [0]


def test_new_keys_differ_and_have_nothing_in_common(device: str) -> None:
    key = tw.random.key(0)
    keys = tw.random.split(key, 500)
    assert len({*map(tuple, keys.tolist())} | {(0, 0)}) == 501
    draws = tw.vmap(lambda key: tw.random.uniform(key, 200))(keys[:40]) - 0.5
    products = (draws @ draws.T) * (12 / 200)
    off = products - tw.eye(40)
    assert tw.max(tw.abs(off)).item() < 0.35
    folded = [tw.random.fold_in(key, n).tolist() for n in (0, 1, 2**31, 2**32 - 1)]
    assert len({*map(tuple, folded)}) == 4


def test_seeds_have_64_bits(cpu: str) -> None:
    assert tw.random.key(2**40 + 3).tolist() == [256, 3]
    assert tw.random.key(-1).tolist() == [2**32 - 1] * 2
    wide = tw.asarray(2**40 + 3, dtype=tw.int64)
    assert tw.random.key(wide).tolist() == [256, 3]
    assert tw.random.key(tw.asarray(3)).tolist() == [0, 3]


def test_gradients_go_through_parameters(cpu: str) -> None:
    key = tw.random.key(2)

    def mean(centre: tw.Tensor, spread: tw.Tensor) -> tw.Tensor:
        return (centre + spread * tw.random.normal(key, 50)).mean()

    centre, spread = tw.asarray(1.0), tw.asarray(2.0)
    gradients = tw.grad(mean, (0, 1))(centre, spread)
    assert gradients[0].item() == pytest.approx(1)
    assert gradients[1].item() == pytest.approx(tw.random.normal(key, 50).mean().item())

    def between(low: tw.Tensor, high: tw.Tensor) -> tw.Tensor:
        return tw.random.uniform(key, 50, tw.float32, low, high).mean()

    share = tw.random.uniform(key, 50).mean().item()
    found = tw.grad(between, (0, 1))(centre, centre + 1)
    assert [x.item() for x in found] == pytest.approx([1 - share, share])

    def inside(low: tw.Tensor) -> tw.Tensor:
        return tw.random.truncated_normal(key, low, 3.0, (50,)).sum()

    step = 1e-2
    rise = (inside(centre + step) - inside(centre - step)).item() / (2 * step)
    assert tw.grad(inside)(centre).item() == pytest.approx(rise, rel=1e-2)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_fractions_of_other_dtypes_have_their_digits(dtype: str, cpu: str) -> None:
    key = tw.random.key(4)
    words, digits = tw.random.bits(key, 200), {"float16": 10, "float64": 52}[dtype]
    if dtype == "float16":
        expected = [(word % 2**16 >> 6) / 2**10 for word in words.tolist()]
    else:
        wide = tw.random.bits(key, 200, tw.uint64).tolist()
        expected = [(word >> 12) / 2**52 for word in wide]
    assert tw.random.uniform(key, 200, dtype).tolist() == expected
    normal = tw.random.normal(key, 200, dtype)
    assert str(normal.dtype) == dtype
    back = (tw.erf(normal.astype(tw.float64) / 2**0.5) + 1) / 2
    tolerance = 2.0 ** -(digits - 2)
    assert back.tolist() == pytest.approx(expected, abs=tolerance)


def test_narrow_bits_are_the_low_ones(device: str) -> None:
    key = tw.random.key(6)
    words = tw.random.bits(key, 50).tolist()
    assert tw.random.bits(key, 50, tw.uint8).tolist() == [w % 2**8 for w in words]
    assert tw.random.bits(key, 50, "uint16").tolist() == [w % 2**16 for w in words]


def test_wide_bits_are_both_words(cpu: str) -> None:
    key = tw.random.key(6)
    words = tw.random.bits(key, 50).tolist()
    wide = tw.random.bits(key, 50, tw.uint64).tolist()
    assert [(w >> 32) ^ (w % 2**32) for w in wide] == words


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "int16"])
def test_integers_of_other_dtypes_fill_their_range(dtype: str, cpu: str) -> None:
    info = tw.iinfo(dtype)
    drawn = tw.random.randint(tw.random.key(1), 3000, info.min, info.max + 1, dtype)
    assert str(drawn.dtype) == dtype
    size = info.max - info.min
    assert drawn.min().item() < info.min + size // 100
    assert drawn.max().item() > info.max - size // 100


def test_tensor_bounds_agree_with_number_bounds(device: str) -> None:
    key, ends = tw.random.key(1), tw.asarray([5, 1, 100_000, 3])
    found = tw.random.randint(key, (6, 4), 1, ends).T
    for row, end in zip(found.tolist(), (5, 1, 100_000, 3), strict=True):
        assert all(1 <= x < max(end, 2) for x in row)
    for end in (5, 100_000):
        whole = tw.random.randint(key, (9,), tw.asarray(-2), tw.asarray(end))
        assert_equal(whole, tw.random.randint(key, (9,), -2, end).tolist())


def test_draws_index_without_a_look_at_them(device: str) -> None:
    table = tw.arange(30).reshape((10, 3))
    draw: dict[str, Any] = {
        "randint": lambda key: tw.random.randint(key, 5, 0, 10),
        "permutation": lambda key: tw.random.permutation(key, 10),
        "choice": lambda key: tw.random.choice(key, 10, (5,)),
        "categorical": lambda key: tw.random.categorical(key, tw.zeros(10), shape=5),
    }
    for sampler in draw.values():
        recorded = tw.jit(lambda key, sampler=sampler: table[sampler(key)])
        key = tw.random.key(3)
        assert_equal(recorded(key), table[sampler(key)].tolist())
        assert interval_of(tw.realize(sampler(key)).node) == (0, 9)


def _block(counter: int) -> int:
    """Return word `counter` under the key (0, 9), in Python's integers."""
    mask = 2**32 - 1
    keys = (0, 9, 9 ^ 0x1BD11BDA)
    x, y = 0, (counter + 9) & mask
    for number in range(20):
        distance = (13, 15, 26, 6, 17, 29, 16, 24)[number % 8]
        x = (x + y) & mask
        y = ((y << distance | y >> (32 - distance)) & mask) ^ x
        if number % 4 == 3:
            group = number // 4 + 1
            x = (x + keys[group % 3]) & mask
            y = (y + keys[(group + 1) % 3] + group) & mask
    return x ^ y


def test_millions_of_words_are_right_to_the_last(webgpu: str) -> None:
    count = 2**24 + 321
    words = tw.realize(tw.random.bits(tw.random.key(9), count))
    indices = [0, 1, 65_535, 65_536, 2**22 + 7, 2**24 - 1, 2**24, count - 1]
    assert tw.take(words, indices).tolist() == [_block(index) for index in indices]
    share = (words >> 31).astype(tw.float32).mean().item()
    assert share == pytest.approx(0.5, abs=5 * 0.5 / count**0.5)


def test_chances_of_nothing_and_of_certainty(device: str) -> None:
    key = tw.random.key(3, device=device)
    assert not tw.random.bernoulli(key, 0.0, (64,)).any()
    assert tw.random.bernoulli(key, 1.0, (64,)).all()
