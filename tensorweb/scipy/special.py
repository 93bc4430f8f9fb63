"""Special functions with SciPy's names, for tensors of floats.

Operands broadcast, integers and numbers become float32; the elements of the result are
as exact as each function says for float32 and, on `cpu`, float64, and float16 is
computed in float32. All have derivatives, under `tw.vmap` and `tw.jit` as well.

>>> factorial(5), tw.grad(gammainc, 1)(1.0, 0.0)
(tensor(120.), tensor(1.))
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.functions import erf, erfinv
from tensorweb.functions import sigmoid as expit
from tensorweb.scipy.exponentials import log_softmax, logsumexp, softmax
from tensorweb.special.bessel import i0, i0e, i1, i1e, sinc
from tensorweb.special.entropy import entr, kl_div, logit, rel_entr, xlog1py, xlogy
from tensorweb.special.gamma import (
    beta,
    betaln,
    comb,
    digamma,
    factorial,
    gamma,
    gammaln,
    polygamma,
    zeta,
)
from tensorweb.special.incomplete import betainc, gammainc, gammaincc
from tensorweb.special.normal import erfc, log_ndtr, ndtr, ndtri

__all__ = [
    "beta",
    "betainc",
    "betaln",
    "comb",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "rel_entr",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of SciPy with what there is."""
        raise _unknown("tensorweb.scipy.special", name, __all__)
