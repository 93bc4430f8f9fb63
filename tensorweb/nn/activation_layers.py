"""Activations as modules, so that `Sequential` can show and copy them."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.functions import full
from tensorweb.nn import activations as functions
from tensorweb.nn.containers import FunctionModule
from tensorweb.nn.module import Module
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


class ReLU(FunctionModule):
    """`max(x, 0)`; see `relu`.

    >>> tw.nn.ReLU()([-2.0, 0.5, 8.0])
    tensor([0. , 0.5, 8. ])
    """

    _function = staticmethod(functions.relu)
    inplace: bool = False


class ReLU6(FunctionModule):
    """`x` between 0 and 6; see `relu6`.

    >>> tw.nn.ReLU6()([-2.0, 0.5, 8.0])
    tensor([0. , 0.5, 6. ])
    """

    _function = staticmethod(functions.relu6)
    inplace: bool = False


class Hardtanh(FunctionModule):
    """`x` between two numbers; see `hardtanh`.

    Args:
        min_val: the lower limit.
        max_val: the upper limit.
        inplace: accepted as in PyTorch; the result is a new tensor.

    >>> tw.nn.Hardtanh()([-2.0, 0.5, 8.0])
    tensor([-1. ,  0.5,  1. ])
    """

    _function = staticmethod(functions.hardtanh)
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class LeakyReLU(FunctionModule):
    """`x`, or `negative_slope x` below 0; see `leaky_relu`.

    Args:
        negative_slope: the factor of negative numbers.
        inplace: accepted as in PyTorch; the result is a new tensor.

    >>> tw.nn.LeakyReLU()([-2.0, 0.5, 8.0])
    tensor([-0.02,  0.5 ,  8.  ])
    """

    _function = staticmethod(functions.leaky_relu)
    negative_slope: float = 0.01
    inplace: bool = False


class ELU(FunctionModule):
    """`x`, or `alpha (exp(x) - 1)` below 0; see `elu`.

    Args:
        alpha: the limit for very negative numbers is `-alpha`.
        inplace: accepted as in PyTorch; the result is a new tensor.

    >>> tw.nn.ELU()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.865,  0.5  ,  8.   ])
    """

    _function = staticmethod(functions.elu)
    alpha: float = 1.0
    inplace: bool = False


class CELU(FunctionModule):
    """`x`, or `alpha (exp(x / alpha) - 1)` below 0; see `celu`.

    Args:
        alpha: the limit for very negative numbers is `-alpha`.
        inplace: accepted as in PyTorch; the result is a new tensor.

    >>> tw.nn.CELU()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.865,  0.5  ,  8.   ])
    """

    _function = staticmethod(functions.celu)
    alpha: float = 1.0
    inplace: bool = False


class SELU(FunctionModule):
    """A scaled `elu` that keeps mean and variance; see `selu`.

    >>> tw.nn.SELU()([-2.0, 0.5, 8.0]).round(3)
    tensor([-1.52 ,  0.525,  8.406])
    """

    _function = staticmethod(functions.selu)
    inplace: bool = False


class GELU(FunctionModule):
    """`x Φ(x)`; see `gelu`.

    Args:
        approximate: `none`, or `tanh` for the approximation by that function.

    >>> tw.nn.GELU()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.046,  0.346,  8.   ])
    """

    _function = staticmethod(functions.gelu)
    approximate: str = "none"


class SiLU(FunctionModule):
    """`x sigmoid(x)`; see `silu`.

    >>> tw.nn.SiLU()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.238,  0.311,  7.997])
    """

    _function = staticmethod(functions.silu)
    inplace: bool = False


class Mish(FunctionModule):
    """`x tanh(softplus(x))`; see `mish`.

    >>> tw.nn.Mish()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.253,  0.375,  8.   ])
    """

    _function = staticmethod(functions.mish)
    inplace: bool = False


class Sigmoid(FunctionModule):
    """`1 / (1 + exp(-x))`; see `sigmoid`.

    >>> tw.nn.Sigmoid()([-2.0, 0.5, 8.0]).round(3)
    tensor([0.119, 0.622, 1.   ])
    """

    _function = staticmethod(functions.sigmoid)


class LogSigmoid(FunctionModule):
    """`log sigmoid(x)`; see `logsigmoid`.

    >>> tw.nn.LogSigmoid()([-2.0, 0.5, 8.0]).round(3)
    tensor([-2.127, -0.474, -0.   ])
    """

    _function = staticmethod(functions.logsigmoid)


class Tanh(FunctionModule):
    """`tanh(x)`.

    >>> tw.nn.Tanh()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.964,  0.462,  1.   ])
    """

    _function = staticmethod(functions.tanh)


class Tanhshrink(FunctionModule):
    """`x - tanh(x)`.

    >>> tw.nn.Tanhshrink()([-2.0, 0.5, 8.0]).round(3)
    tensor([-1.036,  0.038,  7.   ])
    """

    _function = staticmethod(functions.tanhshrink)


class Softplus(FunctionModule):
    """`log(1 + exp(beta x)) / beta`; see `softplus`.

    Args:
        beta: how sharp the bend at 0 is.
        threshold: `beta x` beyond which the result is `x`.

    >>> tw.nn.Softplus()([-2.0, 0.5, 8.0]).round(3)
    tensor([0.127, 0.974, 8.   ])
    """

    _function = staticmethod(functions.softplus)
    beta: float = 1.0
    threshold: float = 20.0


class Softsign(FunctionModule):
    """`x / (1 + |x|)`.

    >>> tw.nn.Softsign()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.667,  0.333,  0.889])
    """

    _function = staticmethod(functions.softsign)


class Hardsigmoid(FunctionModule):
    """`x / 6 + 1/2` between 0 and 1; see `hardsigmoid`.

    >>> tw.nn.Hardsigmoid()([-2.0, 0.5, 8.0]).round(3)
    tensor([0.167, 0.583, 1.   ])
    """

    _function = staticmethod(functions.hardsigmoid)
    inplace: bool = False


class Hardswish(FunctionModule):
    """`x hardsigmoid(x)`; see `hardswish`.

    >>> tw.nn.Hardswish()([-2.0, 0.5, 8.0]).round(3)
    tensor([-0.333,  0.292,  8.   ])
    """

    _function = staticmethod(functions.hardswish)
    inplace: bool = False


class Softmax(FunctionModule):
    """`exp(x) / sum(exp(x))` along an axis; see `softmax`.

    >>> tw.nn.Softmax(dim=-1)([0.0, 0.0])
    tensor([0.5, 0.5])
    """

    _function = staticmethod(functions.softmax)
    dim: int = -1


class LogSoftmax(FunctionModule):
    """The logarithm of the softmax along an axis; see `log_softmax`.

    >>> tw.nn.LogSoftmax(dim=-1)([0.0, -1e4])
    tensor([     0., -10000.])
    """

    _function = staticmethod(functions.log_softmax)
    dim: int = -1


class GLU(FunctionModule):
    """The first half of an axis times the sigmoid of the second; see `glu`.

    >>> tw.nn.GLU()([6.0, 0.0])
    tensor([3.])
    """

    _function = staticmethod(functions.glu)
    dim: int = -1


class PReLU(Module):
    """`x`, or `weight x` below 0, with weights that are trained; see `prelu`.

    Attributes:
        weight: `(num_parameters,)`.

    >>> tw.nn.PReLU()([-4.0, 4.0])
    tensor([-1.,  4.])
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: object = None,
        dtype: DTypeLike = dtypes.DEFAULT_FLOAT,
    ) -> None:
        """Make a layer.

        Args:
            num_parameters: count of channels, each with a weight, or 1 for all.
            init: the weights at first.
            device: device of the weights.
            dtype: floating-point dtype of the weights.
        """
        self.num_parameters = num_parameters
        self.weight = full((num_parameters,), init, dtype=dtype, device=device)

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the function of `x`, channels along axis 1."""
        return functions.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"num_parameters={self.num_parameters}"


declare_public(__name__)
