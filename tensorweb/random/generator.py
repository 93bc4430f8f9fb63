"""A stateful generator: it holds a key, which every call splits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Concatenate, ParamSpec, SupportsIndex
from weakref import WeakKeyDictionary, ref

from tensorweb.errors import TraceError
from tensorweb.functions import asarray, stack
from tensorweb.graph.tracing import Repeat, Trace, open_repeat, open_trace
from tensorweb.random import discrete, distributions, keys
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register

P = ParamSpec("P")

_made_in: WeakKeyDictionary[Generator, tuple[ref[Trace] | None, Repeat | None]]
# The trace or repeated run in which a generator was made; there its numbers may repeat.
_made_in = WeakKeyDictionary()


def _method(
    function: Callable[Concatenate[ArrayLike, P], Tensor],
) -> Callable[Concatenate[Generator, P], Tensor]:
    """Return the method that calls a function of this package with the next key."""

    @wraps(function)
    def method(self: Generator, /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        return function(self._next(), *args, **kwargs)

    # The arguments are those of the function, without `key`.
    first_line = (function.__doc__ or "").partition("\n")[0]
    method.__doc__ = f"{first_line}\n\nSee `tw.random.{function.__name__}`."
    return method


class _Later:
    """The method of a sampler in `families`, which is imported when it is called."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Callable[..., Tensor]:
        function = getattr(import_module("tensorweb.random"), self.name)
        method = _method(function)
        setattr(owner, self.name, method)
        bound: Callable[..., Tensor] = getattr(instance or owner, self.name)
        return bound


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
            keys.checked_key("Generator", seed)
            first = asarray(seed, device=device)
        else:
            first = keys.key(seed, device=device)
        # Later keys are rows of what `split` gives. As the first one looks like that, a
        # function is recorded once.
        known = keys.known_words(first)
        if known is None:
            pair = stack([first, first])
        else:
            pair = asarray([known, known], dtype=keys.WORD, device=first.device)
        self.key = pair[0]
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

    split = _method(keys.split)
    bits = _method(keys.bits)
    uniform = _method(distributions.uniform)
    normal = _method(distributions.normal)
    truncated_normal = _method(distributions.truncated_normal)
    exponential = _method(distributions.exponential)
    gumbel = _method(distributions.gumbel)
    bernoulli = _method(distributions.bernoulli)
    randint = _method(discrete.randint)
    categorical = _method(discrete.categorical)
    permutation = _method(discrete.permutation)
    choice = _method(discrete.choice)
    ball = _Later()
    beta = _Later()
    binomial = _Later()
    cauchy = _Later()
    chisquare = _Later()
    dirichlet = _Later()
    gamma = _Later()
    laplace = _Later()
    logistic = _Later()
    loggamma = _Later()
    multinomial = _Later()
    multivariate_normal = _Later()
    orthogonal = _Later()
    poisson = _Later()
    rademacher = _Later()
    t = _Later()


FAMILIES = [name for name, value in vars(Generator).items() if type(value) is _Later]
"""Samplers that are imported on first use; other programs start faster."""


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
        f"checkpoint: {repeat.name} draws from a Generator; it runs again in the "
        "backward pass and would draw other numbers then. Give it a key of "
        "tw.random.split."
    )
