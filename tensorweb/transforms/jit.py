"""`jit`: record the operations of a function once, then replay them without Python.

The first call with new shapes and dtypes records the graph; later calls bind the new
arguments' buffers to the recorded command tape and submit it. Python inside the
function does not run again until shapes, dtypes or other arguments change.

Python does not report that a name was rebound, so each call of `jit` compares the
captured values with those at recording time. Writes into tensors are noticed by
`Captures` (`graph/tracing.py`).
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Mapping,
    Sequence,
)
from copy import deepcopy
from functools import partial
from inspect import BoundArguments
from inspect import signature as call_signature
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    cast,
    overload,
)

from tensorweb import devices
from tensorweb.errors import DeviceError, TraceError, TransformError
from tensorweb.functions import asarray
from tensorweb.graph.autograd import is_differentiating, reaches_leaf
from tensorweb.graph.node import Node, ancestors, pair_of
from tensorweb.graph.nonfinite import is_searching
from tensorweb.graph.provenance import open_provenance
from tensorweb.graph.tracing import Captures, Trace, is_tracing, tracing
from tensorweb.nodes.ranges import Interval, interval_of, limits
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import device_of
from tensorweb.tensor.views import base_and_views, share_elements
from tensorweb.transforms.captured_names import CapturedNames
from tensorweb.transforms.inputs import name_of, transformation, wraps_function
from tensorweb.transforms.recordings import (
    Layout,
    Record,
    Signature,
    TracedUpdates,
    UpdatedState,
    as_updates,
    inputs_for,
    placeholders,
    refuse_outside_gradients,
    value_of,
)
from tensorweb.trees import (
    ArrayFoundError,
    Holder,
    constant_key,
    fill,
    flatten,
    is_changed,
    map_arrays,
    open_methods_of,
    parts_of,
    rebuild,
)

if TYPE_CHECKING:
    from tensorweb.protocol import Recorder


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")

# Limit of cached signatures (shapes, dtypes, settings) per function.
SIGNATURES_KEPT = 64


class Jitted(Generic[P, R]):
    """A compiled function; made by `jit`.

    Attributes:
        recordings: how often the Python function has been recorded.
    """

    # Slots, so that attributes of another function, which `functools.wraps` copies
    # into `__dict__`, never become the state of this one.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_captured_names",
        "_function",
        "_known",
        "_updated",
        "_updates",
        "recordings",
    )

    def __init__(self, function: Callable[P, R], updates: object = ()) -> None:
        """Wrap a function that changes the objects in `updates`."""
        wraps_function(function)(self)
        self._function = function
        self._updates = as_updates(updates)
        self._updated: UpdatedState | None = None
        self._known: OrderedDict[Hashable, Signature] = OrderedDict()
        self._captured_names: CapturedNames | None = None
        self.recordings = 0

    def __set_name__(self, owner: type, name: str) -> None:
        """Register the class as a tree, since methods take its objects as arguments."""
        open_methods_of(owner)

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(
        self: Jitted[Concatenate[S, Q], R], owner: S, kind: type | None = None
    ) -> Callable[Q, R]: ...

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """Return a bound method, whose first argument is the object."""
        return self if owner is None else MethodType(self, owner)

    def __deepcopy__(self, memo: dict[int, Any]) -> Jitted[P, R]:
        """Return this function; for the method of a copied object a new `Jitted`.

        Recordings belong to a device and are never copied.
        """
        function = deepcopy(self._function, memo)
        if function is self._function:
            return self
        return self._like(function, deepcopy(self._updates, memo))

    def _like(self, function: Callable[P, R], updates: object) -> Jitted[P, R]:
        """Return another function compiled with the same arguments of `jit`."""
        return Jitted(function, updates)

    def __reduce__(self) -> str:
        """Return the name by which it is copied and pickled, as functions are."""
        return getattr(self, "__qualname__", name_of(self))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the function's result, by a replay if a recording is valid.

        The function runs as plain Python instead: without tensors among the arguments;
        on a device that does not record; while it is traced or differentiated, or an
        argument requires a gradient; if it writes into arguments of which some are
        views of others; and while the page searches for the origin of a NaN or retains
        the provenance of values, since values inside a replay belong to no line.
        """
        if is_tracing() or is_differentiating():
            return self._function(*args, **kwargs)
        holders: list[Holder] = []
        seen: dict[int, int] = {}
        own = None
        if self._updates:
            self._updated = self._updated or UpdatedState(self._updates)
            own = self._updated.collect(holders, seen)
        count = len(holders)
        try:
            named = flatten(kwargs, holders, seen) if kwargs else None
            key = (own, flatten(args, holders, seen), named)
        except ArrayFoundError:
            args, kwargs = _with_tensors((args, kwargs), holders[:count])
            return self(*args, **kwargs)
        if is_searching() or open_provenance() is not None:
            return self._function(*args, **kwargs)
        nodes: list[Node] = []
        for index, holder in enumerate(holders):
            if isinstance(holder, TensorBase):
                node = holder.node
                if index >= count and node.history is not None and reaches_leaf(node):
                    return self._function(*args, **kwargs)
                nodes.append(pair_of(node))
        if self._captured_names is not None and self._captured_names.is_changed():
            self._known.clear()
        signature = self._known.get(key)
        record = signature.find(nodes) if signature is not None else None
        if record is None:
            names = {node.device for node in nodes}
            recorder = _recorder(name_of(self._function), names)
            if recorder is None:
                return self._function(*args, **kwargs)
            signature = signature or Signature()
            layouts = signature.layouts_of(nodes)
            self.recordings += 1
            function = cast(Callable[..., object], self._function)
            record = _record(function, args, kwargs, holders, count, layouts, recorder)
            signature.keep(record)
            self._captured_names = CapturedNames(
                self._function, {id(h) for h in holders[:count]}
            )
            self._known[key] = signature
            if len(self._known) > SIGNATURES_KEPT:
                self._known.popitem(last=False)
        if record.written and _shares(holders, record):
            return self._function(*args, **kwargs)
        return cast(R, record(holders, nodes))


class _WithConstants(Jitted[P, R]):
    """A compiled function some of whose arguments are constants of the recordings."""

    __slots__ = ("_call_signature", "_constants", "_of_constants")

    def __init__(
        self, function: Callable[P, R], updates: object, constants: Sequence[str | int]
    ) -> None:
        super().__init__(function, updates)
        self._call_signature = call_signature(function)
        known = [*self._call_signature.parameters]
        named: dict[str, None] = {}
        for one in constants:
            is_there = one in known or one in range(-len(known), len(known))
            if not is_there:
                raise TransformError(
                    f"jit: {name_of(function)} has no argument {one!r}, which shall be "
                    f"static; it has {', '.join(known) or 'none'}."
                )
            named[one if isinstance(one, str) else known[one]] = None
        self._constants = [*named]
        self._of_constants: OrderedDict[Hashable, Jitted[[Any], R]] = OrderedDict()

    def _like(self, function: Callable[P, R], updates: object) -> Jitted[P, R]:
        return _WithConstants(function, updates, self._constants)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        call = self._call_signature.bind(*args, **kwargs)
        call.apply_defaults()
        fixed = {name: call.arguments.pop(name) for name in self._constants}
        try:
            key = constant_key((*fixed.values(),))
            jitted = self._of_constants.get(key)
        except TypeError as error:
            raise TraceError(
                f"jit: static arguments of {name_of(self._function)} are compared, and "
                f"one cannot be ({error}); give numbers, text or tuples of them."
            ) from None
        if jitted is None:
            function, signature = self._function, self._call_signature

            @wraps_function(function)
            def others(arguments: dict[str, Any]) -> R:
                call = BoundArguments(signature, OrderedDict(arguments | fixed))
                return function(*call.args, **call.kwargs)

            jitted = self._of_constants[key] = Jitted(others, self._updates)
            if len(self._of_constants) > SIGNATURES_KEPT:
                self._of_constants.popitem(last=False)
        before = jitted.recordings
        result = jitted(call.arguments)
        self.recordings += jitted.recordings - before
        return result


def _with_tensors(arguments: object, own: Sequence[Holder]) -> Any:
    """Return arguments with a tensor for each NumPy array, where the others lie.

    Args:
        arguments: the positional and the keyword arguments of a call.
        own: what the function updates; its device comes first.
    """
    holders = [*own]
    flatten(map_arrays(arguments, lambda array: None), holders, {})
    device = device_of(*holders)
    return map_arrays(arguments, lambda array: asarray(array, device=device))


def _shares(holders: Sequence[Holder], record: Record) -> bool:
    """Whether a written argument is aliased by an argument or a captured tensor."""
    if share_elements(h for h in holders if isinstance(h, TensorBase)):
        return True
    return any(
        record.captures.has(tensor.node)
        for index in record.written
        for tensor in base_and_views(holders[index])
    )


def _recorder(name: str, names: Collection[str]) -> Recorder | None:
    """Return the recorder of the arguments' device, None if it has none.

    Raises:
        DeviceError: the arguments lie on several devices.
    """
    if len(names) > 1:
        raise DeviceError(
            f"jit: arguments of {name} lie on "
            f"{' and '.join(sorted(names))}, and a recording runs on one device; "
            f"move them with to_device({min(names)!r}), or leave out jit."
        )
    return devices.backend(*names).recorder if names else None


def _record(
    function: Callable[..., object],
    args: object,
    kwargs: object,
    given: Sequence[Holder],
    count: int,
    layouts: Sequence[Layout | None],
    recorder: Recorder,
) -> Record:
    """Trace the function on placeholders and return the recording.

    The first `count` holders are those of the `updates` objects. The function gets
    these objects themselves, with placeholders inside, and copies of other holders.
    """
    name = name_of(function)
    values = [h.node for h in given if isinstance(h, TensorBase)]
    inputs, bases = inputs_for(values, layouts)
    objects, arguments = given[:count], given[count:]
    updated = TracedUpdates(objects, inputs)
    remaining = iter(inputs[sum(isinstance(h, TensorBase) for h in objects) :])
    traced_as: dict[int, Holder] = {id(holder): holder for holder in objects}
    copies, contents_before = placeholders(arguments, remaining, traced_as)
    traced_as.update(zip(map(id, arguments), copies, strict=True))
    holders = [*objects, *copies]
    nodes_before = [h.node if isinstance(h, TensorBase) else None for h in copies]
    with updated.traced():
        by_placeholder = dict(zip(bases, map(pair_of, values), strict=True))
        with tracing(name, by_placeholder, updated=holders[:count]) as trace:
            result = function(*rebuild(args, traced_as), **rebuild(kwargs, traced_as))
        changed = updated.changed() + [
            index
            for index, (holder, content) in enumerate(
                zip(copies, contents_before, strict=True), count
            )
            if is_changed(holder, content)
        ]
        written = updated.written() + [
            index
            for index, (holder, node) in enumerate(
                zip(copies, nodes_before, strict=True), count
            )
            if isinstance(holder, TensorBase) and holder.node is not node
        ]
        created = _created_tensors(result, holders, changed)
        known = {id(holder): holder for holder in (*holders, *created, *updated.views)}
        _refuse_outside_writes(name, trace, known)
        refuse_outside_gradients(name, trace, known)
        outputs = [pair_of(tensor.node) for tensor in created]
        outputs += [pair_of(value_of(cast(TensorBase, holders[n]))) for n in written]
        _check(name, inputs[0].device, outputs, result, holders)
        # The recording must not retain the objects: stand-ins replace them.
        stand_ins = updated.stand_ins()
        retained = [stand_ins.get(id(holder), holder) for holder in holders]
        if count:
            retained_as = {**{id(holder): holder for holder in copies}, **stand_ins}
            for index in changed[bisect_left(changed, count) :]:
                fill(retained[index], retained[index], retained_as)
            result = rebuild(result, retained_as)
    own_bases = set(bases)
    captured = [n for n in ancestors(outputs) if n.base not in own_bases]
    captures = Captures([*captured, *trace.read])
    replay = recorder.record(bases, outputs)
    assumed = [(bases.index(base), ends) for base, ends in trace.assumed.items()]
    return Record(
        replay=replay,
        layouts=layouts,
        assumed=assumed,
        promised=_promised(outputs),
        captures=captures,
        holders=retained,
        result=result,
        made=created,
        written=written,
        changed=changed,
    )


def _created_tensors(
    result: object, holders: Sequence[Holder], changed: Sequence[int]
) -> list[TensorBase]:
    """Return new tensors in the result and in the holders that the function changed."""
    found: list[Holder] = []
    known = {id(holder): index for index, holder in enumerate(holders)}
    contents = [part for index in changed for part in parts_of(holders[index])]
    flatten([result, *contents], found, known)
    return [holder for holder in found if isinstance(holder, TensorBase)]


def _promised(outputs: Sequence[Node]) -> list[tuple[int, Interval]]:
    """Return indices and ranges of integer results narrower than their dtype."""
    return [
        (index, interval)
        for index, node in enumerate(outputs)
        if node.dtype.kind in ("int", "uint")
        and (interval := interval_of(node)) != limits(node)
    ]


def _check(
    name: str,
    device: str,
    outputs: Sequence[Node],
    result: object,
    holders: Sequence[Holder],
) -> None:
    """Raise if there is nothing to call, or a result cannot be recorded."""
    mine: list[Holder] = []
    flatten(result, mine, {})
    returns_given = any(value is holder for value in mine for holder in holders)
    if not outputs and not returns_given:
        raise TraceError(f"jit: {name} returns no tensor; there is nothing to call.")
    if any(reaches_leaf(node) for node in outputs):
        raise TraceError(
            f"jit: {name} uses a tensor that requires a gradient and is no argument: a "
            "recording would keep its value of now, and lead no gradient to it. Pass "
            "it as an argument, or call the function inside of `with tw.no_grad():`."
        )
    others = sorted({node.device for node in outputs} - {device})
    if others:
        raise TraceError(
            f"jit: {name} was given tensors on {device!r} and returns one on "
            f"{others[0]!r}; a recording runs on one device. Make it there with "
            f"device={device!r}, or outside of the function."
        )


def _refuse_outside_writes(name: str, trace: Trace, mine: Mapping[int, Holder]) -> None:
    """Raise if the function wrote into a tensor that is no argument.

    A replay would not repeat the write. The tensor gets its old value back.
    """
    if trace.outside_writes(mine):
        gc.collect()
    outside = trace.outside_writes(mine)
    for tensor, old in outside:
        tensor.node = old
    if outside:
        raise TraceError(
            f"jit: {name} writes into a tensor that is neither an argument nor a "
            "result; a recording would do so once only. Pass it as an argument, "
            "return the new value, or list what holds it: @tw.jit(updates=model)."
        )


@overload
def jit(
    function: Callable[P, R],
    *,
    updates: object = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Jitted[P, R]: ...


@overload
def jit(
    function: None = None,
    *,
    updates: object = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...


@transformation
def jit(
    function: Callable[..., Any] | None = None,
    *,
    updates: object = (),
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Return a function that runs as one recorded batch of commands.

    Arguments may be tensors and tuples, lists, dicts and dataclasses of them; numbers,
    text, functions and other constants are part of the recording. NumPy arrays, alone
    or in tuples, lists and dicts, arrive as tensors where the others lie. Shapes,
    dtypes and constants that were not seen before record again. Inside, values
    cannot be read: `if x > 0` and `print(x)` raise `TraceError`. Integer arguments may
    index: each call checks that they are in range, which waits for the device if
    they were computed there. Writes into arguments (`x[0] = 1`, `x += 1`,
    `params["w"] = w`, `model.w = w`) are visible to the caller, as without `jit`.
    Inside another jitted function it becomes a part of
    that. On a method the object is an argument too: its class counts as registered
    (`tw.tree.register`), so that calls see its current attributes. On a device that
    does not record (`cpu`)
    and without any tensor among the arguments, the function simply runs.

    Captured values are part of the recording: if a captured tensor was
    written to, or a name or attribute has another value, the function is
    recorded again, which takes much longer than a replay. Checked are closures, and of
    the function's own module globals, functions and attributes of objects; not names of
    other modules, nor the elements of NumPy arrays: pass these as arguments.

    >>> scale = tw.asarray([1.0, 2.0])
    >>> scaled = jit(lambda x: x * scale)
    >>> scaled(tw.ones(2))
    tensor([1., 2.])
    >>> scale += 1
    >>> scaled(tw.ones(2))
    tensor([2., 3.])

    Objects in `updates` are arguments and results of every call, though the function
    captures them: models, optimisers, generators; so are the gradients of
    their tensors, and `loss.backward()` may be called inside. Their views are updated.

    >>> @jit
    ... def step(w, gradient):
    ...     return w - 0.1 * gradient
    >>> step(tw.ones(3), tw.ones(3))
    tensor([0.9, 0.9, 0.9])

    A training step as in PyTorch:

    >>> w = tw.ones(3)
    >>> opt = tw.optim.SGD([w], lr=0.5)
    >>> @jit(updates=(w, opt))
    ... def step(x):
    ...     loss = (w * x).sum()
    ...     loss.backward()
    ...     opt.step()
    ...     opt.zero_grad()
    ...     return loss
    >>> step(tw.ones(3)), step(tw.ones(3)), w
    (tensor(3.), tensor(1.5), tensor([0., 0., 0.]))

    Args:
        function: the function; without one, a decorator is returned.
        updates: the objects that the function changes, or one of them.
        static_argnums: positions of arguments that are constants, whatever they are;
            numbers, text and functions are without it.
        static_argnames: names of such arguments.

    Raises:
        DeviceError: the arguments lie on more than one device.
        TraceError: the function reads a value, returns no tensor, writes into a
            tensor that it was not given, or is given an object that may change and
            cannot be traversed.
        TransformError: the function has no such static argument.
    """
    if function is None:
        options = {"static_argnums": static_argnums, "static_argnames": static_argnames}
        return partial(jit, updates=as_updates(updates), **options)
    numbers = [static_argnums] if isinstance(static_argnums, int) else static_argnums
    names = [static_argnames] if isinstance(static_argnames, str) else static_argnames
    if not numbers and not names:
        return Jitted(function, updates)
    return _WithConstants(function, updates, [*numbers, *names])
