"""`jit`: record what a function of tensors does once, replay it without Python.

The first call with arguments of some shapes and dtypes records the graph; later calls
fill the recorded command tape with the new arguments' buffers and submit it. Python
inside the function does not run again until shapes, dtypes or other arguments change.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar, cast

from tensorweb import devices
from tensorweb.errors import DeviceError, TraceError
from tensorweb.graph.history import is_kept
from tensorweb.graph.leaves import hangs_on_leaves
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import Trace, is_tracing, tracing
from tensorweb.nodes.ranges import Interval, interval_of, limits
from tensorweb.tensor.base import TensorBase
from tensorweb.transforms.names import name_of
from tensorweb.transforms.recordings import Layout, Record, Signature, placeholders
from tensorweb.trees import (
    Holder,
    flatten,
    is_changed,
    parts_of,
    rebuild,
)

if TYPE_CHECKING:
    from tensorweb.protocol import Recorder

P = ParamSpec("P")
R = TypeVar("R")

SIGNATURES_KEPT = 64
"""Signatures of one function whose recordings are kept: shapes, dtypes and settings."""


class Jitted(Generic[P, R]):
    """A function that records itself; made by `jit`.

    Attributes:
        recordings: how often the function itself has run.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        """Wrap a function."""
        self._function = function
        self._known: OrderedDict[Hashable, Signature] = OrderedDict()
        self.recordings = 0
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns, replayed where it is known.

        Without tensors among the arguments, and on a device that does not record, the
        function simply runs; so it does while a derivative follows what it does, also
        where an argument requires a gradient.
        """
        if is_tracing() or is_kept():
            return self._function(*args, **kwargs)
        holders: list[Holder] = []
        seen: dict[int, int] = {}
        key = (flatten(args, holders, seen), flatten(kwargs, holders, seen))
        given: list[Node] = [h.node for h in holders if isinstance(h, TensorBase)]
        if any(node.past is not None and hangs_on_leaves(node) for node in given):
            return self._function(*args, **kwargs)
        devices_of = {node.device for node in given}
        signature = self._known.get(key)
        found = signature.find(given) if signature is not None else None
        if found is None:
            recorder = self._recorder(devices_of)
            if recorder is None:
                return self._function(*args, **kwargs)
            signature = signature or Signature()
            layouts = signature.layouts_of(given)
            found = self._record(args, kwargs, holders, layouts, recorder)
            signature.keep(found)
            self._known[key] = signature
            if len(self._known) > SIGNATURES_KEPT:
                self._known.popitem(last=False)
        return cast(R, found(holders, given))

    def _recorder(self, names: Collection[str]) -> Recorder | None:
        """Return who records for the devices of the arguments, if there is somebody.

        Raises:
            DeviceError: there are several devices.
        """
        if len(names) > 1:
            raise DeviceError(
                f"jit: arguments of {name_of(self._function)} lie on "
                f"{' and '.join(sorted(names))}, and a recording runs on one device; "
                f"move them with to_device({min(names)!r}), or leave out jit."
            )
        return devices.backend(*names).recorder if names else None

    def _record(
        self,
        args: object,
        kwargs: object,
        given: Sequence[Holder],
        layouts: Sequence[Layout | None],
        recorder: Recorder,
    ) -> Record:
        """Run the function on placeholders and return how to run it again."""
        name = name_of(self._function)
        holders, before = placeholders(given, layouts)
        others = {id(old): new for old, new in zip(given, holders, strict=True)}
        inputs = [h.node for h in holders if isinstance(h, TensorBase)]
        bases = [node.base for node in inputs]
        values = [h.node for h in given if isinstance(h, TensorBase)]
        arguments = dict(zip(bases, values, strict=True))
        self.recordings += 1
        function = cast(Callable[..., object], self._function)
        with tracing(name, arguments) as noted:
            result = function(*rebuild(args, others), **rebuild(kwargs, others))
        changed = [
            index
            for index, (holder, old) in enumerate(zip(holders, before, strict=True))
            if is_changed(holder, old)
        ]
        found: list[Holder] = []
        seen = {id(holder): index for index, holder in enumerate(holders)}
        contents = [part for index in changed for part in parts_of(holders[index])]
        flatten([result, *contents], found, seen)
        made = [holder for holder in found if isinstance(holder, TensorBase)]
        nodes = iter(inputs)
        written = [
            index
            for index, holder in enumerate(holders)
            if isinstance(holder, TensorBase) and holder.node is not next(nodes)
        ]
        _refuse_outside_writes(name, noted, [*holders, *made])
        outputs = [tensor.node for tensor in made]
        outputs += [cast(TensorBase, holders[index]).node for index in written]
        _check(name, inputs[0].device, outputs, result, holders)
        replay = recorder.record(bases, outputs)
        assumed = [(bases.index(base), ends) for base, ends in noted.assumed.items()]
        return Record(
            replay=replay,
            layouts=layouts,
            assumed=assumed,
            promised=_promised(outputs),
            holders=list(holders),
            result=result,
            made=made,
            written=written,
            changed=changed,
        )


def _promised(outputs: Sequence[Node]) -> list[tuple[int, Interval]]:
    """Return which results are integers of a narrower range than their dtype's."""
    return [
        (number, interval)
        for number, node in enumerate(outputs)
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
    """Raise when there is nothing to run, or what a recording cannot give."""
    mine: list[Holder] = []
    flatten(result, mine, {})
    returns_given = any(each is holder for each in mine for holder in holders)
    if not outputs and not returns_given:
        raise TraceError(f"jit: {name} returns no tensor; there is nothing to run.")
    if any(hangs_on_leaves(node) for node in outputs):
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


def _refuse_outside_writes(name: str, noted: Trace, known: Sequence[Holder]) -> None:
    """Raise when the function wrote into a tensor that it was not given.

    A replay would not write into it again. The tensor gets its old value back.
    """
    mine = {id(holder) for holder in known}
    leaked = [key for key, (kept, _) in noted.written.items() if kept() is not None]
    if any(key not in mine for key in leaked):
        gc.collect()
    outside = [
        (tensor, old)
        for key, (kept, old) in noted.written.items()
        if key not in mine and (tensor := kept()) is not None
    ]
    for tensor, old in outside:
        assert isinstance(tensor, TensorBase), "internal: only tensors are written"
        tensor.node = old
    if outside:
        raise TraceError(
            f"jit: {name} writes into a tensor that is neither an argument nor a "
            "result; a recording would do so once only. Pass it as an argument, or "
            "return the new value."
        )


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Return a function that runs as one recorded batch of commands.

    Arguments may be tensors and tuples, lists, dicts and dataclasses of them; numbers,
    text, functions and what else stays what it is are part of the recording. Shapes,
    dtypes and such arguments that were not seen before record again. Inside, values
    cannot be read: `if x > 0` and `print(x)` raise `TraceError`. Integer arguments may
    index: each call looks whether they are in range, which waits for the device where
    only that knows. Tensors that the
    function takes from outside keep the values they had when it was recorded. What it
    writes into its arguments (`x[0] = 1`, `x += 1`, `params["w"] = w`, `model.w = w`)
    the caller sees, as without `jit`. Inside another jitted function it is a part of
    that. Where there is nothing to record for, on a device that does not record (`cpu`)
    and without any tensor among the arguments, the function simply runs.

    >>> @jit
    ... def step(w, gradient):
    ...     return w - 0.1 * gradient
    >>> step(tw.ones(3), tw.ones(3))
    tensor([0.9, 0.9, 0.9])

    Raises:
        DeviceError: the arguments lie on more than one device.
        TraceError: the function asks for a value, returns no tensor, writes into a
            tensor that it was not given, or is given an object that may change and
            cannot be opened.
    """
    return Jitted(function)
