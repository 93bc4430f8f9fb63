"""Distributions of floats by NumPy's names, drawn from a hidden key; a mixin.

Formulas of uniform and normal numbers stay on the device. Numbers of the gamma family
are accepted or rejected in rounds that are all drawn at once.
"""

from __future__ import annotations

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.random.sampling import (
    Hidden,
    Size,
    as_parameter,
    check,
    sample_shape,
    scaled,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

ROUNDS = 8
"""Candidates for a number of the gamma family; all fail once in 10¹⁰ numbers."""


class Distributions(Hidden):
    """Samples of distributions; `size` is their shape, parameters broadcast to it."""

    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers from `low` up to and without `high`, all as likely.

        >>> np.random.uniform(-1, 1, (2, 3)).shape
        (2, 3)
        """
        u = self._uniform(sample_shape("uniform", size, low, high))
        first = as_parameter(low, u)
        return u * (as_parameter(high, u) - first) + first

    def normal(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return normally distributed numbers of mean `loc` and deviation `scale`.

        >>> np.random.normal(0, 1, 4).dtype
        tensorweb.float32
        """
        check("normal", "scale", scale, 0, tw.inf)
        z = self._draw().normal(sample_shape("normal", size, loc, scale))
        return scaled(z, loc, scale)

    def standard_normal(
        self, size: Size = None, dtype: DTypeLike = "float32", out: None = None
    ) -> Tensor:
        """Return normally distributed numbers of mean 0 and deviation 1.

        Raises:
            DataError: `out` is given.

        >>> np.random.standard_normal(3).shape
        (3,)
        """
        if out is not None:
            raise DataError("standard_normal: out= is not possible; write x[...] =")
        return self._draw().normal(sample_shape("standard_normal", size), dtype)

    def exponential(self, scale: ArrayLike = 1.0, size: Size = None) -> Tensor:
        """Return exponentially distributed numbers of mean `scale`.

        >>> bool(np.all(np.random.exponential(2.0, 50) >= 0))
        True
        """
        check("exponential", "scale", scale, 0, tw.inf)
        sample = self._draw().exponential(sample_shape("exponential", size, scale))
        return sample * as_parameter(scale, sample)

    def standard_exponential(self, size: Size = None) -> Tensor:
        """Return exponentially distributed numbers of mean 1.

        >>> np.random.standard_exponential(3).shape
        (3,)
        """
        return self.exponential(1.0, size)

    def gumbel(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers of the Gumbel distribution.

        >>> np.random.gumbel(size=3).shape
        (3,)
        """
        sample = self._draw().gumbel(sample_shape("gumbel", size, loc, scale))
        return scaled(sample, loc, scale)

    def laplace(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers of the Laplace distribution.

        >>> np.random.laplace(size=3).shape
        (3,)
        """
        shape = sample_shape("laplace", size, loc, scale)
        sign = tw.where(self._uniform(shape) < 0.5, -1.0, 1.0)
        return scaled(sign * self._draw().exponential(shape), loc, scale)

    def logistic(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers of the logistic distribution.

        >>> np.random.logistic(size=3).shape
        (3,)
        """
        shape = sample_shape("logistic", size, loc, scale)
        sample = self._draw().gumbel(shape) - self._draw().gumbel(shape)
        return scaled(sample, loc, scale)

    def lognormal(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers whose logarithms are normally distributed.

        >>> np.random.lognormal(size=3).shape
        (3,)
        """
        return tw.exp(self.normal(mean, sigma, size))

    def rayleigh(self, scale: ArrayLike = 1.0, size: Size = None) -> Tensor:
        """Return numbers of the Rayleigh distribution.

        >>> np.random.rayleigh(size=3).shape
        (3,)
        """
        sample = tw.sqrt(2.0 * self.exponential(1.0, sample_shape("", size, scale)))
        return sample * as_parameter(scale, sample)

    def weibull(self, a: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers of the Weibull distribution of shape `a`.

        >>> np.random.weibull(2.0, 3).shape
        (3,)
        """
        sample, exponent = self._exponential("weibull", size, a)
        return sample ** (1.0 / exponent)

    def pareto(self, a: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers of the Pareto (Lomax) distribution of shape `a`.

        >>> np.random.pareto(2.0, 3).shape
        (3,)
        """
        sample, exponent = self._exponential("pareto", size, a)
        return tw.expm1(sample / exponent)

    def power(self, a: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers from 0 to 1 of density `a x**(a - 1)`.

        >>> np.random.power(2.0, 3).shape
        (3,)
        """
        sample, exponent = self._exponential("power", size, a)
        return tw.exp(-sample / exponent)

    def standard_cauchy(self, size: Size = None) -> Tensor:
        """Return numbers of the Cauchy distribution.

        >>> np.random.standard_cauchy(3).shape
        (3,)
        """
        shape = sample_shape("standard_cauchy", size)
        return self._draw().normal(shape) / self._draw().normal(shape)

    def triangular(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None
    ) -> Tensor:
        """Return numbers from `left` to `right`, those near `mode` most likely.

        >>> np.random.triangular(0, 1, 3, 5).shape
        (5,)
        """
        u = self._uniform(sample_shape("triangular", size, left, mode, right))
        a, c, b = as_parameter(left, u), as_parameter(mode, u), as_parameter(right, u)
        rising = a + tw.sqrt(u * ((b - a) * (c - a)))
        falling = b - tw.sqrt((1.0 - u) * ((b - a) * (b - c)))
        return tw.where(u * (b - a) < c - a, rising, falling)

    def standard_gamma(self, shape: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers of the gamma distribution of a shape and scale 1.

        Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.

        >>> np.random.standard_gamma(2.0, 3).shape
        (3,)
        """
        check("standard_gamma", "shape", shape, 0, tw.inf)
        lengths = sample_shape("standard_gamma", size, shape)
        z = self._draw().normal((ROUNDS, *lengths))
        u = 1.0 - self._uniform((ROUNDS, *lengths))  # never 0, whose logarithm is -inf
        a = as_parameter(shape, z)
        d = tw.where(a < 1, a + 1.0, a) - 1.0 / 3.0
        v = 1.0 + z / tw.sqrt(9.0 * d)
        cube = v * v * v
        fits = tw.log(u) < 0.5 * z * z + d - d * cube + d * tw.log(
            tw.maximum(cube, 1e-30)
        )
        first = tw.argmax((fits & (v > 0)).astype("int32"), 0)
        sample = d * tw.take_along_axis(cube, first[None], 0)[0]
        # A shape below 1 is that of one more, times a power of a uniform number.
        power = tw.exp(-self._draw().exponential(lengths) / tw.where(a == 0, 1.0, a))
        sample = tw.where(a < 1, sample * power, sample)
        return tw.where(a == 0, 0.0, sample)

    def gamma(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None
    ) -> Tensor:
        """Return numbers of the gamma distribution of a shape and a scale.

        >>> np.random.gamma(2.0, 3.0, 4).shape
        (4,)
        """
        lengths = sample_shape("gamma", size, shape, scale)
        sample = self.standard_gamma(shape, lengths)
        return sample * as_parameter(scale, sample)

    def beta(self, a: ArrayLike, b: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers from 0 to 1 of the beta distribution.

        >>> np.random.beta(2.0, 3.0, 4).shape
        (4,)
        """
        lengths = sample_shape("beta", size, a, b)
        first, second = self.standard_gamma(a, lengths), self.standard_gamma(b, lengths)
        return first / (first + second)

    def chisquare(self, df: ArrayLike, size: Size = None) -> Tensor:
        """Return sums of `df` squares of normally distributed numbers.

        >>> np.random.chisquare(3, 4).shape
        (4,)
        """
        half = df / 2 if isinstance(df, int | float) else tw.asarray(df) / 2
        return 2.0 * self.standard_gamma(half, size)

    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None) -> Tensor:
        """Return ratios of mean squares of normally distributed numbers.

        >>> np.random.f(2, 9, 4).shape
        (4,)
        """
        lengths = sample_shape("f", size, dfnum, dfden)
        top, bottom = self.chisquare(dfnum, lengths), self.chisquare(dfden, lengths)
        return top / as_parameter(dfnum, top) / (bottom / as_parameter(dfden, top))

    def standard_t(self, df: ArrayLike, size: Size = None) -> Tensor:
        """Return numbers of Student's t distribution.

        >>> np.random.standard_t(5, 4).shape
        (4,)
        """
        lengths = sample_shape("standard_t", size, df)
        z = self._draw().normal(lengths)
        return z / tw.sqrt(self.chisquare(df, lengths) / as_parameter(df, z))

    def dirichlet(self, alpha: ArrayLike, size: Size = None) -> Tensor:
        """Return shares that sum up to 1: `(k,)` gives `(*size, k)`.

        >>> np.random.dirichlet([1.0, 2.0, 3.0], 4).shape
        (4, 3)
        """
        alpha = tw.asarray(alpha)
        parts = self.standard_gamma(alpha, (*sample_shape("", size), *alpha.shape))
        return parts / parts.sum(-1, keepdims=True)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
    ) -> Tensor:
        """Return normal vectors of a mean `(k,)` and covariances `(k, k)`.

        The covariances are not checked; they must be positive definite.

        Raises:
            ShapeError: mean and covariances do not fit.

        >>> np.random.multivariate_normal([0, 0], [[2, 0], [0, 1]], 5).shape
        (5, 2)
        """
        means = tw.asarray(mean).astype("float32")
        covariances = tw.asarray(cov).astype("float32")
        if covariances.shape != (means.size, means.size):
            raise ShapeError(
                f"multivariate_normal: covariances of shape {covariances.shape} for a "
                f"mean of shape {means.shape}."
            )
        z = self._draw().normal((*sample_shape("", size), means.size))
        return tw.matmul(z, tw.matrix_transpose(_root(covariances))) + means


def _root(matrix: Tensor) -> Tensor:
    """Return Cholesky's lower triangle L, with L Lᵀ the matrix, column by column."""
    length = matrix.shape[0]
    root = tw.zeros_like(matrix)
    for i in range(length):
        done = root[:, :i]
        column = matrix[:, i] - tw.matmul(done, done[i])
        scaled = column / tw.sqrt(tw.maximum(column[i], 1e-30))
        below = tw.where(tw.arange(length, device=matrix.device) >= i, scaled, 0.0)
        root = tw.concat([done, below[:, None], root[:, i + 1 :]], 1)
    return root
