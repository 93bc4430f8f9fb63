"""The state of an optimiser between steps, a tree of tensors, and flat parameters.

Parameters that are always updated together form a group. Their moments are flat: many
tensors concatenated in one buffer, so that an elementwise update takes a few kernels
regardless of the number of parameters. A parameter without a gradient is skipped by a
step, and then leaves its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tensorweb import dtypes, tree
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DeviceError
from tensorweb.evaluate import end_step, plain_number
from tensorweb.functions import asarray, concat, full, pad
from tensorweb.graph.autograd import grad_disabled, is_differentiating
from tensorweb.graph.complex_pairs import pair_of
from tensorweb.graph.node import Node
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.in_place import mark_number, overwrite, rehouse
from tensorweb.transforms.inputs import is_float


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that are updated together.

    Attributes:
        layout: their names, shapes and offsets in the moments.
        moments: by name, each of shape `(layout.size,)`; float32 for float16
            parameters, complex for complex ones.
        missed: count of steps skipped for lack of gradients, None for 0.
    """

    layout: FlatLayout
    moments: dict[str, Tensor]
    missed: Tensor | None = None

    def split(self, has_gradient: Sequence[bool]) -> list[Group]:
        """Return two groups: parameters with a gradient, and parameters without."""
        parts = {name: self.layout.parts(whole) for name, whole in self.moments.items()}
        found = []
        for wanted in (True, False):
            chosen = [n for n, has in enumerate(has_gradient) if has is wanted]
            layout = FlatLayout(
                [self.layout.names[n] for n in chosen],
                [self.layout.shapes[n] for n in chosen],
            )
            moments = {
                name: layout.join([each[n] for n in chosen])
                for name, each in parts.items()
            }
            found.append(Group(layout, moments, self.missed))
        return found

    def without_gradients(self) -> Group:
        """Return the group after a step that skipped it."""
        if self.missed is not None:
            return replace(self, missed=counted(self.missed))
        # Without moments nothing depends on the count of steps.
        if not self.moments:
            return self
        return replace(self, missed=counted(number(0, self)))


@dataclass(frozen=True, slots=True)
class State:
    """The state of an optimiser for one tree of parameters.

    Attributes:
        step: count of completed steps, int32.
        rates: the learning rate of each parameter group; None for a schedule.
        groups: moments of the parameters.
    """

    step: Tensor
    rates: tuple[Tensor | None, ...]
    groups: tuple[Group, ...]

    @property
    def learning_rate(self) -> Tensor | None:
        """The learning rate of the first parameter group."""
        return self.rates[0]

    def named_rates(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the learning rates that are numbers, with their saved names."""
        for index, rate in enumerate(self.rates):
            if rate is not None:
                yield f"learning_rate.{index}" if index else "learning_rate", rate


def taken_over(state: State, new: State) -> State:
    """Copy new values into a state if its structure is equal; otherwise return `new`.

    The optimiser so retains its tensors, and `jit` need not search for them again.
    """
    if _form(state) != _form(new):
        return new
    for mine, its in zip(tensors_of(state), tensors_of(new), strict=True):
        if mine is not its:
            overwrite(mine, its.node)
    return state


def _form(state: State) -> list[object]:
    """Return the structure of a state, equal for states with corresponding tensors."""
    return [(group.layout, group.missed is None) for group in state.groups]


def tensors_of(state: State) -> Iterator[Tensor]:
    """Yield the tensors of a state."""
    yield state.step
    yield from (rate for _, rate in state.named_rates())
    for group in state.groups:
        yield from group.moments.values()
        if group.missed is not None:
            yield group.missed


def of_its_own(state: State) -> State:
    """Return a copy of a state that shares no tensors and may be overwritten.

    `jit` treats its 0-d tensors as arguments and not as constants.
    """

    def own(tensor: Tensor) -> Tensor:
        found = Tensor.around(tensor.node)
        if not tensor.shape:
            overwrite(found, found.node)
        return found

    groups = [
        Group(
            group.layout,
            {name: own(each) for name, each in group.moments.items()},
            None if group.missed is None else own(group.missed),
        )
        for group in state.groups
    ]
    rates = tuple(None if rate is None else own(rate) for rate in state.rates)
    return State(own(state.step), rates, tuple(groups))


def finish_step(leaves: Sequence[Tensor], state: State) -> None:
    """Evaluate parameters and state after a step, except during differentiation."""
    if not is_differentiating():
        end_step([pair_of(each.node) for each in (*leaves, *tensors_of(state))])


def number(value: float, like: Group | str, dtype: DType = dtypes.int32) -> Tensor:
    """Return a 0-d tensor that `jit` treats like a computed one, not as a constant."""
    device = like if isinstance(like, str) else next(iter(like.moments.values())).device
    found = asarray(value, dtype=dtype, device=device)
    mark_number(found.node)
    return found


def counted(count: Tensor) -> Tensor:
    """Return a count plus 1, folded if the count is a constant.

    So steps whose results are not read build no chain of additions.
    """
    known = plain_number(count.node)
    if known is None:
        return count + 1
    return number(int(known) + 1, count.node.device)


def computing_dtype(dtype: DType) -> DType:
    """Return the dtype in which parameters are updated."""
    return dtypes.float32 if dtype is dtypes.float16 else dtype


def check_one_device(names: Sequence[str], leaves: Sequence[Tensor]) -> None:
    """Raise if parameters lie on several devices.

    Raises:
        DeviceError: they do.
    """
    devices = {leaf.device: name for name, leaf in zip(names, leaves, strict=True)}
    if len(devices) > 1:
        where = " and ".join(f"{name!r} on {d!r}" for d, name in devices.items())
        raise DeviceError(
            f"optim: the parameters lie on several devices, {where}; move them to one "
            "with to_device, or use an optimiser for each."
        )


def groups_of(
    names: Sequence[str],
    leaves: Sequence[Tensor],
    moments: Sequence[str],
    start: float,
) -> tuple[Group, ...]:
    """Return the groups of new parameters; small ones of a dtype share a group."""
    together: dict[object, list[int]] = {}
    for index, leaf in enumerate(leaves):
        key = index if leaf.size >= LARGE else leaf.dtype
        together.setdefault(key, []).append(index)
    found = []
    for chosen in together.values():
        first = leaves[chosen[0]]
        layout = FlatLayout(
            [names[n] for n in chosen], [leaves[n].shape for n in chosen]
        )
        started = {name: _first_moment(layout, first, start) for name in moments}
        found.append(Group(layout, started))
    return tuple(found)


def _first_moment(layout: FlatLayout, like: Tensor, start: float) -> Tensor:
    """Return the initial value of a moment, of shape `(layout.size,)`."""
    dtype = computing_dtype(like.dtype)
    both = complex(start, start) if dtype.kind == "complex" else start
    return full(layout.size, both, dtype=dtype, device=like.device)


def with_moments(
    group: Group, leaf: Tensor, moments: Sequence[str], start: float
) -> Group:
    """Return a group with the given moments; missing ones get their initial value."""
    found = {
        name: group.moments[name]
        if name in group.moments
        else _first_moment(group.layout, leaf, start)
        for name in moments
    }
    return replace(group, moments=found)


def check_belongs(
    name: str, state: State, names: Sequence[str], leaves: Sequence[Tensor]
) -> None:
    """Raise unless a state belongs to these parameters.

    Raises:
        DataError: it does not; the message names the first difference.
    """
    kept: dict[str, Shape] = {}
    for group in state.groups:
        kept.update(zip(group.layout.names, group.layout.shapes, strict=True))
    for path, leaf in zip(names, leaves, strict=True):
        if path not in kept:
            said = "the state has none"
        elif kept[path] != leaf.shape:
            said = f"that of the state has shape {kept[path]}"
        else:
            continue
        raise DataError(
            f"{name}: the state belongs to another model: {path!r} has shape "
            f"{leaf.shape} and {said}; make one with init(tree)."
        )
    missing = kept.keys() - set(names)
    if missing:
        first = next(path for path in kept if path in missing)
        raise DataError(
            f"{name}: the state belongs to another model: it has {first!r} of shape "
            f"{kept[first]}, which is no parameter here; make one with init(tree)."
        )


def as_flat(state: State) -> dict[str, Tensor]:
    """Return a state as tensors by name, with separate moments per parameter."""
    found = {"step": Tensor.around(state.step.node)}
    for name, rate in state.named_rates():
        found[name] = Tensor.around(rate.node)
    for group in state.groups:
        for key, whole in group.moments.items():
            parts = zip(group.layout.names, group.layout.parts(whole), strict=True)
            found.update({f"{path}.{key}": part for path, part in parts})
        if group.missed is not None:
            found.update(
                {f"{path}.missed": group.missed for path in group.layout.names}
            )
    return found


def from_flat(state: State, given: Mapping[str, ArrayLike]) -> State:
    """Return a state with the structure of another and values from `as_flat`.

    Raises:
        DataError: names are missing or not known, or shapes differ.
    """
    counts = {
        f"{path}.missed": state.step
        for group in state.groups
        for path in group.layout.names
    }
    wanted = as_flat(state) | counts
    extra = [name for name in given if name not in wanted]
    missing = [name for name in wanted if name not in given and name not in counts]
    if extra or missing:
        raise DataError(
            "load_state_dict: this is the state of another model or optimiser; "
            f"missing: {_listed(missing)}; not known: {_listed(extra)}."
        )
    flat = {name: _beside(value, wanted[name]) for name, value in given.items()}
    for name, value in flat.items():
        mine = wanted[name]
        if value.shape != mine.shape:
            raise DataError(
                f"load_state_dict: {name!r} has shape {value.shape}, and "
                f"{mine.shape} is needed here."
            )
    groups = [loaded for group in state.groups for loaded in _loaded(group, flat)]
    rates = list(state.rates)
    for index, (name, rate) in zip(
        [n for n, rate in enumerate(rates) if rate is not None],
        state.named_rates(),
        strict=True,
    ):
        rates[index] = _taken(flat[name], rate)
    return State(_taken(flat["step"], state.step), tuple(rates), tuple(groups))


def _beside(value: ArrayLike, mine: Tensor) -> Tensor:
    """Return a value as a tensor; lists and arrays get dtype and device of `mine`."""
    if isinstance(value, Tensor):
        return value
    return asarray(value, dtype=mine.dtype, device=mine.device)


def _loaded(group: Group, flat: Mapping[str, Tensor]) -> list[Group]:
    """Return a group with loaded values; parameters that skipped steps are separate."""
    layout = group.layout
    together: dict[str, list[int]] = {}
    for index, path in enumerate(layout.names):
        key = path if f"{path}.missed" in flat else ""
        together.setdefault(key, []).append(index)
    found = []
    for key, chosen in together.items():
        part = FlatLayout(
            [layout.names[n] for n in chosen], [layout.shapes[n] for n in chosen]
        )
        moments = {
            name: part.join(
                [
                    asarray(
                        flat[f"{path}.{name}"], dtype=whole.dtype, device=whole.device
                    )
                    for path in part.names
                ]
            )
            for name, whole in group.moments.items()
        }
        missed = number(0, group) if key else None
        if missed is not None:
            missed = _taken(flat[f"{key}.missed"], missed)
        found.append(Group(part, moments, missed))
    return found


def _taken(given: Tensor, like: Tensor) -> Tensor:
    """Return a 0-d tensor in dtype and device of another."""
    found = asarray(given, dtype=like.dtype, device=like.device)
    mark_number(found.node)
    return found


def _listed(names: Sequence[str]) -> str:
    """Return names for a message."""
    return ", ".join(repr(name) for name in names) or "none"


# Tensors begin at multiples of this count of elements, so that a GPU can bind the
# buffer at their offset.
ALIGNMENT = 64


# Tensors with at least this count of elements are not concatenated: a separate launch
# costs less than copying them.
LARGE = 1 << 18


class FlatLayout:
    """Names, shapes and offsets of tensors in a flat tensor.

    It is immutable and compares by value, so that it can be part of a tree together
    with the tensors that it describes.
    """

    __slots__ = ("_hash", "names", "shapes", "size", "starts")

    def __init__(self, names: Sequence[str], shapes: Sequence[Shape]) -> None:
        """Assign offsets in this order; no padding after the last tensor."""
        self.names = tuple(names)
        self.shapes = tuple(shapes)
        starts = []
        end = 0
        for shape in shapes:
            starts.append(-(-end // ALIGNMENT) * ALIGNMENT)
            end = starts[-1] + size(shape)
        self.starts = tuple(starts)
        self.size = end
        self._hash = hash((self.names, self.shapes))

    def __eq__(self, other: object) -> bool:
        """Whether names and shapes are equal."""
        if self is other:
            return True
        return (
            isinstance(other, FlatLayout)
            and self.names == other.names
            and self.shapes == other.shapes
        )

    def __hash__(self) -> int:
        """Return a hash, equal for equal layouts."""
        return self._hash

    def __repr__(self) -> str:
        """Return the count of tensors and of elements."""
        return f"<FlatLayout of {len(self.names)} tensors, {self.size} elements>"

    def join(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return tensors of one dtype as one flat tensor of shape `(size,)`.

        Tensors that are already the slices of a flat tensor are not copied.
        """
        whole = self._whole([tensor.node for tensor in tensors])
        if whole is not None:
            return Tensor.around(whole)
        flat = [tensor.reshape(-1) for tensor in tensors]
        ends = [*self.starts[1:], self.size]
        parts = []
        for part, start, end in zip(flat, self.starts, ends, strict=True):
            gap = end - start - part.size
            parts.append(pad(part, (0, gap)) if gap else part)
        return concat(parts) if len(parts) > 1 else parts[0]

    def _whole(self, nodes: Sequence[Node]) -> Node | None:
        """Return the flat node whose slices these nodes are, None if there is none.

        During differentiation there is none, since each slice may be a variable of its
        own.
        """
        base = nodes[0].base
        if base.shape != (self.size,) or is_differentiating():
            return None
        for node, start in zip(nodes, self.starts, strict=True):
            view = node.view
            if node.base is not base or view.offset != start or not view.is_contiguous:
                return None
        return base

    def parts(self, joined: Tensor) -> list[Tensor]:
        """Return the slices of a flat tensor, each in its shape."""
        return [
            joined[start : start + size(shape)].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


Put: TypeAlias = Callable[[Sequence[Tensor]], Any]
"""A function from parameters to their tree."""


def parameters_of(given: Any) -> tuple[list[str], list[Tensor], Put]:
    """Return names and float tensors of a tree, and a function to replace them."""
    leaves, structure = tree.flatten(given)
    names = tree.paths(given)
    chosen = [
        index
        for index, (leaf, slot) in enumerate(
            zip(leaves, structure.slots(), strict=True)
        )
        if is_float(leaf) and not slot.is_constant
    ]
    if isinstance(given, int | float) and not chosen:
        raise DataError(
            f"the parameters are the number {given}; a learning rate is given by "
            f"name, lr={given}, and parameters are tensors."
        )

    def put(others: Sequence[Tensor]) -> Any:
        for index, other in zip(chosen, others, strict=True):
            leaves[index] = other
        return tree.unflatten(structure, leaves)

    return [names[n] for n in chosen], [leaves[n] for n in chosen], put


def groups_in(name: str, given: object) -> list[Mapping[str, Any]]:
    """Return PyTorch's parameter groups, `[{"params": ..., ...}]`; [] for a tree.

    Raises:
        DataError: groups and other values are mixed, or one group is in no list.
    """
    if isinstance(given, Mapping) and "params" in given and len(given) > 1:
        extra = next(key for key in given if key != "params")
        if not isinstance(given[extra], Tensor | Mapping | list | tuple):
            raise DataError(
                f"{name}: one parameter group stands alone; give a list of groups, "
                f"[{{'params': ..., {extra!r}: ...}}]."
            )
    if not isinstance(given, list | tuple):
        return []
    groups = [each for each in given if isinstance(each, Mapping) and "params" in each]
    if groups and len(groups) < len(given):
        raise DataError(
            f"{name}: parameter groups and other things are mixed in one list; give "
            "every tensor in a group, {'params': [...]}."
        )
    return groups


def gradients_of(params: Any, grads: Any) -> list[Tensor | None]:
    """Return each parameter's leaf in the tree of gradients.

    Raises:
        DataError: the trees do not match.
    """
    leaves, structure = tree.flatten(params)
    found, other = tree.flatten(grads)
    if structure != other:
        mine, theirs = tree.paths(params), tree.paths(grads)
        different = [name for name in mine if name not in theirs]
        different += [name for name in theirs if name not in mine]
        at = f"{different[0]!r} is only in one" if different else "their classes differ"
        raise DataError(
            f"update: parameters and gradients are different trees: {at}. Give what "
            "tw.grad of a function of the parameters returns."
        )
    rows = zip(leaves, found, structure.slots(), strict=True)
    return [
        grad for leaf, grad, slot in rows if is_float(leaf) and not slot.is_constant
    ]


def check_gradient(name: str, path: str, leaf: Tensor, grad: Any) -> None:
    """Raise if a gradient does not match its parameter.

    Raises:
        DataError: it is no tensor of the same shape.
    """
    if grad is None:
        return
    if not is_float(grad) or grad.shape != leaf.shape:
        what = f"shape {grad.shape}" if is_float(grad) else type(grad).__name__
        raise DataError(
            f"{name}: the gradient of {path or 'the parameter'!r} is {what}, and the "
            f"parameter a tensor of shape {leaf.shape}."
        )


def join_in_place(groups: Iterable[Group], leaves: Mapping[str, Tensor]) -> None:
    """Make leaves of a group views of one flat storage; their values stay.

    So the first step has the same structure as all others, and is recorded once.
    """
    for group in groups:
        tensors = [leaves[name] for name in group.layout.names]
        if len(tensors) == 1:
            continue
        with grad_disabled():
            values = [Tensor.around(tensor.node) for tensor in tensors]
            parts = group.layout.parts(group.layout.join(values))
        for tensor, part in zip(tensors, parts, strict=True):
            rehouse(tensor, part.node)
