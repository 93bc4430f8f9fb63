"""What samplers refuse, and what they say to do instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb.errors import (
    AxisError,
    DataError,
    DTypeError,
    RangeError,
    ShapeError,
    TensorwebError,
)

Refused = tuple[Callable[[tw.Tensor], object], type[TensorwebError], str]

REFUSED: dict[str, Refused] = {
    "a number as key": (
        lambda key: tw.random.normal(0, (3,)),
        DTypeError,
        r"normal: the key is the number 0; .* tw\.random\.key\(0\)",
    ),
    "many keys": (
        lambda key: tw.random.uniform(tw.random.split(key, 5), (3,)),
        ShapeError,
        r"shape \(5, 2\), a key has \(2,\); .*keys\[0\], or give tw\.vmap",
    ),
    "a wide key": (
        lambda key: tw.random.bits(tw.zeros(3, dtype=tw.uint32)),
        ShapeError,
        r"make one with tw\.random\.key\(0\)",
    ),
    "a key of floats": (
        lambda key: tw.random.randint(tw.zeros(2), 3, 0, 5),
        DTypeError,
        r"randint: the key is a tensor of float32, keys are uint32",
    ),
    "a seed of text": (
        lambda key: tw.random.key("one"),  # type: ignore[arg-type]  # refused
        DTypeError,
        r"the seed is 'one' of type str",
    ),
    "a long seed": (lambda key: tw.random.key(2**64), RangeError, r"more than 64 bits"),
    "a seed with axes": (
        lambda key: tw.random.key(tw.arange(3)),
        ShapeError,
        r"seed has shape \(3,\); give one integer",
    ),
    "a seed of floats": (
        lambda key: tw.random.key(tw.asarray(1.5)),
        DTypeError,
        r"seed is a tensor of float32",
    ),
    "too many elements": (
        lambda key: tw.random.bits(key, (2**20, 2**13)),
        ShapeError,
        r"8,589,934,592 elements.* split the key",
    ),
    "a negative length": (
        lambda key: tw.random.normal(key, (3, -1)),
        ShapeError,
        r"negative length -1",
    ),
    "a negative fold": (
        lambda key: tw.random.fold_in(key, -1),
        RangeError,
        r"data is -1; give one from 0 to 2\*\*32 - 1",
    ),
    "a fold of a float": (
        lambda key: tw.random.fold_in(key, 1.5),  # type: ignore[arg-type]  # refused
        DTypeError,
        r"data is 1\.5 of type float",
    ),
    "signed bits": (
        lambda key: tw.random.bits(key, 3, tw.int32),
        DTypeError,
        r"int32 is no unsigned integer dtype",
    ),
    "whole normals": (
        lambda key: tw.random.normal(key, 3, tw.int32),
        DTypeError,
        r"normal: int32 is no float dtype",
    ),
    "swapped bounds": (
        lambda key: tw.random.uniform(key, 3, minval=2, maxval=1),
        DataError,
        r"minval 2\.0 is above maxval 1\.0",
    ),
    "an infinite bound": (
        lambda key: tw.random.uniform(key, 3, maxval=tw.inf),
        DataError,
        r"maxval is inf; give a finite number",
    ),
    "a bound of another shape": (
        lambda key: tw.random.uniform(key, (2, 3), minval=tw.zeros(4)),
        ShapeError,
        r"minval has shape \(4,\), which does not broadcast to the result's \(2, 3\)",
    ),
    "nothing between": (
        lambda key: tw.random.truncated_normal(key, 1.0, 1.0),
        DataError,
        r"lower 1\.0 is not below upper 1\.0",
    ),
    "no probability": (
        lambda key: tw.random.bernoulli(key, 1.5),
        DataError,
        r"p is 1\.5; a probability is from 0 to 1",
    ),
    "an empty range": (
        lambda key: tw.random.randint(key, 3, 5, 5),
        DataError,
        r"minval 5 is not below maxval 5",
    ),
    "a range beyond the dtype": (
        lambda key: tw.random.randint(key, 3, 0, 2**32),
        RangeError,
        r"0 to 4294967295 does not fit int32",
    ),
    "integers between floats": (
        lambda key: tw.random.randint(key, 3, tw.asarray(0.5), 7),
        DTypeError,
        r"randint: minval is of float32; give integers",
    ),
    "whole logits": (
        lambda key: tw.random.categorical(key, tw.arange(3)),
        DTypeError,
        r"categorical: logits: int32 is no float dtype",
    ),
    "a shape unlike the logits": (
        lambda key: tw.random.categorical(key, tw.zeros((4, 3)), shape=(3,)),
        ShapeError,
        r"shape \(3,\) does not end in \(4,\)",
    ),
    "no category": (
        lambda key: tw.random.categorical(key, tw.zeros((4, 0))),
        ShapeError,
        r"have no category to draw",
    ),
    "an axis too far": (
        lambda key: tw.random.permutation(key, tw.zeros((4, 3)), 2),
        AxisError,
        r"axis 2",
    ),
    "an order of one number": (
        lambda key: tw.random.permutation(key, tw.asarray(4)),
        ShapeError,
        r"give a Python number for the numbers below",
    ),
    "more than there is": (
        lambda key: tw.random.choice(key, 3, (4,), replace=False),
        DataError,
        r"4 of 3 elements without replacement",
    ),
    "nothing to draw from": (
        lambda key: tw.random.choice(key, tw.zeros((0, 3)), (2,)),
        ShapeError,
        r"nothing to draw from, 0 elements",
    ),
    "chances of another shape": (
        lambda key: tw.random.choice(key, 3, (2,), p=tw.ones(4)),
        ShapeError,
        r"p has shape \(4,\); give one number for each of the 3 elements",
    ),
    "a generator of many keys": (
        lambda key: tw.random.Generator(tw.random.split(key, 3)),
        ShapeError,
        r"Generator: the key has shape \(3, 2\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_samplers_raise_with_the_reason(name: str, cpu: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call(tw.random.key(0))


def test_dtypes_of_the_device_only(webgpu: str) -> None:
    with pytest.raises(DTypeError, match="float64"):
        tw.random.normal(tw.random.key(0), 3, tw.float64)
    with pytest.raises(DTypeError, match="uint64"):
        tw.random.bits(tw.random.key(0), 3, tw.uint64)


def test_there_is_no_seed_of_the_whole_program() -> None:
    with pytest.raises(AttributeError, match=r"no program has one seed here; write"):
        tw.random.seed(3)  # type: ignore[attr-defined]  # refused
    for module in (tw, tw.random):
        with pytest.raises(AttributeError, match=r"tw\.random\.normal\(key, shape\)"):
            module.randn(3)  # type: ignore[attr-defined]  # refused
