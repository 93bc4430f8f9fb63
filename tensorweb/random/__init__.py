"""Random numbers from keys: equal keys give equal numbers, on every device.

A key is a uint32 tensor of shape (2,). There is no hidden state: split a key to draw
other numbers. Keys and bits equal those of JAX; a `Generator` splits its own key.

>>> first, second = split(key(0))
>>> randint(second, 5, 0, 10)
tensor([2, 2, 6, 5, 1])
"""

import typing as _typing
from importlib import import_module as _import_module

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
from tensorweb.random.generator import FAMILIES as _FAMILIES
from tensorweb.random.generator import Generator
from tensorweb.random.keys import bits, fold_in, key, split
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "Generator",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "split",
    "t",
    "truncated_normal",
    "uniform",
]

_answer_torch_words(globals(), [name for name in __all__ if name not in _FAMILIES])

if _typing.TYPE_CHECKING:
    from tensorweb.random.families import (
        ball,
        beta,
        binomial,
        cauchy,
        chisquare,
        dirichlet,
        gamma,
        laplace,
        loggamma,
        logistic,
        multinomial,
        multivariate_normal,
        orthogonal,
        poisson,
        rademacher,
        t,
    )
else:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> object:
        """Import the larger families on first use, or answer a foreign name."""
        if name in _FAMILIES:
            module = vars(_import_module("tensorweb.random.families"))
            globals().update({each: module[each] for each in _FAMILIES})
            _answer_torch_words(globals(), _FAMILIES)
            return globals()[name]
        raise _unknown("tensorweb.random", name, __all__)
