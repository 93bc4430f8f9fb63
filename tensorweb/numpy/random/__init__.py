"""Random numbers under NumPy's names, from a hidden key that `seed` begins anew.

The distributions are NumPy's, the numbers are not: they are those of `tw.random`, the
same on every device. A recorded function cannot draw from here; give it a key.

>>> np.random.seed(0)
>>> np.random.randint(0, 10, 3).shape
(3,)
"""

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.numpy.random.generator import Generator as Generator
from tensorweb.numpy.random.generator import RandomState as RandomState
from tensorweb.numpy.random.generator import default_rng as default_rng

_state = RandomState()

beta = _state.beta
binomial = _state.binomial
bytes = _state.bytes
chisquare = _state.chisquare
choice = _state.choice
dirichlet = _state.dirichlet
exponential = _state.exponential
f = _state.f
gamma = _state.gamma
geometric = _state.geometric
gumbel = _state.gumbel
hypergeometric = _state.hypergeometric
laplace = _state.laplace
logistic = _state.logistic
lognormal = _state.lognormal
multinomial = _state.multinomial
multivariate_normal = _state.multivariate_normal
negative_binomial = _state.negative_binomial
normal = _state.normal
pareto = _state.pareto
permutation = _state.permutation
poisson = _state.poisson
power = _state.power
rand = _state.rand
randint = _state.randint
randn = _state.randn
random = ranf = sample = random_sample = _state.random_sample
rayleigh = _state.rayleigh
seed = _state.seed
shuffle = _state.shuffle
standard_cauchy = _state.standard_cauchy
standard_exponential = _state.standard_exponential
standard_gamma = _state.standard_gamma
standard_normal = _state.standard_normal
standard_t = _state.standard_t
triangular = _state.triangular
uniform = _state.uniform
weibull = _state.weibull

if not _typing.TYPE_CHECKING:  # Type checkers take every public name.
    __all__ = sorted(
        name
        for name, value in globals().items()
        if callable(value) and not name.startswith("_")
    )

    # A type checker shall find names that do not exist.
    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name that is not here."""
        raise _unknown("tensorweb.numpy.random", name, __all__)
