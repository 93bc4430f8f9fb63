"""Parameter groups: parameters of an optimiser with options of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorweb.errors import DataError
from tensorweb.optim.schedules import Rate, Schedule
from tensorweb.tensor import Tensor

if TYPE_CHECKING:
    from tensorweb.optim.optimizer import Optimizer


class GroupSettings(NamedTuple):
    """The options of a parameter group, its schedule, and the count of its tensors."""

    options: dict[str, Any]
    schedule: Schedule | None
    size: int


class NewGroup(NamedTuple):
    """A parameter group that an optimiser is given."""

    names: list[str]
    leaves: list[Tensor]
    rate: Rate
    options: dict[str, Any]


class ParamGroup(MutableMapping[str, Any]):
    """Parameters of an optimiser with common options, read and written as a dict."""

    def __init__(self, optimizer: Optimizer, index: int) -> None:
        """Make a view of one group of an optimiser."""
        self._optimizer = optimizer
        self._index = index

    def __getitem__(self, name: str) -> Any:
        """Return an option; `lr` is a 0-d tensor or a schedule, `params` a list."""
        optimizer, index = self._optimizer, self._index
        if name == "params":
            sizes = [settings.size for settings in optimizer._settings]
            begin = sum(sizes[:index])
            return optimizer.params[begin : begin + sizes[index]]
        if name == "lr":
            return optimizer._rate_of(index)
        return optimizer._settings[index].options[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Change an option from the next step on.

        Raises:
            DataError: there is no such option, or it is out of its range.
        """
        if name == "params":
            raise DataError(
                "param_groups: the parameters of a group stay; add others with "
                "opt.add_param_group({'params': [...]}), or make a new optimiser."
            )
        if name == "lr":
            self._optimizer._set_rate(self._index, value)
        else:
            self._optimizer._set_option(self._index, name, value)

    def __delitem__(self, name: str) -> None:
        """Raise: a group has all options.

        Raises:
            DataError: always.
        """
        raise DataError(f"param_groups: {name!r} cannot be removed; assign another.")

    def __iter__(self) -> Iterator[str]:
        """Yield the names, `params` and `lr` first."""
        yield from ("params", "lr", *self._optimizer._settings[self._index].options)

    def __len__(self) -> int:
        """Return the count of names."""
        return 2 + len(self._optimizer._settings[self._index].options)

    def __repr__(self) -> str:
        """Return the group as a dict, with the count of its parameters."""
        shown = {name: value for name, value in self.items() if name != "params"}
        return f"<group of {len(self['params'])} parameters, {shown}>"


def groups_in(name: str, params: object) -> list[Mapping[str, Any]]:
    """Return PyTorch's parameter groups, `[{"params": ..., ...}]`; [] for a tree.

    Raises:
        DataError: groups and other values are mixed, or one group is in no list.
    """
    if isinstance(params, Mapping) and "params" in params and len(params) > 1:
        extra = next(key for key in params if key != "params")
        if not isinstance(params[extra], Tensor | Mapping | list | tuple):
            raise DataError(
                f"{name}: one parameter group stands alone; give a list of groups, "
                f"[{{'params': ..., {extra!r}: ...}}]."
            )
    if not isinstance(params, list | tuple):
        return []
    groups = [part for part in params if isinstance(part, Mapping) and "params" in part]
    if groups and len(groups) < len(params):
        raise DataError(
            f"{name}: parameter groups and other things are mixed in one list; give "
            "every tensor in a group, {'params': [...]}."
        )
    return groups
