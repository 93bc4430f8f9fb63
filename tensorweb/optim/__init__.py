"""Optimisers, functional (`init`, `update`) or in place (`step`), as in PyTorch.

Learning rates and step counts are tensors, so that `jit` records a step once.

>>> params = {"w": tw.asarray([3.0, -2.0])}
>>> opt = tw.optim.Adam(lr=0.5)
>>> state = opt.init(params)
>>> for _ in range(60):
...     grads = tw.grad(lambda p: (p["w"] ** 2).sum())(params)
...     params, state = opt.update(params, grads, state)
>>> bool(tw.all(tw.abs(params["w"]) < 0.1))
True
"""

from tensorweb.optim import lr_scheduler as lr_scheduler
from tensorweb.optim import optax as optax
from tensorweb.optim.clipping import *
from tensorweb.optim.combination import *
from tensorweb.optim.lbfgs import LBFGS as LBFGS
from tensorweb.optim.matrix_optimizers import *
from tensorweb.optim.optimizer import Optimizer as Optimizer
from tensorweb.optim.optimizers import *
from tensorweb.optim.schedules import *
from tensorweb.optim.state import State as State
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_answer_torch_words(globals(), _declare_package(__name__, "lr_scheduler", "optax"))
