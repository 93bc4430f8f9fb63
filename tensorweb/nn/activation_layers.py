"""Activations as modules, so that `Sequential` can show and copy them."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.functions import full
from tensorweb.nn import activations as functions
from tensorweb.nn.module import FunctionModule, Module
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


class ReLU(FunctionModule):
    """`max(x, 0)`; see `relu`.

    >>> tw.nn.ReLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.relu)
    inplace: bool = False


class ReLU6(FunctionModule):
    """`x` between 0 and 6; see `relu6`.

    >>> tw.nn.ReLU6()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.relu6)
    inplace: bool = False


class Hardtanh(FunctionModule):
    """`x` between two numbers; see `hardtanh`.

    >>> tw.nn.Hardtanh()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.hardtanh)
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class LeakyReLU(FunctionModule):
    """`x`, or `negative_slope x` below 0; see `leaky_relu`.

    >>> tw.nn.LeakyReLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.leaky_relu)
    negative_slope: float = 0.01
    inplace: bool = False


class ELU(FunctionModule):
    """`x`, or `alpha (exp(x) - 1)` below 0; see `elu`.

    >>> tw.nn.ELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.elu)
    alpha: float = 1.0
    inplace: bool = False


class CELU(FunctionModule):
    """`x`, or `alpha (exp(x / alpha) - 1)` below 0; see `celu`.

    >>> tw.nn.CELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.celu)
    alpha: float = 1.0
    inplace: bool = False


class SELU(FunctionModule):
    """A scaled `elu` that keeps mean and variance; see `selu`.

    >>> tw.nn.SELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.selu)
    inplace: bool = False


class GELU(FunctionModule):
    """`x Φ(x)`; see `gelu`.

    >>> tw.nn.GELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.gelu)
    approximate: str = "none"


class SiLU(FunctionModule):
    """`x sigmoid(x)`; see `silu`.

    >>> tw.nn.SiLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.silu)
    inplace: bool = False


class Mish(FunctionModule):
    """`x tanh(softplus(x))`; see `mish`.

    >>> tw.nn.Mish()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.mish)
    inplace: bool = False


class Sigmoid(FunctionModule):
    """`1 / (1 + exp(-x))`; see `sigmoid`.

    >>> tw.nn.Sigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.sigmoid)


class LogSigmoid(FunctionModule):
    """`log sigmoid(x)`; see `logsigmoid`.

    >>> tw.nn.LogSigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.logsigmoid)


class Tanh(FunctionModule):
    """`tanh(x)`.

    >>> tw.nn.Tanh()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.tanh)


class Tanhshrink(FunctionModule):
    """`x - tanh(x)`.

    >>> tw.nn.Tanhshrink()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.tanhshrink)


class Softplus(FunctionModule):
    """`log(1 + exp(beta x)) / beta`; see `softplus`.

    >>> tw.nn.Softplus()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.softplus)
    beta: float = 1.0
    threshold: float = 20.0


class Softsign(FunctionModule):
    """`x / (1 + |x|)`.

    >>> tw.nn.Softsign()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.softsign)


class Hardsigmoid(FunctionModule):
    """`x / 6 + 1/2` between 0 and 1; see `hardsigmoid`.

    >>> tw.nn.Hardsigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.hardsigmoid)
    inplace: bool = False


class Hardswish(FunctionModule):
    """`x hardsigmoid(x)`; see `hardswish`.

    >>> tw.nn.Hardswish()([1.0]).shape
    (1,)
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
    """The first part of an axis times the sigmoid of the second; see `glu`."""

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
        """Make one weight per channel, or one for all."""
        self.num_parameters = num_parameters
        self.weight = full((num_parameters,), init, dtype=dtype, device=device)

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the function of `x`, channels along axis 1."""
        return functions.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"num_parameters={self.num_parameters}"
