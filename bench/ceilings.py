"""What the GPU can do at most: hand-written kernels that copy, and multiply and add.

They go through tensorweb's driver, so the same file measures every host; no tensors.
"""

from __future__ import annotations

import pkgutil
from array import array
from dataclasses import asdict, dataclass
from typing import Any

from tensorweb.drivers import ShaderDriver
from tensorweb.drivers.protocol import DISPATCH, PARAMETER_WORDS

THREADS = 256
CHAINS = 8
VECTOR_BYTES = 16
MEBIBYTE = 1 << 20

FMA_GROUPS = 4096
FMA_STEPS = 512
FMA_BYTES = 64 * 1024

WARMING_MS = 120
"""Work before a case: a GPU that has waited is slow for about so long."""


@dataclass(frozen=True, slots=True)
class CeilingRow:
    """One ceiling: shader, bytes of each buffer, grid, loop steps, work and unit."""

    name: str
    shader: str
    nbytes: int
    grid: tuple[int, int]
    steps: int
    work: int
    unit: str


def ceilings(*, tiny: bool = False) -> list[CeilingRow]:
    """Return the rows; arrays of 64 MiB may live in a cache, those of 256 MiB not."""
    sizes = (1,) if tiny else (64, 256)
    groups, steps = (64, 64) if tiny else (FMA_GROUPS, FMA_STEPS)
    flops = groups * THREADS * steps * CHAINS * 4 * 2
    grid = (groups, 1)
    fma = CeilingRow("ceiling_fma", "fma", FMA_BYTES, grid, steps, flops, "GFLOP/s")
    return [*(_copy(size * MEBIBYTE) for size in sizes), fma]


def _copy(nbytes: int) -> CeilingRow:
    groups = nbytes // VECTOR_BYTES // THREADS
    grid = (256, groups // 256) if groups > 256 else (groups, 1)
    name = f"ceiling_copy{nbytes // MEBIBYTE}"
    return CeilingRow(name, "copy", nbytes, grid, 0, 2 * nbytes, "GB/s")


def shader_text(row: CeilingRow) -> str:
    """Return the text of a ceiling's shader."""
    text = pkgutil.get_data("bench", f"shaders/{row.shader}.wgsl")
    assert text is not None, "internal: the shader is not in the package"
    return text.decode()


def warming(*, tiny: bool = False) -> dict[str, Any]:
    """Return for JavaScript what keeps the GPU busy before a case, and how long."""
    fma = ceilings(tiny=tiny)[-1]
    milliseconds = 0 if tiny else WARMING_MS
    return {"row": asdict(fma), "text": shader_text(fma), "milliseconds": milliseconds}


class Ceiling:
    """One ceiling's pipeline, buffers and tape on an open device."""

    def __init__(self, driver: ShaderDriver, name: str, *, tiny: bool = False) -> None:
        row = next(row for row in ceilings(tiny=tiny) if row.name == name)
        self.driver = driver
        source = driver.create_buffer(row.nbytes)
        self.target = driver.create_buffer(row.nbytes)
        self._buffers = (source, self.target)
        pipeline = driver.create_pipeline(shader_text(row), "rw", row.name)
        words = [PARAMETER_WORDS, row.steps, *[0] * (PARAMETER_WORDS - 1)]
        words += [DISPATCH, pipeline, *row.grid, 1, 0, 2, source, self.target]
        self._tape = array("i", words)

    def submit(self) -> None:
        """Enqueue the kernel once."""
        self.driver.submit(self._tape)

    def free(self) -> None:
        """Give the buffers back."""
        for buffer in self._buffers:
            self.driver.destroy_buffer(buffer)
