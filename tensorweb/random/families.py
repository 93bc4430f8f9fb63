"""Samples of the gamma and Poisson families and others, with JAX's keys and formulas.

What JAX accepts or rejects in a loop is drawn here in a fixed number of rounds at once,
with the keys of that loop: `tw.jit` and `tw.vmap` take it, and samples are JAX's but
where that loop would take more rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorweb import dtypes
from tensorweb.dtypes import DType, as_dtype, finfo
from tensorweb.errors import DTypeError, ShapeError
from tensorweb.evaluate import realize
from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    arange,
    argmax,
    asarray,
    broadcast_to,
    ceil,
    clip,
    cumulative_sum,
    exp,
    expand_dims,
    flip,
    floor,
    log,
    log1p,
    maximum,
    moveaxis,
    sign,
    sqrt,
    squeeze,
    stack,
    take_along_axis,
    tan,
    where,
    zeros,
)
from tensorweb.graph.tracing import is_tracing
from tensorweb.linalg import cholesky, diagonal, qr
from tensorweb.random.arguments import float_dtype, parameter
from tensorweb.random.distributions import (
    bernoulli,
    exponential,
    normal,
    uniform,
    uniform_between,
)
from tensorweb.random.keys import Lengths, checked_key, split
from tensorweb.shapes import Shape, as_shape, broadcast_shapes
from tensorweb.special.gamma import digamma, gammaln, stirling
from tensorweb.special.incomplete import gamma_by_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike, is_scalar
from tensorweb.transforms.custom import custom_vjp, stop_gradient
from tensorweb.transforms.vmap import vmap

GAMMA_ROUNDS = 8
"""Candidates for a gamma number; all are rejected once in 10¹⁰ numbers."""

TRIES = 2
"""Normal numbers for a candidate, of which JAX takes the first one in the domain. None
is for at most 5 of 10⁵ candidates, which are rejected then."""

COUNTED = 48
"""Terms of a sum that is counted; means are at most 10."""

REJECTED = 20
"""Candidates of transformed rejection; all are rejected once in 10¹² numbers."""


def _parameters(
    name: str,
    key: ArrayLike,
    shape: Lengths | None,
    dtype: DTypeLike,
    **given: ArrayLike,
) -> list[Tensor]:
    """Return parameters in the dtype and shape of the result, on the key's device."""
    result_dtype = float_dtype(name, dtype)
    device = checked_key(name, key).device
    like = zeros((), dtype=result_dtype, device=device)
    tensors = {
        option: asarray(x, result_dtype, device=device) if is_scalar(x) else asarray(x)
        for option, x in given.items()
    }
    common = broadcast_shapes(*[x.shape for x in tensors.values()])
    lengths = common if shape is None else as_shape(shape)
    return [
        broadcast_to(parameter(name, option, x, lengths, like), lengths)
        for option, x in tensors.items()
    ]


def _chain(key: Tensor, rounds: int, parts: int, following: int = 0) -> Tensor:
    """Return the keys of rounds, of which each splits the one that follows."""
    others = []
    for _ in range(rounds):
        keys = split(key, parts)
        key = keys[following]
        others.append(stack([keys[i] for i in range(parts) if i != following]))
    return stack(others)


def _first(is_accepted: Tensor, candidates: Tensor) -> Tensor:
    """Return the first accepted candidate along the first axis."""
    at = expand_dims(argmax(is_accepted.astype("int32"), axis=0), axis=0)
    return squeeze(take_along_axis(candidates, at, axis=0), axis=0)


def _latest(is_accepted: Tensor, candidates: Tensor) -> Tensor:
    """Return the last accepted candidate up to the round that completes the tensor.

    JAX's loop goes on until each element has one, and replaces them meanwhile.
    """
    if not math.prod(candidates.shape):
        return candidates[0]
    end = argmax(is_accepted.astype("int32"), axis=0).max()
    shape = (REJECTED, *[1] * (candidates.ndim - 1))
    number = arange(REJECTED, device=candidates.device).reshape(shape)
    fits = is_accepted & (number <= end)
    return _first(flip(fits, axis=0), flip(candidates, axis=0))


def _standard_gamma(key: ArrayLike, shapes: Tensor, is_log: bool) -> Tensor:
    """Return gamma numbers or their logarithms, without derivative.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000.
    """
    dtype = shapes.dtype
    a = shapes.reshape(-1)
    if not math.prod(a.shape):
        return shapes

    def keys_of(key: Tensor) -> tuple[Tensor, Tensor]:
        both = split(key)
        return both[1], _chain(both[0], GAMMA_ROUNDS, 3)

    def candidate(pair: Tensor) -> tuple[Tensor, Tensor]:
        tries = _chain(pair[0], TRIES, 2)
        drawn = [normal(tries[i, 0], (), dtype) for i in range(TRIES)]
        return stack(drawn), uniform(pair[1], (), dtype)

    last, pairs = vmap(keys_of)(split(key, math.prod(a.shape)))
    x, u = vmap(vmap(candidate))(moveaxis(pairs, 1, 0))
    is_small = a < 1
    d = where(is_small, a + 1, a) - 1 / 3
    v = 1 + x * expand_dims(1 / 3 / sqrt(d), axis=-1)
    x, v = (_first(moveaxis(v > 0, -1, 0), moveaxis(y, -1, 0)) for y in (x, v))
    square, cube = x * x, v * v * v
    log_cube = log(where(v > 0, cube, 1.0))
    fits = (u < 1 - 0.0331 * square * square) | (
        log(u) < 0.5 * square + d * (1 - cube + log_cube)
    )
    fits = fits & (v > 0)
    # A shape below 1 is that of one more, times a power of a uniform number.
    if is_log:
        size = -vmap(lambda key: exponential(key, (), dtype))(last)
        boost = where(is_small & (size != 0), size / a, 0.0)
        return (log(d) + _first(fits, log_cube) + boost).reshape(shapes.shape)
    rest = 1 - vmap(lambda key: uniform(key, (), dtype))(last)
    boost = where(is_small, rest ** (1 / a), 1.0)
    return (d * _first(fits, cube) * boost).reshape(shapes.shape)


def _with_derivative(
    key: ArrayLike, shapes: Tensor, is_log: bool, by_shape: Callable[..., Tensor]
) -> Tensor:
    """Return gamma numbers with their derivative by the shape."""

    def forward(a: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        sample = _standard_gamma(key, a, is_log)
        return sample, (a, stop_gradient(sample))

    def backward(both: tuple[Tensor, Tensor], cotangent: Tensor) -> tuple[Tensor]:
        return (cotangent * by_shape(*both),)

    sample: Tensor = custom_vjp(lambda a: forward(a)[0], forward, backward)(shapes)
    return sample


def gamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return samples of the gamma distribution of shape `a` and scale 1.

    The derivative by `a` is that of a quantile.

    >>> tw.random.gamma(tw.random.key(0), 2.0, (500,)).mean().round(1)
    tensor(2.)
    """
    (shapes,) = _parameters("gamma", key, shape, dtype, a=a)
    return _with_derivative(key, shapes, False, gamma_by_shape)


def _log_by_shape(a: Tensor, sample: Tensor) -> Tensor:
    """Return the derivative of the logarithm of a gamma distributed number."""
    # Where x is small its probability is x**a / gamma(a + 1).
    is_small = sample < math.log(finfo(a.dtype).eps)
    x = exp(where(is_small, 0.0, sample))
    limit = (digamma(a + 1) - sample) / a
    return where(is_small, limit, gamma_by_shape(a, x) / x)


def loggamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return logarithms of gamma samples, which a small `a` lets underflow.

    >>> bool(tw.random.loggamma(tw.random.key(0), 0.001, (9,)).min() < -100)
    True
    """
    (shapes,) = _parameters("loggamma", key, shape, dtype, a=a)
    return _with_derivative(key, shapes, True, _log_by_shape)


def beta(
    key: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return samples of the beta distribution, from two gamma samples.

    >>> tw.random.beta(tw.random.key(0), 2.0, 2.0, (500,)).mean().round(1)
    tensor(0.5)
    """
    first, second = _parameters("beta", key, shape, dtype, a=a, b=b)
    keys = split(key)
    logs = (
        loggamma(keys[0], first, dtype=dtype),
        loggamma(keys[1], second, dtype=dtype),
    )
    top = stop_gradient(maximum(*logs))
    parts = [exp(each - top) for each in logs]
    return parts[0] / (parts[0] + parts[1])


def dirichlet(
    key: ArrayLike,
    alpha: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return shares that sum up to 1: alpha `(..., k)` gives `(*shape, k)`.

    Raises:
        ShapeError: alpha is one number, or does not broadcast to the shape.

    >>> tw.random.dirichlet(tw.random.key(0), tw.ones(3), (4,)).sum(-1).round(3)
    tensor([1., 1., 1., 1.])
    """
    weights = asarray(alpha)
    if not weights.shape:
        raise ShapeError("dirichlet: alpha is one number; give one for each share.")
    before = weights.shape[:-1] if shape is None else as_shape(shape)
    logs = loggamma(key, weights, (*before, *weights.shape[-1:]), dtype)
    parts = exp(logs - stop_gradient(logs.max(-1, keepdims=True)))
    return parts / parts.sum(-1, keepdims=True)


def chisquare(
    key: ArrayLike,
    df: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return samples of the chi-square distribution of `df` degrees of freedom.

    >>> tw.random.chisquare(tw.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    (freedom,) = _parameters("chisquare", key, shape, dtype, df=df)
    return 2 * exp(loggamma(key, freedom / 2, dtype=dtype))


def t(
    key: ArrayLike,
    df: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return samples of Student's t distribution of `df` degrees of freedom.

    >>> tw.random.t(tw.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    (freedom,) = _parameters("t", key, shape, dtype, df=df)
    keys, half = split(key), freedom / 2
    drawn = normal(keys[0], freedom.shape, dtype)
    return drawn * sqrt(half / gamma(keys[1], half, dtype=dtype))


def cauchy(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the Cauchy distribution: `tan(pi (u - 1/2))`.

    >>> tw.random.cauchy(tw.random.key(0), (2,)).shape
    (2,)
    """
    return tan(math.pi * (_uniform("cauchy", key, shape, dtype, "eps") - 0.5))


def _uniform(
    name: str, key: ArrayLike, shape: Lengths, dtype: DTypeLike, least: str
) -> Tensor:
    """Return uniform numbers from a limit of the dtype to below 1."""
    result_dtype = float_dtype(name, dtype)
    low: float = getattr(finfo(result_dtype), least)
    return uniform_between(name, key, as_shape(shape), result_dtype, low, 1.0)


def laplace(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the Laplace distribution: `sign(u) log(1 - |u|)`.

    `u` is uniform in (-1, 1).

    >>> tw.random.laplace(tw.random.key(0), (2,)).shape
    (2,)
    """
    result_dtype = float_dtype("laplace", dtype)
    least = finfo(result_dtype).eps / 2 - 1
    u = uniform_between("laplace", key, as_shape(shape), result_dtype, least, 1.0)
    return sign(u) * log1p(-absolute(u))


def logistic(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_FLOAT
) -> Tensor:
    """Return samples of the logistic distribution: `log(u / (1 - u))`.

    >>> tw.random.logistic(tw.random.key(0), (2,)).shape
    (2,)
    """
    u = _uniform("logistic", key, shape, dtype, "smallest_normal")
    return log(u) - log1p(-u)


def rademacher(
    key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = dtypes.DEFAULT_INT
) -> Tensor:
    """Return -1 and 1, each with probability 1/2.

    >>> tw.random.rademacher(tw.random.key(0), (4,))
    tensor([-1, -1,  1,  1])
    """
    return 2 * bernoulli(key, 0.5, shape).astype(as_dtype(dtype)) - 1


def _drawn(keys: Tensor, shape: Shape, dtype: DType) -> Tensor:
    """Return uniform numbers of a shape for each of the keys."""
    draw: Callable[[Tensor], Tensor] = vmap(lambda key: uniform(key, shape, dtype))
    return draw(keys)


def poisson(
    key: ArrayLike,
    lam: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_INT,
) -> Tensor:
    """Return samples of the Poisson distribution of mean `lam`, integers.

    Means below 10 count uniform numbers whose product is above `exp(-lam)` (D. Knuth);
    others are W. Hörmann's transformed rejection, 1993. All is computed in float32.
    Of a mean that is NaN the sample is -1, as JAX's, in an unsigned dtype 0.

    Raises:
        DTypeError: the dtype is no integer.

    >>> tw.random.poisson(tw.random.key(0), 3.0, (5,)).shape
    (5,)
    """
    result_dtype = as_dtype(dtype)
    if result_dtype.kind not in ("int", "uint"):
        raise DTypeError(f"poisson: {result_dtype} is no integer dtype; give int32.")
    (mean,) = _parameters("poisson", key, shape, dtypes.float32, lam=lam)
    is_small = not lam >= 10 if is_scalar(lam) else (mean < 10) | (mean != mean)  # type: ignore[operator]  # a real number, as checked
    value = _by_mean(is_small, _counted_poisson, _rejected_poisson, key, mean)
    unknown = -1.0 if result_dtype.kind == "int" else 0.0
    value = where(mean == mean, value, unknown)
    return where(mean == 0, 0.0, value).astype(result_dtype)


def _by_mean(
    is_small: bool | Tensor,
    counted: Callable[..., Tensor],
    rejected: Callable[..., Tensor],
    *arguments: ArrayLike,
) -> Tensor:
    """Return numbers that are counted where the mean is small, else by rejection.

    Of a mean that is known as a Python number one algorithm is computed.
    """
    if isinstance(is_small, bool):
        return (counted if is_small else rejected)(is_small, *arguments)
    return where(
        is_small, counted(is_small, *arguments), rejected(is_small, *arguments)
    )


def _counted_poisson(is_small: ArrayLike, key: ArrayLike, mean: Tensor) -> Tensor:
    few = where(is_small, mean, 0.0)
    u = _drawn(_chain(asarray(key), COUNTED, 2)[:, 0], mean.shape, mean.dtype)
    return (cumulative_sum(log(u), axis=0) > -few).astype(mean.dtype).sum(0)


# Algorithm PTRS of Hörmann's paper, The transformed rejection method for generating
# Poisson random variables, with the constants that he fitted.
def _rejected_poisson(is_small: ArrayLike, key: ArrayLike, mean: Tensor) -> Tensor:
    many = where(is_small, 1e5, mean)
    # Step 0: the hat's parameters.
    b = 0.931 + 2.53 * sqrt(many)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze_height = 0.9277 - 3.6224 / (b - 2)  # his v_r
    # Step 1: k from u and v, accepted at once within the squeeze.
    u, v, edge = _hat(key, mean)
    k = floor((2 * a / edge + b) * u + many + 0.43)
    fits = (edge >= 0.07) & (v <= squeeze_height)
    # Step 2: rejected at once. Step 3: accepted below the density.
    is_out = (k < 0) | ((edge < 0.013) & (v > edge))
    density = -many + k * log(many) - gammaln(maximum(k, 0.0) + 1)
    size = log(v * inverse_alpha / (a / (edge * edge) + b))
    return _latest(fits | ~is_out & (size <= density), k)


def _hat(key: ArrayLike, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return Hörmann's u, v and us of each candidate."""
    keys = _chain(asarray(key), REJECTED, 3)
    u = _drawn(keys[:, 0], like.shape, like.dtype) - 0.5
    return u, _drawn(keys[:, 1], like.shape, like.dtype), 0.5 - absolute(u)


def binomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return counts of successes among `n` trials of probability `p`, as floats.

    Means up to 10 sum geometric numbers; others are W. Hörmann's BTRS, 1993.

    >>> tw.random.binomial(tw.random.key(0), 10, 0.5, (5,)).shape
    (5,)
    """
    count, chance = _parameters("binomial", key, shape, dtype, n=n, p=p)
    count = floor(count)
    q = where(chance < 0.5, chance, 1 - chance)
    is_small: bool | Tensor = count * q <= 10
    if is_scalar(n) and is_scalar(p):
        is_small = math.floor(float(n)) * min(float(p), 1 - float(p)) <= 10  # type: ignore[arg-type]  # real numbers, as checked
    value = _by_mean(is_small, _counted_binomial, _rejected_binomial, key, count, q)
    value = where(chance < 0.5, value, count - value)
    return where((count >= 0) & (chance >= 0) & (chance <= 1), value, math.nan)


def _counted_binomial(
    is_small: ArrayLike, key: ArrayLike, count: Tensor, q: Tensor
) -> Tensor:
    u = _drawn(_chain(asarray(key), COUNTED, 2, 1)[:, 0], count.shape, count.dtype)
    gaps = ceil(log(u) / log1p(-q))
    few = where(is_small, count, 0.0)
    return (cumulative_sum(gaps, axis=0) <= few).astype(count.dtype).sum(0)


def _rejected_binomial(
    is_small: ArrayLike, key: ArrayLike, count: Tensor, q: Tensor
) -> Tensor:
    total, q = where(is_small, 1e4, count), where(is_small, 0.5, q)
    spread = sqrt(total * q * (1 - q))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    odds, m = q / (1 - q), floor((total + 1) * q)
    u, v, edge = _hat(key, count)
    k = floor((2 * a / edge + b) * u + total * q + 0.5)
    is_out = (k < 0) | (k > total)
    safe = clip(k, 0.0, None)
    safe = where(safe > total, total, safe)
    density = (
        (m + 0.5) * log((m + 1) / (odds * (total - m + 1)))
        + (total + 1) * log((total - m + 1) / (total - safe + 1))
        + (safe + 0.5) * log(odds * (total - safe + 1) / (safe + 1))
        + (stirling(m + 1) + stirling(total - m + 1))
        - (stirling(safe + 1) + stirling(total - safe + 1))
    )
    size = log(v * ((2.83 + 5.1 / b) * spread) / (a / (edge * edge) + b))
    fits = (edge >= 0.07) & (v <= 0.92 - 4.2 / b)
    return _latest(fits | ~is_out & (size <= density), k)


def multinomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return how often each category comes in `n` draws: p `(..., k)` gives that shape.

    One binomial number of the remaining draws for each category.

    >>> tw.random.multinomial(tw.random.key(0), 10, tw.asarray([0.5, 0.5])).sum()
    tensor(10.)
    """
    chances = asarray(p)
    lengths = chances.shape if shape is None else as_shape(shape)
    (chances,) = _parameters("multinomial", key, lengths, dtype, p=chances)
    (left,) = _parameters("multinomial", key, lengths[:-1], dtype, n=n)
    rest = flip(cumulative_sum(flip(chances, axis=-1), axis=-1), axis=-1)
    ratios = clip(chances / where(rest == 0, 1.0, rest), 0.0, 1.0)
    keys, counts = split(key, lengths[-1]), []
    for i in range(lengths[-1]):
        counts.append(binomial(keys[i], left, ratios[..., i], dtype=dtype))
        left = left - counts[-1]
        if not is_tracing():  # Kernels of equal steps are planned once.
            realize([left.node, counts[-1].node])
    return stack(counts, axis=-1)


def multivariate_normal(
    key: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: Lengths | None = None,
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return normal vectors `mean + L n`, where L is Cholesky's factor of `cov`.

    Args:
        key: uint32 of shape (2,).
        mean: of shape `(..., n)`.
        cov: positive definite, of shape `(..., n, n)`.
        shape: of the vectors; None for the common shape of the batches.
        dtype: of the result, a float.

    Raises:
        ShapeError: mean and covariance do not fit.

    >>> tw.random.multivariate_normal(
    ...     tw.random.key(0), tw.zeros(2), tw.eye(2), (5,)
    ... ).shape
    (5, 2)
    """
    result_dtype = float_dtype("multivariate_normal", dtype)
    center, matrix = (asarray(x).astype(result_dtype) for x in (mean, cov))
    length = center.shape[-1:]
    if not length or matrix.shape[-2:] != length * 2:
        raise ShapeError(
            f"multivariate_normal: a mean of shape {center.shape} and a covariance of "
            f"shape {matrix.shape} do not fit; give (..., n) and (..., n, n)."
        )
    common = broadcast_shapes(center.shape[:-1], matrix.shape[:-2])
    before = common if shape is None else as_shape(shape)
    drawn = expand_dims(normal(key, (*before, *length), result_dtype), axis=-1)
    return center + squeeze(cholesky(matrix) @ drawn, axis=-1)


def orthogonal(
    key: ArrayLike,
    n: int,
    shape: Lengths = (),
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    m: int | None = None,
) -> Tensor:
    """Return matrices with orthogonal columns, evenly distributed: `(*shape, n, m)`.

    With m above n the rows are orthogonal.

    >>> q = tw.random.orthogonal(tw.random.key(0), 3)
    >>> bool((tw.abs(q @ q.mT - tw.eye(3)) < 1e-6).all())
    True
    """
    most, least = (n, n) if m is None else (max(n, m), min(n, m))
    q, r = qr(normal(key, (*as_shape(shape), most, least), dtype))
    signed = q * expand_dims(sign(diagonal(r)), axis=-2)
    return signed.mT if m is not None and n < m else signed


def ball(
    key: ArrayLike,
    d: int,
    p: float = 2,
    shape: Lengths = (),
    dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
) -> Tensor:
    """Return points of the ball of p-norm 1 in d dimensions: `(*shape, d)`.

    F. Barthe and others, A probabilistic approach to the geometry of the l_p^n-ball,
    2005.

    >>> bool((tw.random.ball(tw.random.key(0), 3, shape=(9,)) ** 2).sum(-1).max() < 1)
    True
    """
    lengths = as_shape(shape)
    keys = split(key)
    parts = split(keys[0])
    size = gamma(parts[0], 1 / p, (*lengths, d), dtype)
    signs = rademacher(parts[1], (*lengths, d), dtype)
    edge = exponential(keys[1], lengths, dtype)
    total = (size.sum(-1) + edge) ** (1 / p)
    return signs * size ** (1 / p) / expand_dims(total, axis=-1)
