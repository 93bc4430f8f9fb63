"""The networks of a run as trees: modules with parameters, last results and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tensorweb as tw
from tensorweb import dtypes, frames, tree
from tensorweb.events import Flush
from tensorweb.events import KernelRecord as Launch
from tensorweb.frames import Location
from tensorweb.graph.node import Node, pair_of
from tensorweb.graph.provenance import Provenance
from tensorweb.graph.tracing import is_tracing
from tensorweb.nn import Module
from tensorweb.ops import OPS
from tensorweb.shapes import size

COMPUTES_NOTHING = frozenset({"movement", "leaf", "constant", "iota"})
"""Kinds of nodes that take no part of a kernel's time."""


@dataclass(slots=True)
class Call:
    """How often a module was called, and what it returned last."""

    module: Module
    count: int = 0
    output: tw.Tensor | None = None


@dataclass(slots=True)
class Time:
    """Device time of the nodes that a module built itself, without its parts.

    Attributes:
        is_shared: whether kernels computed nodes of others as well, and their time was
            divided by the bytes of the nodes' values.
    """

    seconds: float = 0.0
    is_shared: bool = False


class Calls:
    """The calls of modules while a program runs; of modules that have `forward`."""

    def __init__(self, provenance: Provenance) -> None:
        """Begin without a call; the provenance is open while calls are noted."""
        self._calls: dict[int, Call] = {}
        self._provenance = provenance
        # By the address of a node's location, which no other node has: flushes retain
        # locations and no nodes.
        self._owners: dict[int, tuple[Location, Module, int]] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the calls of all modules inside a `with` block."""
        plain = Module.__call__

        def noted(module: Module, *args: Any, **kwargs: Any) -> Any:
            begin, here = len(self._owners), frames.here()
            result = plain(module, *args, **kwargs)
            if not is_tracing():
                given = {pair_of(x.node) for x in _tensors_in((module, args, kwargs))}
                self._own(module, result, given, begin, here)
                call = self._calls.setdefault(id(module), Call(module))
                call.count += 1
                call.output = _first_tensor(result)
            return result

        Module.__call__ = noted  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Module.__call__ = plain  # type: ignore[method-assign]

    def _own(
        self,
        module: Module,
        result: object,
        given: set[Node],
        begin: int,
        here: Location | None,
    ) -> None:
        """Note which nodes a call built, but not those of calls inside of it.

        Args:
            module: the module that was called.
            result: what it returned.
            given: the nodes of its arguments and parameters.
            begin: count of the nodes with an owner before the call.
            here: the location of the call, None if unknown.
        """

        def is_own(node: Node) -> bool:
            location: Location | None = getattr(node, "location", None)
            if node in given or location is None or here is None:
                return False
            # Nodes of closures and globals were built before, as for an argument.
            if (location[2], location[1]) < (here[2], here[1]):
                return False
            owner = self._owners.get(id(location))
            return owner is None or owner[2] >= begin

        results = [pair_of(x.node) for x in _tensors_in(result)]
        for node in self._provenance.ordered(results, is_own):
            location: Location | None = getattr(node, "location", None)
            if location is not None and id(location) not in self._owners:
                self._owners[id(location)] = location, module, len(self._owners)

    def of(self, module: Module) -> Call:
        """Return the calls of a module."""
        return self._calls.get(id(module)) or Call(module)

    def times(self, flushes: Iterable[Flush]) -> dict[int, Time]:
        """Return the times of modules by their ids; empty if no flush was timed."""
        times: dict[int, Time] = {}
        for flush in flushes:
            measured = zip(flush.launches, flush.seconds or (), strict=False)
            for launch, seconds in measured:
                shares = self._shares(flush, launch)
                total = sum(shares.values()) or 1
                for owner, nbytes in shares.items():
                    time = times.setdefault(owner, Time())
                    time.seconds += seconds * nbytes / total
                    time.is_shared |= len(shares) > 1
        return times

    def _shares(self, flush: Flush, launch: Launch) -> Counter[int]:
        """Return the bytes of a launch's nodes by their modules, 0 for no module."""
        shares: Counter[int] = Counter()
        for number in launch.nodes if flush.locations else ():
            node = flush.graph[number]
            if OPS[node.op].kind not in COMPUTES_NOTHING:
                owner = self._owners.get(id(flush.locations[number]))
                nbytes = size(node.shape) * getattr(dtypes, node.dtype).itemsize
                shares[id(owner[1]) if owner else 0] += max(nbytes, 1)
        return shares


def _tensors_in(value: object) -> Iterator[tw.Tensor]:
    """Yield the tensors of a tree, which may contain itself."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tw.Tensor):
            yield each
        elif id(each) not in seen:
            seen[id(each)] = each
            waiting += tree.children(each) or ()


def _first_tensor(value: object) -> tw.Tensor | None:
    """Return a tensor itself, or the first one of a tuple."""
    if type(value) is tuple:
        value = next(iter(value), None)
    return value if isinstance(value, tw.Tensor) else None


@dataclass(frozen=True, slots=True)
class Part:
    """A module of a network.

    Attributes:
        path: how the program reaches it, for example `model.layers.0`.
        name: the last part of that.
        depth: count of modules around it.
        tensors: its own parameters and buffers by name, without those of its parts.
        buffers: names of the buffers among them.
    """

    module: Module
    path: str
    name: str
    depth: int
    tensors: Mapping[str, tw.Tensor]
    buffers: frozenset[str]


def parts_of(names: Mapping[str, object]) -> Iterator[Part]:
    """Yield the modules of each network that has a name, each before its parts.

    A network that is part of another one is listed there only.
    """
    found = {
        name: value
        for name, value in names.items()
        if issubclass(type(value), Module) and not name.startswith("__")
    }
    inner = {
        id(each)
        for value in found.values()
        for path, each in Module.named_modules(_module(value))
        if path
    }
    seen = set(inner)
    for name, value in found.items():
        if id(value) not in seen:
            seen.add(id(value))
            yield from _walk(_module(value), name)


def _module(value: object) -> Module:
    assert isinstance(value, Module), "internal: only modules are opened"
    return value


def _walk(module: Module, name: str) -> Iterator[Part]:
    modules = dict(Module.named_modules(module))
    owned: dict[str, dict[str, tw.Tensor]] = {path: {} for path in modules}
    buffers: dict[str, set[str]] = {path: set() for path in modules}
    states = dict(Module.named_buffers(module))
    for path, tensor in [*Module.named_parameters(module), *states.items()]:
        owner, _, last = path.rpartition(".")
        while owner not in owned:
            owner, _, more = owner.rpartition(".")
            last = f"{more}.{last}"
        owned[owner][last] = tensor
        if path in states:
            buffers[owner].add(last)
    for path, part in modules.items():
        around = [other for other in modules if other and path.startswith(f"{other}.")]
        full = f"{name}.{path}" if path else name
        depth = len(around) + bool(path)
        parent = max(around, key=len, default="")
        own = path.removeprefix(f"{parent}.") if parent else path
        states_of = frozenset(buffers[path])
        yield Part(part, full, own or name, depth, owned[path], states_of)
