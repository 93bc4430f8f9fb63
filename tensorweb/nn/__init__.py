"""Networks: modules that are values, layers by PyTorch's names, losses.

A module is a tree of tensors: `tw.grad`, `tw.jit` and `tw.vmap` take it as one value,
and `loss.backward()` reaches its parameters after `model.requires_grad_()`.

>>> model = Sequential(Linear(2, 8), Tanh(), Linear(8, 1))
>>> loss = lambda model: mse(model(tw.ones((4, 2))), tw.zeros((4, 1)))
>>> tw.grad(loss)(model)[0].weight.shape
(8, 2)
"""

import typing as _typing
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from tensorweb.advice import unknown as _unknown
from tensorweb.nn import functional, init
from tensorweb.nn.activation_layers import *
from tensorweb.nn.activations import *
from tensorweb.nn.adaptive_pooling import *
from tensorweb.nn.affine import *
from tensorweb.nn.attention_layers import *
from tensorweb.nn.batch_statistics import *
from tensorweb.nn.classification import *
from tensorweb.nn.containers import *
from tensorweb.nn.convolution import *
from tensorweb.nn.dropout_layers import *
from tensorweb.nn.images import *
from tensorweb.nn.lazy import *
from tensorweb.nn.losses import *
from tensorweb.nn.margins import *
from tensorweb.nn.module import *
from tensorweb.nn.normalization import *
from tensorweb.nn.padding_layers import *
from tensorweb.nn.pooling import *
from tensorweb.nn.recurrent import *
from tensorweb.nn.transformers import *
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

if _typing.TYPE_CHECKING:
    from tensorweb.nn import utils
else:  # Type checkers follow the stars, but not a sum of lists.
    _topics = [
        part
        for part in list(globals().values())
        if type(part) is _ModuleType and part.__name__.startswith("tensorweb.nn.")
    ]
    __all__ = ["functional", "init", "utils"] + [
        name
        for topic in _topics
        if topic not in (functional, init)
        for name in getattr(topic, "__all__", ())
    ]

    _answer_torch_words(globals(), [name for name in __all__ if name != "utils"])

    def __getattr__(name: str) -> object:
        """Import the utilities on first use, or answer a name of PyTorch."""
        if name == "utils":
            return _import_module("tensorweb.nn.utils")
        raise _unknown("tensorweb.nn", name, __all__)
