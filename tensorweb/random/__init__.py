"""Random numbers from keys: equal keys give equal numbers, on every device.

A key is a uint32 tensor of shape (2,). There is no hidden state: split a key to draw
other numbers. Keys and bits equal those of JAX; a `Generator` splits its own key.

>>> first, second = split(key(0))
>>> randint(second, 5, 0, 10)
tensor([2, 2, 6, 5, 1])
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.random.discrete import categorical, choice, permutation, randint
from tensorweb.random.distributions import (
    bernoulli,
    exponential,
    gumbel,
    normal,
    truncated_normal,
    uniform,
)
from tensorweb.random.generator import Generator
from tensorweb.random.keys import bits, fold_in, key, split
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "Generator",
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]

_answer_torch_words(globals(), __all__)

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of NumPy or PyTorch with what to write here."""
        raise _unknown("tensorweb.random", name, __all__)
