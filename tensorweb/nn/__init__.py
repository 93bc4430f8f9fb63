"""Networks: modules that are values, layers by PyTorch's names, losses.

A module is a tree of tensors: `tw.grad`, `tw.jit` and `tw.vmap` take it as one value,
and `loss.backward()` reaches its parameters after `model.requires_grad_()`.

>>> model = Sequential(Linear(2, 8), Tanh(), Linear(8, 1))
>>> loss = lambda model: mse(model(tw.ones((4, 2))), tw.zeros((4, 1)))
>>> tw.grad(loss)(model)[0].weight.shape
(8, 2)
"""

import typing as _typing

from tensorweb.nn import functional as functional
from tensorweb.nn import init as init
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
from tensorweb.public_names import declare_package as _declare_package
from tensorweb.tensor.arguments import answer_torch_words as _answer_torch_words

_answer_torch_words(
    globals(), _declare_package(__name__, "functional", "init", later=["utils"])
)

if _typing.TYPE_CHECKING:
    from tensorweb.nn import utils as utils
