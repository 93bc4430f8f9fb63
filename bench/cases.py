"""Cases to time: a tensorweb program on given operands, or a ceiling of the GPU.

A case enqueues operations; whoever times it waits for the GPU, while a CPU is done at
once. Runs in Pyodide and natively, imports no NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, cast

import tensorweb as tw
from bench.ceilings import Ceiling
from bench.family_programs import FAMILY_PROGRAMS
from bench.programs import PROGRAMS
from bench.workloads import COMPLEX
from tensorweb import Tensor, devices, evaluate
from tensorweb.waits import run_async

if TYPE_CHECKING:
    from tensorweb.backends.webgpu import WebGpuBackend
    from tensorweb.drivers import ShaderDriver
    from tensorweb.graph.node import Node

TYPE_CODES: dict[str, Literal["f", "i"]] = {"float32": "f", "int32": "i"}


def driver() -> ShaderDriver:
    """Return the open GPU's driver."""
    return cast("WebGpuBackend", devices.backend("webgpu")).driver


APART = frozenset({"elem", "gelu", "life", "heat", "gray_scott", "mandelbrot"})
"""Programs whose results one kernel would compute together if they shared operands:
each result of a group has its own copy."""


class Case(Protocol):
    """Something that can be enqueued `count` times."""

    def run(self, count: int) -> None:
        """Enqueue operations; `count` is a multiple of the case's group."""

    def result(self) -> bytes:
        """Wait and return the bytes of the last result."""

    async def result_async(self) -> bytes:
        """Return the same by awaiting."""


class ProgramCase:
    """One program; `group` of its results are computed by one flush.

    With `is_jitted`, one function recorded by `tw.jit` returns them: as many kernels in
    one submit, replayed without Python for each operation. With `is_chained`, each
    result is the next operation's operand, and forced before it.
    """

    def __init__(
        self,
        program: str,
        operands: Sequence[tuple[bytes, Sequence[int], str]],
        group: int,
        *,
        is_jitted: bool = False,
        is_chained: bool = False,
        device: str = "webgpu",
    ) -> None:
        """Put the operands (bytes, shape, dtype) on the device."""
        self.program = {**PROGRAMS, **FAMILY_PROGRAMS}[program]
        self.is_jitted = is_jitted
        self.is_chained = is_chained
        self.is_apart = program in APART
        self.given = [_tensor(*operand, device) for operand in operands]
        tw.realize(*[x + 0 for x in self.given])
        self.last: list[Tensor] = []
        self.regroup(group)

    def regroup(self, group: int) -> None:
        """Compute so many results by one flush from now on."""
        self.group = group
        copies = group - 1 if self.is_apart else 0
        again = [(x + 0).realize() for _ in range(copies) for x in self.given]
        self.operands = [*self.given, *again]
        self.step = tw.jit(self._several) if self.is_jitted else self._several

    def run(self, count: int) -> None:
        operands = self.operands
        for _ in range(0, count, self.group):
            self.last.clear()
            self.last = self.step(*operands)
            tw.realize(*self.last)
            if self.is_chained:
                operands = self.last[:]

    def _several(self, *operands: Tensor) -> list[Tensor]:
        """Return results that share nothing: equal nodes of a graph stay apart."""
        count = len(self.given)
        starts = range(0, len(operands), count) if self.is_apart else [0] * self.group
        found: list[Tensor] = []
        for at in starts:
            result = self.program(*operands[at : at + count])
            found += [result] if isinstance(result, Tensor) else result
        return found

    def _newest(self) -> list[Node]:
        """Return the nodes of the last operation's results."""
        return [x.node for x in self.last[-(len(self.last) // self.group) :]]

    def result(self) -> bytes:
        return b"".join(evaluate.read(self._newest()))

    async def result_async(self) -> bytes:
        return b"".join(await evaluate.read_async(self._newest()))


class CeilingCase:
    """A hand-written kernel that does one thing as fast as the GPU can."""

    def __init__(self, name: str, *, tiny: bool = False) -> None:
        self.ceiling = Ceiling(driver(), name, tiny=tiny)

    def run(self, count: int) -> None:
        for _ in range(count):
            self.ceiling.submit()

    def result(self) -> bytes:
        return driver().read(self.ceiling.target, 0, 4)

    async def result_async(self) -> bytes:
        return await run_async(driver().read_steps(self.ceiling.target, 0, 4))


def _tensor(data: bytes, shape: Sequence[int], dtype: str, device: str) -> Tensor:
    """Return a tensor on the device of row-major bytes."""
    if dtype == COMPLEX:
        parts = _tensor(data, (*shape, 2), "float32", device)
        return parts[..., 0] + 1j * parts[..., 1]
    elements = memoryview(data).cast(TYPE_CODES[dtype], tuple(shape))
    return tw.asarray(elements, device=device)
