"""The webgpu device: opens the kernel backend on a GPU, which can tune and prepare."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorweb.backends.hardware import keep_tiles
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.machine import Machine
from tensorweb.backends.planning import make_plan
from tensorweb.backends.probes import NOTHING, Findings, probe
from tensorweb.backends.shader_pipelines import BackgroundPipelines, ShaderPipelines
from tensorweb.codegen.fourier import rows_of
from tensorweb.codegen.product.tiles import candidates, problem_of
from tensorweb.devices import DEVICES
from tensorweb.drivers import ShaderDriver, open_driver
from tensorweb.drivers.native_adapter import ADAPTER_VARIABLE
from tensorweb.dtypes import ALL
from tensorweb.graph.node import Node
from tensorweb.schedule.linear import linearize
from tensorweb.waits import Steps

if TYPE_CHECKING:
    from tensorweb.protocol import Preparer, Tuner

DEVICE = "webgpu"

ALIGNMENT = 4
"""Copies between buffers begin at whole words."""

UNBOUNDED = 1 << 62
"""Bytes: a GPU's memory is apart from Python's, whose addresses have 32 bits in a
browser and would count no further than 2 GiB."""


def open_backend() -> Steps[WebGpuBackend]:
    """Open the GPU and probe its adapter.

    Raises:
        DeviceError: there is no adapter; says what to do.
        BlockingError: Python cannot wait here.
    """
    driver = yield from open_driver()
    return WebGpuBackend(driver, (yield from probe(driver)))


def machine_of(driver: ShaderDriver) -> Machine:
    """Return what the kernel backend must know of a GPU."""
    return Machine(
        DEVICE,
        {dtype.name: dtype.device_itemsize for dtype in ALL},
        max(driver.limits["maxStorageBuffersPerShaderStage"] - 2, 2),
        ALIGNMENT,
        UNBOUNDED,
        "wgsl",
        workgroups,
        str,
        rolls=True,
    )


def workgroups(grid: tuple[int, int]) -> str:
    """Say for people how many workgroups a launch has.

    >>> workgroups((3, 2))
    '6 workgroups'
    """
    return f"{grid[0] * grid[1]} workgroups"


class WebGpuBackend(KernelBackend):
    """One open GPU; it has all abilities itself.

    Attributes:
        faults: what its adapter computes wrongly, in words; kernels avoid it.
    """

    driver: ShaderDriver
    _pipelines: ShaderPipelines

    def __init__(self, driver: ShaderDriver, found: Findings = NOTHING) -> None:
        """Take over an open driver whose adapter has been probed."""
        self.faults = found.faults
        names = set(DEVICES[DEVICE].dtypes)
        if "shader-f16" not in driver.features:
            names.discard("float16")
        machine = machine_of(driver)
        pipelines = ShaderPipelines(driver, found.workarounds)
        super().__init__(driver, machine, pipelines, frozenset(names))
        # Who names an adapter wants it.
        self.is_emulated = driver.is_software and ADAPTER_VARIABLE not in os.environ
        self.row_transformer = rows_of(pipelines.target)

    def explain(self, nodes: Sequence[Node]) -> str:
        """Say what computing the nodes would run, and on what adapter."""
        faults = "".join(f"  {fault}\n" for fault in self.faults)
        note = (
            f"\nThe adapter's faults, which kernels avoid:\n{faults}" if faults else ""
        )
        return f"{super().explain(nodes)}{note}"

    @property
    def tuner(self) -> Tuner:
        """Products can take several tiles."""
        return self

    @property
    def preparer(self) -> Preparer:
        """Pipelines can be compiled ahead."""
        return self

    @property
    def is_worthwhile(self) -> bool:
        """Whether compilers run beside programs: not where the CPU computes as well."""
        return not self.driver.is_software

    def prepare(self, nodes: Sequence[Node]) -> int:
        """Begin to compile what computing nodes would run; how many kernels compile."""
        bases = [node.base for node in nodes if node.base.storage is None]
        if bases:
            graph = linearize(list(dict.fromkeys(bases)))
            make_plan(graph, self.pool, BackgroundPipelines(self._pipelines))
        return self.driver.pending_pipelines()

    def finish_preparing(self) -> Steps[None]:
        """Wait until nothing is compiled in the background any more."""
        return self.driver.finish_pipelines()

    @property
    def tuned(self) -> dict[str, str]:
        """The measured tile of each class of products that has one."""
        return dict(self._pipelines.target.tuned)

    def tiles_for(self, size: int, in_vectors: bool) -> tuple[str, list[str]]:
        """Return the class of a square product and the tiles it can take."""
        target = self._pipelines.target
        found = candidates(1, size, size, target, in_vectors)
        names = [] if target.is_software else [tile.name for tile in found]
        return problem_of(1, size, size, in_vectors), names

    def use_tiles(self, tuned: Mapping[str, str]) -> None:
        """Take these tiles from now on; plans made for others are forgotten."""
        target = self._pipelines.target
        self._pipelines.target = replace(target, tuned=tuple(tuned.items()))
        self._plans.clear()

    def keep_tiles(self) -> bool:
        """Keep the tiles in use for later runs; returns whether they will last."""
        return keep_tiles(self.driver, self.tuned)
