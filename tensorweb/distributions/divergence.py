"""The divergence of two distributions of one class."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorweb.distributions.continuous import (
    Exponential,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
    half_log_det,
    squared,
)
from tensorweb.distributions.discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from tensorweb.distributions.distribution import Distribution, Independent
from tensorweb.distributions.families import (
    Beta,
    Chi2,
    Dirichlet,
    Gamma,
    HalfNormal,
)
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import abs as absolute
from tensorweb.functions import exp, log, log1p, where
from tensorweb.functions import sum as sum_of
from tensorweb.linalg import solve_triangular
from tensorweb.public_names import declare_public
from tensorweb.special.entropy import kl_div
from tensorweb.special.gamma import betaln, digamma, gammaln
from tensorweb.tensor import Tensor


def _of_normals(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - log(ratio))


def _of_laplaces(p: Laplace, q: Laplace) -> Tensor:
    distance = absolute(p.loc - q.loc)
    ratio = p.scale / q.scale
    near = ratio * exp(-distance / p.scale)
    return -log(ratio) + distance / q.scale + near - 1


def _of_uniforms(p: Uniform, q: Uniform) -> Tensor:
    is_inside = (q.low <= p.low) & (p.high <= q.high)
    return where(is_inside, log((q.high - q.low) / (p.high - p.low)), math.inf)


def _of_exponentials(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - log(ratio)


def _of_bernoullis(p: Bernoulli, q: Bernoulli) -> Tensor:
    return p.log_prob(p.probs) - q.log_prob(p.probs)


def _of_categories(p: Categorical, q: Categorical) -> Tensor:
    if p.logits.shape[-1] != q.logits.shape[-1]:
        raise ShapeError(
            f"kl_divergence: distributions of {p.logits.shape[-1]} and "
            f"{q.logits.shape[-1]} categories; they must have the same ones."
        )
    return sum_of(where(p.probs > 0, p.probs * (p.logits - q.logits), 0.0), axis=-1)


def _of_vectors(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    ratio = solve_triangular(q.scale_tril, p.scale_tril, lower=True)
    trace = sum_of(ratio**2, axis=(-2, -1))
    distance = squared(q.scale_tril, p.loc - q.loc)
    size = half_log_det(q.scale_tril) - half_log_det(p.scale_tril)
    return size + 0.5 * (trace + distance - p.event_shape[0])


def _of_gammas(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    size = b * log(p.rate / q.rate) + gammaln(b) - gammaln(a)
    return size + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


def _of_betas(p: Beta, q: Beta) -> Tensor:
    a, b = p.concentration1, p.concentration0
    c, d = q.concentration1, q.concentration0
    size = betaln(c, d) - betaln(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b)
    return size + (c + d - a - b) * digamma(a + b)


def _of_shares(p: Dirichlet, q: Dirichlet) -> Tensor:
    a = p.concentration
    change = digamma(a) - digamma(a.sum(axis=-1, keepdims=True))
    moved = sum_of((a - q.concentration) * change, axis=-1)
    return q.log_normalizer() - p.log_normalizer() + moved


def _of_halves(p: HalfNormal, q: HalfNormal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - log(ratio))


def _of_geometrics(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - log1p(-q.probs) / p.probs - q.logits


_DIVERGENCES: dict[type[Distribution], Callable[[Any, Any], Tensor]] = {
    Normal: _of_normals,
    LogNormal: lambda p, q: _of_normals(p.base, q.base),
    Laplace: _of_laplaces,
    Uniform: _of_uniforms,
    Exponential: _of_exponentials,
    Bernoulli: _of_bernoullis,
    Categorical: _of_categories,
    MultivariateNormal: _of_vectors,
    Gamma: _of_gammas,
    Chi2: _of_gammas,
    Beta: _of_betas,
    Dirichlet: _of_shares,
    HalfNormal: _of_halves,
    Poisson: lambda p, q: kl_div(p.rate, q.rate),
    Geometric: _of_geometrics,
    OneHotCategorical: _of_categories,
}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence of `p` from `q`.

    Args:
        p: a distribution.
        q: another one of the same class.

    Returns:
        In nats; the batch shapes broadcast.

    Raises:
        DataError: the classes differ.
        ShapeError: the shapes do not broadcast.

    >>> normal = tw.distributions.Normal
    >>> tw.distributions.kl_divergence(normal(1.0, 1.0), normal(0.0, 1.0))
    tensor(0.5)
    """
    if isinstance(p, Independent) and isinstance(q, Independent):
        if p.ndims != q.ndims:
            raise ShapeError(
                f"kl_divergence: {p.ndims} and {q.ndims} axes of a batch belong to a "
                "sample; their count must be equal."
            )
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    rule = _DIVERGENCES.get(type(p))
    if rule is None or type(p) is not type(q):
        raise DataError(
            f"kl_divergence: there is no formula for {type(p).__name__} and "
            f"{type(q).__name__}; average p.log_prob(x) - q.log_prob(x) over samples."
        )
    return rule(p, q)


declare_public(__name__)
