"""The networks of a run as trees: modules with their parameters and last results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tensorweb as tw
from tensorweb.graph.tracing import is_tracing
from tensorweb.nn import Module


@dataclass(slots=True)
class Call:
    """How often a module was called, and what it returned last."""

    module: Module
    count: int = 0
    output: tw.Tensor | None = None


class Calls:
    """The calls of modules while a program runs; of modules that have `forward`."""

    def __init__(self) -> None:
        """Begin without a call."""
        self._calls: dict[int, Call] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the calls of all modules inside a `with` block."""
        plain = Module.__call__

        def noted(module: Module, *args: Any, **kwargs: Any) -> Any:
            result = plain(module, *args, **kwargs)
            if not is_tracing():
                call = self._calls.setdefault(id(module), Call(module))
                call.count += 1
                call.output = _first_tensor(result)
            return result

        Module.__call__ = noted  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Module.__call__ = plain  # type: ignore[method-assign]

    def of(self, module: Module) -> Call:
        """Return the calls of a module."""
        return self._calls.get(id(module)) or Call(module)


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
    """

    module: Module
    path: str
    name: str
    depth: int
    tensors: Mapping[str, tw.Tensor]


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
    tensors = [*Module.named_parameters(module), *Module.named_buffers(module)]
    for path, tensor in tensors:
        owner, _, last = path.rpartition(".")
        while owner not in owned:
            owner, _, more = owner.rpartition(".")
            last = f"{more}.{last}"
        owned[owner][last] = tensor
    for path, part in modules.items():
        around = [other for other in modules if other and path.startswith(f"{other}.")]
        full = f"{name}.{path}" if path else name
        depth = len(around) + bool(path)
        parent = max(around, key=len, default="")
        own = path.removeprefix(f"{parent}.") if parent else path
        yield Part(part, full, own or name, depth, owned[path])
