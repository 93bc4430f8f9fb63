"""Distributions of whole numbers by NumPy's names; a mixin of generators."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.random import tables
from tensorweb.numpy.random.hidden import Hidden
from tensorweb.numpy.random.shapes import (
    Size,
    beside,
    check,
    is_plain,
    sample_shape,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

ROUNDED = 1e-12
"""By how much probabilities may exceed 1 together, as in NumPy."""


class Counts(Hidden):
    """Samples of whole numbers; `size` is their shape, parameters broadcast to it."""

    def geometric(self, p: ArrayLike, size: Size = None) -> Tensor:
        """Return how many trials it takes to the first success of probability `p`.

        >>> bool(np.all(np.random.geometric(0.3, 50) >= 1))
        True
        """
        check("geometric", "p", p, 0, 1)
        e = self._draw().exponential(sample_shape("geometric", size, p))
        trials = tw.ceil(e / -tw.log1p(-beside(p, e)))
        return tw.maximum(trials, 1.0).astype("int32")

    def poisson(self, lam: ArrayLike = 1.0, size: Size = None) -> Tensor:
        """Return numbers of events, `lam` on average; parameters in tensors are read.

        >>> np.random.poisson(3.0, 4).dtype
        tensorweb.int32
        """
        return self._counted("poisson", tables.poisson, size, lam)

    def binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> Tensor:
        """Return how many of `n` trials succeed; parameters in tensors are read.

        >>> np.random.binomial(10, 0.5, 4).shape
        (4,)
        """
        return self._counted("binomial", tables.binomial, size, n, p)

    def negative_binomial(
        self, n: ArrayLike, p: ArrayLike, size: Size = None
    ) -> Tensor:
        """Return how many trials fail before the n-th success; tensors are read.

        >>> np.random.negative_binomial(3, 0.5, 4).shape
        (4,)
        """
        return self._counted("negative_binomial", tables.negative_binomial, size, n, p)

    def hypergeometric(
        self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None
    ) -> Tensor:
        """Return how many of a sample are good ones; parameters in tensors are read.

        >>> np.random.hypergeometric(10, 5, 3, 4).shape
        (4,)
        """
        return self._counted(
            "hypergeometric", tables.hypergeometric, size, ngood, nbad, nsample
        )

    def _counted(
        self,
        name: str,
        table: Callable[..., tables.Table],
        size: Size,
        *parameters: ArrayLike,
    ) -> Tensor:
        """Return whole numbers by their summed probabilities."""
        u = self._uniform(sample_shape(name, size, *parameters))
        if is_plain(*parameters):
            first, sums = table(*parameters)
            edges = tw.asarray(sums[:-1], dtype=u.dtype, device=u.device)
            return tw.searchsorted(edges, u, side="right") + first
        columns = [
            tw.broadcast_to(tw.asarray(each, device=_near(each, u)), u.shape)
            .reshape(-1)
            .tolist()
            for each in parameters
        ]
        found = []
        for share, *values in zip(u.reshape(-1).tolist(), *columns, strict=True):
            first, sums = table(*values)
            found.append(first + bisect.bisect_right(sums, share, 0, len(sums) - 1))
        return tw.asarray(found, dtype="int32", device=u.device).reshape(u.shape)

    def multinomial(self, n: int, pvals: ArrayLike, size: Size = None) -> Tensor:
        """Return how often each outcome occurs in `n` trials: `(k,)` to `(*size, k)`.

        The last outcome has what the others leave of 1, whatever is said of it.

        Raises:
            ShapeError: `pvals` are not 1-D, or none.
            DataError: plain numbers are negative, or all but the last above 1 together.

        >>> int(np.random.multinomial(20, [0.2, 0.3, 0.5]).sum())
        20
        """
        chances = tw.asarray(pvals).astype("float32")
        if chances.ndim != 1 or not chances.size:
            raise ShapeError(
                f"multinomial: pvals have shape {chances.shape}; give them in 1-D."
            )
        if isinstance(pvals, list | tuple) and is_plain(*pvals):
            least, most = min(pvals), math.fsum(pvals[:-1])
            if least < 0 or most > 1 + ROUNDED:
                raise DataError(
                    f"multinomial: pvals are {pvals}; they are 0 or more, and all but "
                    "the last one together at most 1."
                )
        last = tw.maximum(1.0 - chances[:-1].sum(), 0.0)
        chances = tw.concat([chances[:-1], last.reshape(1)])
        shape = sample_shape("multinomial", size)
        drawn = self._draw().choice(
            chances.size, (*shape, n), p=chances / chances.sum()
        )
        outcomes = tw.arange(chances.size, device=drawn.device)
        return (drawn[..., None] == outcomes).astype("int32").sum(-2)


def _near(value: ArrayLike, x: Tensor) -> str | None:
    """Return where host data goes: beside a tensor."""
    return None if isinstance(value, Tensor) else x.device
