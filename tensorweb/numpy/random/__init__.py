"""Random numbers under NumPy's names, from a hidden key that `seed` begins anew.

The distributions are NumPy's, the numbers are not: they are those of `tw.random`, the
same on every device. A recorded function cannot draw from here; give it a key.

>>> np.random.seed(0)
>>> np.random.randint(0, 10, 3).shape
(3,)
"""

from tensorweb.numpy.random.generator import Generator as Generator
from tensorweb.numpy.random.generator import RandomState as RandomState
from tensorweb.numpy.random.generator import default_rng as default_rng
from tensorweb.public_names import declare_package as _declare_package

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

_declare_package(__name__)
