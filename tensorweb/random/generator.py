"""A stateful generator: it holds a key, which every call splits."""

from __future__ import annotations

from typing import SupportsIndex
from weakref import WeakKeyDictionary, ref

from tensorweb import dtypes
from tensorweb.errors import TraceError
from tensorweb.functions import asarray, stack
from tensorweb.graph.tracing import Repeat, Trace, open_repeat, open_trace
from tensorweb.random import distributions, drawing, integers, keys
from tensorweb.random.keys import WORD, Lengths
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.trees import register

_made_in: WeakKeyDictionary[Generator, tuple[ref[Trace] | None, Repeat | None]]
# The trace or repeated run in which a generator was made; there its numbers may repeat.
_made_in = WeakKeyDictionary()


@register
class Generator:
    """Random numbers without keys: each call splits the generator's key and draws.

    It is a tree of one tensor: pass it as an argument to functions under `tw.jit`, and
    draws inside advance it. Generators of equal seeds give equal numbers.

    Attributes:
        key: uint32 of shape (2,), which the next draw splits.

    >>> rng = tw.random.Generator(0)
    >>> rng.uniform(2), rng.uniform(2)
    (tensor([0.00729382, 0.02089119]), tensor([0.10429037, 0.34398758]))
    """

    def __init__(self, seed: SupportsIndex | Tensor, *, device: object = None) -> None:
        """Make a generator from a seed or a key.

        Args:
            seed: an integer of at most 64 bits, or a key: uint32 of shape (2,).
            device: the device of the key and of the draws.
        """
        if isinstance(seed, Tensor) and seed.shape:
            keys.words_of_key("Generator", seed)
            first = asarray(seed, device=device)
        else:
            first = keys.key(seed, device=device)
        # Later keys are rows of what `split` gives. As the first one looks like that, a
        # function is recorded once.
        self.key = stack([first, first])[0]
        trace, repeat = open_trace(), open_repeat()
        if trace is not None or repeat is not None:
            _made_in[self] = ref(trace) if trace is not None else None, repeat

    def __repr__(self) -> str:
        """Return the generator's device; the key is not read."""
        return f"Generator(device={self.key.device!r})"

    def _next(self) -> Tensor:
        """Return a key for one call, and advance the generator.

        Raises:
            TraceError: a function that is traced, batched or recomputed captured the
                generator.
        """
        made_in, made_at = _made_in.get(self, (None, None))
        trace, repeat = open_trace(), open_repeat()
        if repeat is not None and made_at is not repeat:
            raise _drawn_again(repeat)
        is_own = made_in is not None and made_in() is trace
        if trace is not None and not (is_own or trace.is_behind(self.key.node)):
            raise _captured(trace)
        both = keys.split(self.key)
        self.key = both[0]
        return both[1]

    def split(self, num: Lengths = 2) -> Tensor:
        """Return new keys, uint32 of shape (*num, 2); see `split`."""
        return keys.split(self._next(), num)

    def bits(self, shape: Lengths = (), dtype: DTypeLike = WORD) -> Tensor:
        """Return random bits; see `bits`."""
        return keys.bits(self._next(), shape, dtype)

    def uniform(
        self,
        shape: Lengths = (),
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
        minval: ArrayLike = 0.0,
        maxval: ArrayLike = 1.0,
    ) -> Tensor:
        """Return numbers from `minval` up to and without `maxval`; see `uniform`."""
        return distributions.uniform(self._next(), shape, dtype, minval, maxval)

    def normal(
        self, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
    ) -> Tensor:
        """Return normally distributed numbers; see `normal`."""
        return distributions.normal(self._next(), shape, dtype)

    def truncated_normal(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shape: Lengths | None = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    ) -> Tensor:
        """Return normal numbers between bounds; see `truncated_normal`."""
        return distributions.truncated_normal(self._next(), lower, upper, shape, dtype)

    def exponential(
        self, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
    ) -> Tensor:
        """Return exponentially distributed numbers; see `exponential`."""
        return distributions.exponential(self._next(), shape, dtype)

    def gumbel(
        self, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
    ) -> Tensor:
        """Return numbers of the Gumbel distribution; see `gumbel`."""
        return distributions.gumbel(self._next(), shape, dtype)

    def bernoulli(self, p: ArrayLike = 0.5, shape: Lengths | None = None) -> Tensor:
        """Return True with probability `p`; see `bernoulli`."""
        return distributions.bernoulli(self._next(), p, shape)

    def randint(
        self,
        shape: Lengths,
        minval: ArrayLike,
        maxval: ArrayLike,
        dtype: DTypeLike = dtypes.DEFAULT_INT,
    ) -> Tensor:
        """Return integers from `minval` up to and without `maxval`; see `randint`."""
        return integers.randint(self._next(), shape, minval, maxval, dtype)

    def categorical(
        self,
        logits: ArrayLike,
        axis: SupportsIndex = -1,
        shape: Lengths | None = None,
    ) -> Tensor:
        """Return categories; see `categorical`."""
        return drawing.categorical(self._next(), logits, axis, shape)

    def permutation(
        self, x: ArrayLike, axis: SupportsIndex = 0, *, independent: bool = False
    ) -> Tensor:
        """Return a tensor, or the integers below `x`, in random order."""
        return drawing.permutation(self._next(), x, axis, independent=independent)

    def choice(
        self,
        a: ArrayLike,
        shape: Lengths = (),
        replace: bool = True,
        p: ArrayLike = None,
        axis: SupportsIndex = 0,
    ) -> Tensor:
        """Return random elements of a tensor, or of the integers below `a`."""
        return drawing.choice(self._next(), a, shape, replace, p, axis)


def _captured(trace: Trace) -> TraceError:
    """Return the error for a generator that a traced function captured."""
    name = trace.name
    if trace.transform == "jit":
        return TraceError(
            f"jit: {name} draws from a Generator that is not its argument; a recording "
            f"would repeat the same numbers at every call. Give it to {name} as an "
            "argument, or a key of tw.random.split."
        )
    return TraceError(
        f"{trace.transform}: {name} draws from a Generator that all examples share; "
        "each would get the same numbers. Give it a key for each example: "
        "tw.random.split(key, n) in addition to the batch."
    )


def _drawn_again(repeat: Repeat) -> TraceError:
    """Return the error for a generator in a function that is recomputed."""
    return TraceError(
        f"checkpoint: {repeat.name} draws from a Generator; it runs again for the way "
        "back and would draw other numbers then. Give it a key of tw.random.split."
    )
