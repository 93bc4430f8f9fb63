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


class _Activation(FunctionModule):
    """A function of one tensor, whose options the representation shows."""

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the function of `x`."""
        return self._apply(x)

    def extra_repr(self) -> str:
        """Return the options."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._options)


class ReLU(_Activation):
    """`max(x, 0)`; see `relu`.

    >>> tw.nn.ReLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.relu)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class ReLU6(_Activation):
    """`x` between 0 and 6; see `relu6`.

    >>> tw.nn.ReLU6()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.relu6)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class Hardtanh(_Activation):
    """`x` between two numbers; see `hardtanh`.

    >>> tw.nn.Hardtanh()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.hardtanh)

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        """Store the settings. `inplace` changes nothing: values never change."""
        self.min_val = min_val
        self.max_val = max_val


class LeakyReLU(_Activation):
    """`x`, or `negative_slope x` below 0; see `leaky_relu`.

    >>> tw.nn.LeakyReLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        """Store the settings. `inplace` changes nothing: values never change."""
        self.negative_slope = negative_slope


class ELU(_Activation):
    """`x`, or `alpha (exp(x) - 1)` below 0; see `elu`.

    >>> tw.nn.ELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.elu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        """Store the settings. `inplace` changes nothing: values never change."""
        self.alpha = alpha


class CELU(_Activation):
    """`x`, or `alpha (exp(x / alpha) - 1)` below 0; see `celu`.

    >>> tw.nn.CELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.celu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        """Store the settings. `inplace` changes nothing: values never change."""
        self.alpha = alpha


class SELU(_Activation):
    """A scaled `elu` that keeps mean and variance; see `selu`.

    >>> tw.nn.SELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.selu)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class GELU(_Activation):
    """`x Φ(x)`; see `gelu`.

    >>> tw.nn.GELU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.gelu)

    def __init__(self, approximate: str = "none") -> None:
        """Store the settings."""
        self.approximate = approximate


class SiLU(_Activation):
    """`x sigmoid(x)`; see `silu`.

    >>> tw.nn.SiLU()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.silu)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class Mish(_Activation):
    """`x tanh(softplus(x))`; see `mish`.

    >>> tw.nn.Mish()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.mish)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class Sigmoid(_Activation):
    """`1 / (1 + exp(-x))`; see `sigmoid`.

    >>> tw.nn.Sigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.sigmoid)


class LogSigmoid(_Activation):
    """`log sigmoid(x)`; see `logsigmoid`.

    >>> tw.nn.LogSigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.logsigmoid)


class Tanh(_Activation):
    """`tanh(x)`.

    >>> tw.nn.Tanh()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.tanh)


class Tanhshrink(_Activation):
    """`x - tanh(x)`.

    >>> tw.nn.Tanhshrink()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.tanhshrink)


class Softplus(_Activation):
    """`log(1 + exp(beta x)) / beta`; see `softplus`.

    >>> tw.nn.Softplus()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        """Store the settings."""
        self.beta = beta
        self.threshold = threshold


class Softsign(_Activation):
    """`x / (1 + |x|)`.

    >>> tw.nn.Softsign()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.softsign)


class Hardsigmoid(_Activation):
    """`x / 6 + 1/2` between 0 and 1; see `hardsigmoid`.

    >>> tw.nn.Hardsigmoid()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.hardsigmoid)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class Hardswish(_Activation):
    """`x hardsigmoid(x)`; see `hardswish`.

    >>> tw.nn.Hardswish()([1.0]).shape
    (1,)
    """

    _function = staticmethod(functions.hardswish)

    def __init__(self, inplace: bool = False) -> None:
        """Take `inplace`, which changes nothing: values never change."""


class Softmax(_Activation):
    """`exp(x) / sum(exp(x))` along an axis; see `softmax`.

    >>> tw.nn.Softmax(dim=-1)([0.0, 0.0])
    tensor([0.5, 0.5])
    """

    _function = staticmethod(functions.softmax)

    def __init__(self, dim: int = -1) -> None:
        """Store the axis."""
        self.dim = dim


class LogSoftmax(_Activation):
    """The logarithm of the softmax along an axis; see `log_softmax`.

    >>> tw.nn.LogSoftmax(dim=-1)([0.0, -1e4])
    tensor([     0., -10000.])
    """

    _function = staticmethod(functions.log_softmax)

    def __init__(self, dim: int = -1) -> None:
        """Store the axis."""
        self.dim = dim


class GLU(_Activation):
    """The first part of an axis times the sigmoid of the second; see `glu`."""

    _function = staticmethod(functions.glu)

    def __init__(self, dim: int = -1) -> None:
        """Store the axis."""
        self.dim = dim


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
