"""PyTorch's `nn.utils`: clipping, parameters as one vector or computed, sequences.

>>> model = tw.nn.Linear(3, 2)
>>> parameters_to_vector(model.parameters()).shape
(8,)
"""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.errors import ShapeError
from tensorweb.functions import concat
from tensorweb.nn.module import Module as _Module
from tensorweb.nn.module import replace as _replace
from tensorweb.nn.utils import parametrizations, parametrize, rnn
from tensorweb.nn.utils.parametrizations import spectral_norm, weight_norm
from tensorweb.optim.clipping import clip_grad_norm_, clip_grad_value_
from tensorweb.public_names import answer_unknown
from tensorweb.tensor import Tensor

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def remove_weight_norm(module: _Module, name: str = "weight") -> _Module:
    """Make the weight of `weight_norm` an ordinary parameter; return the module.

    Args:
        module: the module.
        name: of the weight.

    >>> layer = tw.nn.utils.weight_norm(tw.nn.Linear(3, 2))
    >>> [name for name, _ in remove_weight_norm(layer).named_parameters()]
    ['bias', 'weight']
    """
    return parametrize.remove_parametrizations(module, name)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of tensors as one vector, which derivatives go through.

    >>> tw.nn.utils.parameters_to_vector([tw.ones((2, 2)), tw.zeros(1)])
    tensor([1., 1., 1., 1., 0.])
    """
    return concat([one.ravel() for one in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write the elements of a vector into tensors, one after the other.

    Raises:
        ShapeError: the tensors have another number of elements; nothing is written.

    >>> layer = tw.nn.Linear(3, 2)
    >>> tw.nn.utils.vector_to_parameters(tw.arange(8.0), layer.parameters())
    >>> layer.bias
    tensor([6., 7.])
    """
    tensors = list(parameters)
    count = sum(one.size for one in tensors)
    if vec.shape != (count,):
        raise ShapeError(
            f"vector_to_parameters: the vector has shape {vec.shape}, and the "
            f"parameters {count} elements."
        )
    start = 0
    for one in tensors:
        _replace(one, vec[start : start + one.size].reshape(one.shape))
        start += one.size


answer_unknown(__name__)
