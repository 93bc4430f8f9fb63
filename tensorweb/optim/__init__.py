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

import typing as _typing

from tensorweb.advice import unknown as _unknown
from tensorweb.optim import lr_scheduler, optax
from tensorweb.optim.clipping import (
    clip_by_global_norm,
    clip_grad_norm_,
    clip_grad_value_,
)
from tensorweb.optim.combination import (
    MultiSteps,
    incremental_update,
    masked,
    multi_transform,
)
from tensorweb.optim.lbfgs import LBFGS
from tensorweb.optim.matrix_optimizers import Adafactor, Muon
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.optimizers import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    NAdam,
    RAdam,
    RMSprop,
)
from tensorweb.optim.schedules import (
    constant,
    cosine,
    exponential,
    linear,
    multistep,
    one_cycle,
    step_decay,
    warm_restarts,
    warmup_cosine,
)
from tensorweb.optim.state import State
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "MultiSteps",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "State",
    "clip_by_global_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "constant",
    "cosine",
    "exponential",
    "incremental_update",
    "linear",
    "lr_scheduler",
    "masked",
    "multi_transform",
    "multistep",
    "one_cycle",
    "optax",
    "step_decay",
    "warm_restarts",
    "warmup_cosine",
]

_answer_torch_words(globals(), __all__)

if not _typing.TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _typing.NoReturn:
        """Answer a name of PyTorch or Optax with what to write here."""
        raise _unknown("tensorweb.optim", name, __all__)
