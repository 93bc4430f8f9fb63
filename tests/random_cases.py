"""Calls of samplers whose results JAX has recorded: one text for JAX and for us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SEEDS = (0, 7, 2**31 + 5, 2**32 - 1)

SHAPES = ((), (1,), (7,), (3, 5), (2, 3, 4), (2, 0))
"""Of random bits."""

COUNTS = (2, 5)
"""Of keys that are split off."""

FOLDED = (0, 3, 2**32 - 1)
"""Numbers that are folded into keys."""

KEY = 7
"""The seed of the key of `CALLS`."""

OPERANDS: dict[str, list[Any]] = {
    "logits": [0.5, -1.0, 2.0],
    "table": [[0.25, 1.5, -2.0, 0.0], [3.0, -1.0, 0.5, 1.0]],
    "weights": [0.25, 0.125, 0.625],
    "shapes": [0.25, 1.0, 2.5, 40.0],
    "means": [0.0, 0.5, 9.0, 12.0, 300.0],
    "trials": [5.0, 30.0, 1000.0, 1000.0, 10.0],
    "chances": [0.3, 0.9, 0.2, 0.001, 0.5],
    "covariance": [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 3.0]],
}

Call = Callable[[Any, Any, Any], Any]
"""Of `tensorweb.random` or `jax.random`, a key, and the operands as attributes."""

EXACT: dict[str, Call] = {
    "uniform": lambda r, key, x: r.uniform(key, (11,)),
    "uniform, powers": lambda r, key, x: r.uniform(key, (3, 5), minval=-2, maxval=2),
    "bernoulli": lambda r, key, x: r.bernoulli(key, 0.3, (50,)),
    "bernoulli, of tensors": lambda r, key, x: r.bernoulli(key, x.weights, (9, 3)),
    "digits": lambda r, key, x: r.randint(key, (20,), 0, 10),
    "from below zero": lambda r, key, x: r.randint(key, (20,), -5, 1),
    "a wide range": lambda r, key, x: r.randint(key, (3, 4), 0, 100_000),
    "a power of two": lambda r, key, x: r.randint(key, (20,), 0, 2**20),
    "all but one": lambda r, key, x: r.randint(key, (20,), -(2**31), 2**31 - 1),
    "category": lambda r, key, x: r.categorical(key, x.logits),
    "categories": lambda r, key, x: r.categorical(key, x.logits, shape=(20,)),
    "of each row": lambda r, key, x: r.categorical(key, x.table),
    "of each column": lambda r, key, x: r.categorical(key, x.table, axis=0),
    "of rows, twice": lambda r, key, x: r.categorical(key, x.table, shape=(4, 2)),
    "order": lambda r, key, x: r.permutation(key, 20),
    "order of many": lambda r, key, x: r.permutation(key, 2000)[:50],
    "order of rows": lambda r, key, x: r.permutation(key, x.table),
    "order of columns": lambda r, key, x: r.permutation(key, x.table, axis=1),
    "orders": lambda r, key, x: r.permutation(key, x.table, 1, independent=True),
    "choice": lambda r, key, x: r.choice(key, 10, (20,)),
    "choice, without": lambda r, key, x: r.choice(key, 10, (6,), replace=False),
    "elements": lambda r, key, x: r.choice(key, x.logits, (2, 3)),
    "columns": lambda r, key, x: r.choice(key, x.table, (4,), axis=1),
    "weighted": lambda r, key, x: r.choice(key, 3, (20,), p=x.weights),
    "signs": lambda r, key, x: r.rademacher(key, (20,)),
    "poisson": lambda r, key, x: r.poisson(key, x.means, (20, 5)),
    "binomial": lambda r, key, x: r.binomial(key, x.trials, x.chances, (20, 5)),
    "multinomial": lambda r, key, x: r.multinomial(key, 50.0, x.weights),
    "weighted, without": lambda r, key, x: r.choice(
        key, 3, (2,), replace=False, p=x.weights
    ),
}
"""Integers, choices and fractions: every bit is the same."""

ROUNDED: dict[str, Call] = {
    "uniform, any range": lambda r, key, x: r.uniform(key, (50,), minval=-3, maxval=7),
    "normal": lambda r, key, x: r.normal(key, (500,)),
    "normal, three axes": lambda r, key, x: r.normal(key, (2, 3, 4)),
    "truncated": lambda r, key, x: r.truncated_normal(key, -1.5, 0.5, (50,)),
    "exponential": lambda r, key, x: r.exponential(key, (50,)),
    "gumbel": lambda r, key, x: r.gumbel(key, (50,)),
    "cauchy": lambda r, key, x: r.cauchy(key, (50,)),
    "laplace": lambda r, key, x: r.laplace(key, (50,)),
    "logistic": lambda r, key, x: r.logistic(key, (50,)),
    "gamma": lambda r, key, x: r.gamma(key, x.shapes, (50, 4)),
    "logarithms of gamma": lambda r, key, x: r.loggamma(key, x.shapes, (9, 4)),
    "beta": lambda r, key, x: r.beta(key, x.shapes, 0.5, (9, 4)),
    "chisquare": lambda r, key, x: r.chisquare(key, x.shapes, (9, 4)),
    "t": lambda r, key, x: r.t(key, x.shapes, (9, 4)),
    "dirichlet": lambda r, key, x: r.dirichlet(key, x.shapes, (9,)),
    "vectors": lambda r, key, x: r.multivariate_normal(
        key, x.weights, x.covariance, (9,)
    ),
    "orthogonal": lambda r, key, x: r.orthogonal(key, 3, (2,)),
    "wide orthogonal": lambda r, key, x: r.orthogonal(key, 3, m=5),
    "ball": lambda r, key, x: r.ball(key, 3, shape=(9,)),
    "ball of a diamond": lambda r, key, x: r.ball(key, 3, 1.0, (9,)),
}
"""Functions of them, which round."""
