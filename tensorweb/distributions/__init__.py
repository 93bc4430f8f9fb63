"""Probability distributions with PyTorch's names: samples, densities, divergences.

Parameters broadcast to `batch_shape`, a shape of independent distributions; a sample of
one has `event_shape`, `()` but for vectors. Values of parameters are not checked.
`sample` draws from `rng`, by default the program's generator, and has no derivative;
`rsample` is a differentiable function of the parameters.

>>> normal = tw.distributions.Normal(tw.zeros(3), 1.0)
>>> normal.log_prob(normal.sample((2,))).shape
(2, 3)
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.distributions.compound import (
    AffineTransform,
    ExpTransform,
    MixtureSameFamily,
    SigmoidTransform,
    TanhTransform,
    Transform,
    TransformedDistribution,
)
from tensorweb.distributions.continuous import (
    Exponential,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from tensorweb.distributions.counts import (
    Binomial,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
)
from tensorweb.distributions.discrete import Bernoulli, Categorical
from tensorweb.distributions.distribution import Distribution, Independent
from tensorweb.distributions.divergence import kl_divergence
from tensorweb.distributions.families import (
    Beta,
    Chi2,
    Dirichlet,
    Gamma,
    HalfCauchy,
    HalfNormal,
    StudentT,
)
from tensorweb.distributions.quantiles import (
    Cauchy,
    Gumbel,
    InverseGamma,
    Pareto,
    Weibull,
)
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "Pareto",
    "Poisson",
    "SigmoidTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "kl_divergence",
]

_answer_torch_words(globals(), __all__)

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of PyTorch with what there is."""
        raise _unknown("tensorweb.distributions", name, __all__)
