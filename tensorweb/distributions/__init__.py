"""Probability distributions with PyTorch's names: samples, densities, divergences.

Parameters broadcast to `batch_shape`, a shape of independent distributions; a sample of
one has `event_shape`, `()` but for vectors. Values of parameters are not checked.
`sample` draws from `rng`, by default the program's generator, and has no derivative;
`rsample` is a differentiable function of the parameters.

>>> normal = tw.distributions.Normal(tw.zeros(3), 1.0)
>>> normal.log_prob(normal.sample((2,))).shape
(2, 3)
"""

from tensorweb.distributions.compound import *
from tensorweb.distributions.continuous import *
from tensorweb.distributions.discrete import *
from tensorweb.distributions.distribution import *
from tensorweb.distributions.divergence import *
from tensorweb.distributions.families import *
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_answer_torch_words(globals(), _declare_package(__name__))
