"""Loading saved values by name: all, or an error that lists the mismatches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorweb.errors import DataError, TensorwebError
from tensorweb.nn.arguments import operand
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.transforms.backward import no_grad

MOST_LISTED = 50


def load(
    module: str, named: Mapping[str, Tensor], given: Mapping[str, Any], strict: bool
) -> tuple[list[str], list[str]]:
    """Assign values to tensors in place; return missing and unexpected names.

    Raises:
        DataError: shapes do not fit, or names do not and `strict` is set; nothing is
            loaded then.
    """
    missing = [name for name in named if name not in given]
    unexpected = [name for name in given if name not in named]
    problems: list[str] = []
    if strict:
        problems += [f"{name} is missing" for name in missing]
        problems += [f"{name} is unknown" for name in unexpected]
    found: dict[str, Tensor] = {}
    for name, tensor in named.items():
        if name not in given:
            continue
        try:
            value = _converted(given[name], tensor)
        except TensorwebError as error:
            problems.append(f"{name}: {error}")
            continue
        if value.shape != tensor.shape:
            problems.append(
                f"{name} has shape {value.shape}, the module's {tensor.shape}"
            )
        found[name] = value
    if problems:
        listed = [f"  {problem}" for problem in problems[:MOST_LISTED]]
        if len(problems) > MOST_LISTED:
            listed.append(f"  and {len(problems) - MOST_LISTED} more")
        raise DataError(
            f"load_state_dict: this does not fit {module}, and nothing was loaded:\n"
            + "\n".join(listed)
        )
    for name, value in found.items():
        replace(named[name], value)
    return missing, unexpected


def _converted(value: Any, like: Tensor) -> Tensor:
    """Return a value in another's dtype; PyTorch tensors are converted by NumPy."""
    if not isinstance(value, TensorBase) and hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return operand(like, value).detach().astype(like.dtype)


def replace(tensor: Tensor, value: Tensor) -> None:
    """Assign a value to a tensor object, in its dtype and on its device."""
    with no_grad():
        taken = value.detach().astype(tensor.dtype).to_device(tensor.device)
        tensor._replace(taken.node)


def become(tensor: Tensor, value: Tensor) -> None:
    """Assign a value to a tensor object, with another dtype or device."""
    with no_grad():
        tensor._replace(value.node)
    if tensor.grad is not None:
        tensor.grad = None
