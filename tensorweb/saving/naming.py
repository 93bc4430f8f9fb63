"""Names of the tensors of a tree in files, and trees filled from tensors by name.

`save` and `load(like=)` use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensorweb import dtypes, tree
from tensorweb.errors import DataError
from tensorweb.functions import asarray
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import is_numpy_scalar
from tensorweb.trees import UNNAMED

ALONE = "tensor"
"""The name of a tensor that is saved by itself, without a tree around it."""

PLAIN = (dict, list, tuple)
"""Containers all of whose leaves are meant to be saved; objects hold settings too."""


def named_tensors(given: Any) -> dict[str, Tensor]:
    """Return the tensors of a tree by name: `blocks.0.wq.weight`.

    Arrays count as tensors, and so do numbers that are values of plain dicts, as in
    `{"epoch": 3}`. Attributes of objects that are none are left out.

    Raises:
        DataError: two have one name, there is none, or a plain container holds
            something else.
    """
    leaves, structure = tree.flatten(given)
    rest = iter(leaves)
    found: dict[str, Tensor] = {}
    for name, is_plain, is_entry in _leaf_names(structure, ""):
        leaf = next(rest)
        tensor = _as_tensor(leaf, is_entry)
        if tensor is None:
            if is_plain and leaf is not None:
                raise DataError(
                    f"save: {name or 'the tree'!r} is {type(leaf).__name__}, and files "
                    "hold tensors; make it one with tw.asarray, or leave it out."
                )
        elif (name or ALONE) in found:
            raise DataError(
                f"save: two tensors of the tree are called {name!r}; rename a key."
            )
        else:
            found[name or ALONE] = tensor
    if not found:
        raise DataError("save: there is no tensor in the tree.")
    return found


def _leaf_names(
    structure: tree.Structure, name: str, is_plain: bool = True, is_entry: bool = False
) -> Iterator[tuple[str, bool, bool]]:
    """Yield of each leaf the name and two facts about what holds it.

    They are whether only plain containers do, and whether the innermost is a dict.
    """
    if structure.kind is None:
        yield name, is_plain, is_entry
        return
    if not structure.parts:
        return
    keys = structure.names or range(len(structure.parts))
    is_plain = is_plain and issubclass(structure.kind, PLAIN)
    unnamed = getattr(structure.kind, UNNAMED, None)
    for key, part in zip(keys, structure.parts, strict=True):
        inner = f"{name}.{key}" if name else str(key)
        is_inside = is_plain and issubclass(structure.kind, dict)
        yield from _leaf_names(
            part, name if key == unnamed else inner, is_plain, is_inside
        )


def _as_tensor(leaf: Any, is_entry: bool) -> Tensor | None:
    """Return a tensor or an array as a tensor, None for something else.

    A number in a dict keeps all its digits.
    """
    if isinstance(leaf, Tensor):
        return leaf
    if is_entry and isinstance(leaf, bool | int | float):
        return asarray(leaf, dtype=NUMBERS[type(leaf)], device="cpu")
    is_array = hasattr(leaf, "__array__") and not isinstance(leaf, TensorBase)
    return asarray(leaf, device="cpu") if is_array or is_numpy_scalar(leaf) else None


NUMBERS = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64}
"""The dtype that a Python number has in a file."""


def tree_like(
    like: Any, found: Mapping[str, Any], made: Callable[[Any, Tensor], Tensor]
) -> Any:
    """Return a tree with what has the names of its tensors; other leaves stay.

    Args:
        like: the tree.
        found: by name, each with a `shape` and a `dtype`.
        made: makes a tensor of one of them, like another tensor.

    Raises:
        DataError: names, shapes or kinds of dtypes do not fit; all are listed.
    """
    leaves, structure = tree.flatten(like)
    described = list(_leaf_names(structure, ""))
    names = [name or ALONE for name, *_ in described]
    wanted = {
        name: tensor
        for name, leaf, (*_, is_entry) in zip(names, leaves, described, strict=True)
        if (tensor := _as_tensor(leaf, is_entry)) is not None
    }
    said = []
    missing = [name for name in wanted if name not in found]
    extra = [name for name in found if name not in wanted]
    if missing:
        said.append(f"missing in the file: {', '.join(map(repr, missing))}")
    if extra:
        said.append(f"only in the file: {', '.join(map(repr, extra))}")
    for name, tensor in wanted.items():
        stored = found.get(name)
        if stored is not None and stored.shape != tensor.shape:
            said.append(f"{name!r} has shape {stored.shape} and not {tensor.shape}")
        elif stored is not None and not _converts(stored.dtype.kind, tensor.dtype.kind):
            said.append(f"{name!r} is {stored.dtype} and not {tensor.dtype}")
    if said:
        raise DataError(f"load: the file does not fit the tree: {'; '.join(said)}.")
    filled = {name: made(found[name], tensor) for name, tensor in wanted.items()}
    return tree.unflatten(
        structure,
        [
            _as_before(leaf, filled.get(name, leaf))
            for name, leaf in zip(names, leaves, strict=True)
        ],
    )


def _as_before(leaf: Any, found: Any) -> Any:
    """Return a tensor as a Python number where one was."""
    is_number = isinstance(leaf, bool | int | float) and isinstance(found, Tensor)
    return type(leaf)(found.item()) if is_number else found


def _converts(stored: str, wanted: str) -> bool:
    """Whether numbers of one kind are taken for those of another."""
    return stored == wanted or {stored, wanted} == {"int", "uint"}
