"""The state of an optimiser between steps: a tree of tensors, with flat moments.

Parameters that are always updated together form a group. The moments of a group are
flat: the moments of all its parameters are concatenated in one buffer, and so are the
parameters, so that an elementwise update takes a few kernels regardless of the number
of parameters. A parameter without a gradient is skipped by a step, and then leaves its
group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tensorweb import dtypes, tree
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DeviceError, TransformError
from tensorweb.evaluate import end_step, plain_number
from tensorweb.functions import asarray, concat, full, pad
from tensorweb.graph.autograd import grad_disabled, is_differentiating
from tensorweb.graph.node import Node, pair_of
from tensorweb.optim.policy import ALIGNMENT, LARGE
from tensorweb.shapes import Shape, size
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operators import mark_number, overwrite, rehouse
from tensorweb.transforms.inputs import is_float


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
        base = self._common_base([tensor.node for tensor in tensors])
        if base is not None:
            return Tensor.without_registering(base)
        ends = [*self.starts[1:], self.size]
        parts = []
        for tensor, start, end in zip(tensors, self.starts, ends, strict=True):
            gap = end - start - tensor.size
            part = tensor.reshape(-1)
            parts.append(pad(part, (0, gap)) if gap else part)
        return concat(parts) if len(parts) > 1 else parts[0]

    def _common_base(self, nodes: Sequence[Node]) -> Node | None:
        """Return the flat node whose slices these nodes are, None if there is none."""
        base = nodes[0].base
        # In a differentiated function each slice may be a variable.
        if base.shape != (self.size,) or is_differentiating():
            return None
        for node, start in zip(nodes, self.starts, strict=True):
            view = node.view
            if node.base is not base or view.offset != start or not view.is_contiguous:
                return None
        return base

    def of_moment(self, name: str) -> FlatLayout:
        """Return the layout of a moment: its own where one of a matrix is a vector.

        `row` has one element for each row of the last two axes, `column` for each
        column. Of a vector `row` has its shape, and `column` is not used.
        """
        if name == "row":
            shapes = [(*s[:-1], 1) if len(s) > 1 else s for s in self.shapes]
        elif name == "column":
            shapes = [(*s[:-2], 1, *s[-1:]) if len(s) > 1 else () for s in self.shapes]
        else:
            return self
        return FlatLayout(self.names, shapes)

    def parts(self, flat: Tensor) -> list[Tensor]:
        """Return the slices of a flat tensor, each in its shape."""
        return [
            flat[start : start + size(shape)].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


def flat_layouts(
    names: Sequence[str], leaves: Sequence[Tensor]
) -> list[tuple[FlatLayout, list[int]]]:
    """Return layouts of tensors to concatenate, and the indices of their tensors.

    Small tensors of a dtype and device share a layout.
    """
    indices_by_key: dict[object, list[int]] = {}
    for index, leaf in enumerate(leaves):
        key = index if leaf.size >= LARGE else (leaf.dtype, leaf.device)
        indices_by_key.setdefault(key, []).append(index)
    return [
        (
            FlatLayout([names[n] for n in indices], [leaves[n].shape for n in indices]),
            indices,
        )
        for indices in indices_by_key.values()
    ]


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that are updated together.

    Attributes:
        layout: their names, shapes and offsets in the moments.
        moments: by name, each of shape `(layout.size,)`; float32 for parameters of
            16 bits, complex for complex ones.
        missed: count of steps skipped for lack of gradients, None for 0.
        settings: index of the parameter group whose options and rate apply.
    """

    layout: FlatLayout
    moments: dict[str, Tensor]
    missed: Tensor | None = None
    settings: int = 0

    def subset(self, indices: Sequence[int]) -> Group:
        """Return a group of the parameters at these indices."""
        layout = FlatLayout(
            [self.layout.names[n] for n in indices],
            [self.layout.shapes[n] for n in indices],
        )
        parts = self.by_parameter()
        return replace(self, layout=layout).with_parts([parts[n] for n in indices])

    def by_parameter(self) -> list[dict[str, Tensor]]:
        """Return the moments of each parameter by name."""
        parts: list[dict[str, Tensor]] = [{} for _ in self.layout.names]
        for name, flat in self.moments.items():
            moments = self.layout.of_moment(name).parts(flat)
            for own, moment in zip(parts, moments, strict=True):
                own[name] = moment
        return parts

    def with_parts(self, parts: Sequence[Mapping[str, Tensor]]) -> Group:
        """Return the group with the moments of each parameter."""
        moments = {
            name: self.layout.of_moment(name).join([own[name] for own in parts])
            for name in self.moments
        }
        return replace(self, moments=moments)

    def split(self, has_gradient: Sequence[bool]) -> list[Group]:
        """Return the group, or two: parameters with a gradient, and those without."""
        if len(set(has_gradient)) == 1:
            return [self]
        return [
            self.subset([n for n, has in enumerate(has_gradient) if has is selected])
            for selected in (True, False)
        ]

    def after_skipped_step(self) -> Group:
        """Return the group after a step without gradients."""
        # Without moments nothing depends on the count of steps.
        if not self.moments:
            return self
        missed = self.missed
        if missed is None:
            missed = number(0, next(iter(self.moments.values())).device)
        return replace(self, missed=incremented(missed))

    def with_moments(self, initial: Mapping[str, float], leaf: Tensor) -> Group:
        """Return the group with these moments; missing ones get their initial value."""
        moments = {
            name: self.moments[name]
            if name in self.moments
            else _first_moment(self.layout.of_moment(name), leaf, value)
            for name, value in initial.items()
        }
        return replace(self, moments=moments)


@dataclass(frozen=True, slots=True)
class State:
    """The state of an optimiser for one tree of parameters.

    Attributes:
        step: count of completed steps, int32.
        rates: the learning rate of each parameter group; None for a schedule.
        groups: moments of the parameters.

    >>> state = tw.optim.Adam().init(tw.ones(2))
    >>> state.step
    tensor(0)
    """

    step: Tensor
    rates: tuple[Tensor | None, ...]
    groups: tuple[Group, ...]

    @property
    def learning_rate(self) -> Tensor | None:
        """The learning rate of the first parameter group."""
        return self.rates[0]

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of the state.

        >>> len(list(tw.optim.Adam().init(tw.ones(2)).tensors()))
        4
        """
        yield self.step
        for rate in self.rates:
            if rate is not None:
                yield rate
        for group in self.groups:
            yield from group.moments.values()
            if group.missed is not None:
                yield group.missed

    def replaced_by(self, new: State) -> State:
        """Copy new values into this state if the structures agree, else return `new`.

        The optimiser so retains its tensors, and `jit` need not search for them again.

        >>> opt, x = tw.optim.SGD(lr=0.5), tw.ones(2)
        >>> state = opt.init(x)
        >>> _, new = opt.update(x, tw.ones(2), state)
        >>> state.replaced_by(new).step
        tensor(1)
        """
        for mine, other in zip(self.groups, new.groups, strict=False):
            if mine.layout != other.layout or (mine.missed is None) != (
                other.missed is None
            ):
                return new
        if len(self.groups) != len(new.groups):
            return new
        for tensor, value in zip(self.tensors(), new.tensors(), strict=True):
            if tensor is not value:
                overwrite(tensor, value.node)
        return self

    def copy(self) -> State:
        """Return a state that shares no tensors and may be overwritten.

        >>> state = tw.optim.SGD().init(tw.ones(2))
        >>> state.copy().step
        tensor(0)
        """

        def copied(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            tensor = Tensor.without_registering(leaf.node)
            if not leaf.shape:  # `jit` then takes it as an argument, not a constant.
                overwrite(tensor, tensor.node)
            return tensor

        copy: State = tree.map(copied, self)
        return copy


def finish_step(leaves: Sequence[Tensor], state: State) -> None:
    """Evaluate parameters and state after a step, except during differentiation."""
    if not is_differentiating():
        end_step([pair_of(tensor.node) for tensor in (*leaves, *state.tensors())])


def number(value: float, device: str, dtype: DType = dtypes.int32) -> Tensor:
    """Return a 0-d tensor that `jit` treats like a computed one, not as a constant."""
    tensor = asarray(value, dtype=dtype, device=device)
    mark_number(tensor.node)
    return tensor


def incremented(count: Tensor) -> Tensor:
    """Return a count plus 1, folded if the count is a constant.

    So steps whose results are not read build no chain of additions.
    """
    known = plain_number(count.node)
    if known is None:
        return count + 1
    return number(int(known) + 1, count.node.device)


def new_groups(
    names: Sequence[str],
    leaves: Sequence[Tensor],
    initial: Mapping[str, float],
    settings: int = 0,
) -> tuple[Group, ...]:
    """Return the groups of new parameters, with the initial values of their moments."""
    return tuple(
        [
            Group(
                layout,
                {
                    name: _first_moment(
                        layout.of_moment(name), leaves[indices[0]], value
                    )
                    for name, value in initial.items()
                },
                settings=settings,
            )
            for layout, indices in flat_layouts(names, leaves)
        ]
    )


def _first_moment(layout: FlatLayout, like: Tensor, value: float) -> Tensor:
    """Return a moment filled with its initial value, of shape `(layout.size,)`."""
    dtype = like.dtype.wide
    filled = complex(value, value) if dtype.kind == "complex" else value
    return full(layout.size, filled, dtype=dtype, device=like.device)


def join_in_place(groups: Sequence[Group], leaves: Mapping[str, Tensor]) -> None:
    """Make the leaves of a group views of one flat storage, with unchanged values.

    So the first step has the same structure as all others, and is recorded once.
    """
    for group in groups:
        tensors = [leaves[name] for name in group.layout.names]
        if len(tensors) == 1:
            continue
        with grad_disabled():
            values = [Tensor.without_registering(tensor.node) for tensor in tensors]
            parts = group.layout.parts(group.layout.join(values))
        for tensor, part in zip(tensors, parts, strict=True):
            rehouse(tensor, part.node)


# Saving.


def named_tensors(state: State) -> dict[str, Tensor]:
    """Return a state as tensors by name, with separate moments per parameter."""
    named = {"step": Tensor.without_registering(state.step.node)}
    for index, rate in enumerate(state.rates):
        if rate is not None:
            named[_rate_name(index)] = Tensor.without_registering(rate.node)
    for group in state.groups:
        names = group.layout.names
        for name, parts in zip(names, group.by_parameter(), strict=True):
            named.update({f"{name}.{moment}": part for moment, part in parts.items()})
        if group.missed is not None:
            named.update(dict.fromkeys([f"{n}.missed" for n in names], group.missed))
    return named


def _rate_name(index: int) -> str:
    return f"learning_rate.{index}" if index else "learning_rate"


def state_from_named(state: State, values: Mapping[str, ArrayLike]) -> State:
    """Return a state with the structure of another, and values by name.

    Raises:
        DataError: names are missing or not known, or shapes differ.
    """
    expected = named_tensors(state)
    optional = {
        f"{name}.missed": state.step
        for group in state.groups
        for name in group.layout.names
    }
    unknown = [name for name in values if name not in expected and name not in optional]
    missing = [n for n in expected if n not in values and n not in optional]
    if unknown or missing:
        raise DataError(
            "load_state_dict: this is the state of another model or optimiser; "
            f"missing: {_listed(missing)}; not known: {_listed(unknown)}."
        )
    expected |= optional
    loaded = {}
    for name, value in values.items():
        like = expected[name]
        loaded[name] = asarray(value, dtype=like.dtype, device=like.device)
        if loaded[name].shape != like.shape:
            raise DataError(
                f"load_state_dict: {name!r} has shape {loaded[name].shape}, and "
                f"{like.shape} is needed here."
            )
        if not like.shape:
            mark_number(loaded[name].node)
    rates = [
        None if rate is None else loaded[_rate_name(index)]
        for index, rate in enumerate(state.rates)
    ]
    groups = [part for group in state.groups for part in _loaded(group, loaded)]
    return State(loaded["step"], tuple(rates), tuple(groups))


def _loaded(group: Group, loaded: Mapping[str, Tensor]) -> Iterator[Group]:
    """Yield a group with loaded values; parameters that skipped steps are separate."""
    names = group.layout.names
    parts = [{m: loaded[f"{name}.{m}"] for m in group.moments} for name in names]
    group = replace(group, missed=None).with_parts(parts)
    skipped = [n for n, name in enumerate(names) if f"{name}.missed" in loaded]
    if not skipped:
        yield group
        return
    others = [n for n in range(len(names)) if n not in skipped]
    if others:
        yield group.subset(others)
    for index in skipped:
        missed = loaded[f"{names[index]}.missed"]
        yield replace(group.subset([index]), missed=missed)


def _listed(names: Sequence[str]) -> str:
    """Return names for a message."""
    return ", ".join(repr(name) for name in names) or "none"


# Trees of parameters, and checks.


class Parameters:
    """The floating-point tensors of a tree, and their names.

    Attributes:
        names: their paths in the tree.
        leaves: the tensors.
    """

    def __init__(self, parameters: Any) -> None:
        """Flatten a tree.

        Raises:
            DataError: the tree is a number.
        """
        self._tree = parameters
        self._all, self._structure = tree.flatten(parameters)
        pairs = zip(self._all, self._structure.slots(), strict=True)
        self._indices = [
            index
            for index, (leaf, slot) in enumerate(pairs)
            if is_float(leaf) and not slot.is_constant
        ]
        if isinstance(parameters, int | float) and not self._indices:
            raise DataError(
                f"the parameters are the number {parameters}; a learning rate is given "
                f"by name, lr={parameters}, and parameters are tensors."
            )
        paths = tree.paths(parameters)
        self.names = [paths[n] for n in self._indices]
        self.leaves: list[Tensor] = [self._all[n] for n in self._indices]

    def unique(self) -> tuple[list[str], list[Tensor]]:
        """Return every tensor once, by its first name: tied weights are one."""
        first: dict[int, tuple[str, Tensor]] = {}
        for name, leaf in zip(self.names, self.leaves, strict=True):
            first.setdefault(id(leaf), (name, leaf))
        return [name for name, _ in first.values()], [t for _, t in first.values()]

    def tree_with(self, leaves: Sequence[Tensor]) -> Any:
        """Return the tree with other tensors."""
        replaced = list(self._all)
        for index, leaf in zip(self._indices, leaves, strict=True):
            replaced[index] = leaf
        return tree.unflatten(self._structure, replaced)

    def gradients(self, grads: Any) -> list[Any]:
        """Return each parameter's leaf in the tree of gradients.

        Raises:
            DataError: the trees do not match.
        """
        leaves, structure = tree.flatten(grads)
        if structure != self._structure:
            mine, others = tree.paths(self._tree), tree.paths(grads)
            different = [name for name in mine if name not in others]
            different += [name for name in others if name not in mine]
            reason = (
                f"{different[0]!r} is only in one"
                if different
                else "their classes differ"
            )
            raise DataError(
                "update: parameters and gradients are different trees: "
                f"{reason}. Give what tw.grad of a function of the parameters returns."
            )
        return [leaves[n] for n in self._indices]


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


def check_state(
    name: str, state: State, names: Sequence[str], leaves: Sequence[Tensor]
) -> None:
    """Raise unless a state belongs to these parameters.

    Raises:
        DataError: it does not; the message names the first difference.
    """
    shapes: dict[str, Shape] = {}
    for group in state.groups:
        shapes.update(zip(group.layout.names, group.layout.shapes, strict=True))
    for path, leaf in zip(names, leaves, strict=True):
        shape = shapes.pop(path, None)
        if shape == leaf.shape:
            continue
        reason = (
            "the state has none"
            if shape is None
            else f"that of the state has shape {shape}"
        )
        raise DataError(
            f"{name}: the state belongs to another model: {path!r} has shape "
            f"{leaf.shape} and {reason}; make one with init(tree)."
        )
    for path, shape in shapes.items():
        raise DataError(
            f"{name}: the state belongs to another model: it has {path!r} of shape "
            f"{shape}, which is no parameter here; make one with init(tree)."
        )


def check_gradients(
    name: str, names: Sequence[str], leaves: Sequence[Tensor], grads: Sequence[Any]
) -> None:
    """Raise if a gradient does not match its parameter, or if all are None.

    Raises:
        DataError: one is no tensor of the parameter's shape.
        TransformError: there is no gradient.
    """
    if all(grad is None for grad in grads):
        raise TransformError(
            f"{name}: no parameter has a gradient; call loss.backward() before, of "
            "a loss that was computed from these parameters."
        )
    for path, leaf, grad in zip(names, leaves, grads, strict=True):
        if grad is None or (is_float(grad) and grad.shape == leaf.shape):
            continue
        actual = f"shape {grad.shape}" if is_float(grad) else type(grad).__name__
        raise DataError(
            f"{name}: the gradient of {path or 'the parameter'!r} is {actual}, and the "
            f"parameter a tensor of shape {leaf.shape}."
        )
