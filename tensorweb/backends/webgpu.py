"""The webgpu device: its compiled shaders, its measured tiles, and its backend.

The figures behind `tiles.py` were measured on a GPU of 132 cores with 255 registers per
thread. On a GPU with fewer cores fewer workgroups occupy it, so larger tiles pay for
smaller problems; with fewer registers, large blocks of accumulators spill to memory.

Browsers report little about an adapter, so the entries are coarse and their figures
estimates; `tw.tune()` measures instead.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tensorweb.backends import policy
from tensorweb.backends.custom_kernels import Capture, own_error
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.pipelines import DeviceTraits, PipelineRequest, Pipelines
from tensorweb.backends.planning import make_plan
from tensorweb.backends.probes import NOTHING, Findings, probe
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.factorizations import largest_triangle
from tensorweb.codegen.fourier import rows_of
from tensorweb.codegen.policy import MEASURED_CORES, MOST_ACCUMULATORS
from tensorweb.codegen.product.tiles import PRODUCT_TILES, candidates, problem_of
from tensorweb.codegen.program import Launch, Program, Target
from tensorweb.devices import entry, number_of
from tensorweb.drivers import ShaderDriver, open_driver
from tensorweb.drivers.policy import ADAPTER_VARIABLE
from tensorweb.drivers.protocol import SharingDriver
from tensorweb.dtypes import ALL
from tensorweb.errors import ShaderError, counted
from tensorweb.graph.attributes import Custom
from tensorweb.graph.node import Node, attributes_of
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.version import VERSION
from tensorweb.waits import Steps, run_blocking

if TYPE_CHECKING:
    from tensorweb.protocol import BufferSharer, Preparer, ShaderCompiler, Tuner


NVIDIA_FAMILIES = "maxwell|pascal|volta|turing|ampere|lovelace|blackwell|geforce|rtx"
"""Dawn's names of NVIDIA's desktop families; it has no name for an H200."""


@dataclass(frozen=True, slots=True)
class AdapterClass:
    """One entry of the table.

    Attributes:
        name: name for diagnostics.
        pattern: regular expression searched in vendor, architecture and description.
        cores: approximate number of cores (compute units, multiprocessors).
        accumulators: largest number of results of a product per thread.
        is_slow_to_compile: whether unrolled loops and workgroup memory take its
            compiler too long.
    """

    name: str
    pattern: str
    cores: int
    accumulators: int
    is_slow_to_compile: bool = False


SOFTWARE: tuple[AdapterClass, ...] = (
    AdapterClass("swiftshader", r"swiftshader", 1, 16, is_slow_to_compile=True),
    AdapterClass("software", r"", 1, 16),
)
"""Adapters that run on the CPU, as reported by their driver."""

ADAPTERS: tuple[AdapterClass, ...] = (
    AdapterClass(
        "nvidia, data centre",
        r"nvidia.*(hopper|\b[ahb][12]00\b|gb?200|\bl40|v100)",
        MEASURED_CORES,
        MOST_ACCUMULATORS,
    ),
    AdapterClass(
        "nvidia",
        rf"nvidia.*({NVIDIA_FAMILIES})|geforce|quadro|\brtx\b",
        48,
        MOST_ACCUMULATORS,
    ),
    AdapterClass("nvidia, unknown", r"nvidia", MEASURED_CORES, MOST_ACCUMULATORS),
    AdapterClass("amd, discrete", r"radeon (rx|pro|vii)|\bmi\d{2,3}|instinct", 48, 64),
    AdapterClass("amd, integrated", r"\bamd\b|\bati\b|radeon", 12, 64),
    AdapterClass("intel, discrete", r"\barc\b|xe-?2?-?hpg|\bdg2\b|battlemage", 28, 32),
    AdapterClass("intel, integrated", r"intel|\biris\b|\buhd\b", 10, 32),
    AdapterClass("apple, large", r"\bm\d+ (pro|max|ultra)", 32, 32),
    AdapterClass("apple", r"apple|metal-\d", 10, 32),
    AdapterClass(
        "mobile", r"qualcomm|adreno|\barm\b|mali|imagination|powervr|img", 6, 16
    ),
    AdapterClass("unnamed", r"", 48, 64),
)
"""Classes of GPUs; an adapter has the first class whose pattern matches."""


def class_of(names: Mapping[str, str], is_software: bool = False) -> AdapterClass:
    """Return the class of an adapter by its vendor, architecture and description.

    >>> class_of({"vendor": "nvidia", "architecture": "hopper"}).cores
    132
    >>> class_of({"vendor": "intel", "architecture": "gen-12lp"}).name
    'intel, integrated'
    """
    text = " ".join(names.values()).lower()
    entries = SOFTWARE if is_software else ADAPTERS
    return next(entry for entry in entries if re.search(entry.pattern, text))


Tuned = tuple[tuple[str, str], ...]
"""(problem, tile) pairs, see `tiles.problem_of`."""


def target_of(
    driver: ShaderDriver, tuned: Tuned = (), workarounds: tuple[str, ...] = ()
) -> Target:
    """Return the code generation target of a device."""
    row = class_of(driver.names, driver.is_software)
    return Target(
        driver.is_software,
        driver.limits["maxComputeInvocationsPerWorkgroup"],
        driver.limits["maxComputeWorkgroupStorageSize"],
        row.cores,
        tuned,
        row.accumulators,
        row.is_slow_to_compile,
        driver.has_subgroup_matrices,
        workarounds,
    )


def key_of(driver: ShaderDriver) -> str:
    """Return the key under which a device's tuned tiles are stored."""
    names = (driver.names[part] for part in ("vendor", "architecture", "description"))
    return f"tiles {VERSION} {' / '.join(names)}"


def kept_tiles(driver: ShaderDriver) -> Tuned:
    """Return the tiles tuned on this device in an earlier run, if any.

    An invalid entry is removed with a warning.
    """
    key = key_of(driver)
    text = driver.kept(key)
    if text is None:
        return ()
    try:
        return _checked(text)
    except ValueError as error:
        driver.keep(key, None)
        warnings.warn(
            f"tensorweb: the tiles kept for {driver.description} are damaged "
            f"({error}) and were removed; the plain table is used. Call tw.tune() to "
            "measure again.",
            stacklevel=2,
        )
        return ()


def keep_tiles(driver: ShaderDriver, tuned: Mapping[str, str]) -> bool:
    """Store tuned tiles for later runs, and return whether they persist."""
    return driver.keep(key_of(driver), json.dumps(tuned, indent=1) if tuned else None)


def _checked(text: str) -> Tuned:
    """Parse stored tiles, which may have been modified, into pairs.

    Raises:
        ValueError: the text is not of the form that `keep_tiles` writes.
    """
    # Parsing text that nests deeply ends Python in a browser, so it is not parsed.
    if len(text) > policy.LONGEST_TILES_TEXT or "[" in text or text.count("{") > 1:
        raise ValueError("no table of short texts")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no table of short texts")
    names = {tile.name for tile in PRODUCT_TILES}
    for problem, name in found.items():
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"{problem!r:.40} has the unknown tile {name!r:.40}")
    return tuple(found.items())


class ShaderPipelines(Pipelines):
    """Pipelines of one GPU by their WGSL.

    Attributes:
        driver: of the device.
        target: what the texts are written for.
    """

    def __init__(self, driver: ShaderDriver, workarounds: tuple[str, ...] = ()) -> None:
        """Begin without pipelines."""
        super().__init__()
        self.driver = driver
        self.target = target_of(driver, kept_tiles(driver), workarounds)
        self._begun: set[int] = set()

    def program(self, kernel: Kernel) -> Program:
        """Return the launches of a kernel on this GPU."""
        return self._programs.get(kernel, self.target, compile_kernel)

    def create(self, launch: Launch, words: str) -> int:
        """Return a new pipeline for a launch.

        Raises:
            ShaderError: the device's compiler refused it.
        """
        return self.compiled(_text(launch), launch.access, words)

    def compiled(self, source: str, access: str, words: str) -> int:
        """Return a new pipeline for a text, with this host's header lines."""
        return self.driver.create_pipeline(self._whole(source), access, words)

    def known(self, source: str) -> int | None:
        """Return the pipeline of a text; None if it has none."""
        return self._handles.get(source)

    def begin(self, requests: Iterable[PipelineRequest]) -> None:
        """Begin to compile what is new in the background; `handle` finds it."""
        for launch, words in requests:
            if launch.source not in self._handles:
                source = self._whole(_text(launch))
                found = self.driver.begin_pipeline(source, launch.access, words)
                self._handles[launch.source] = found
                self._begun.add(found)

    def compile(self, requests: Iterable[PipelineRequest]) -> None:
        """Compile what a plan needs, side by side where Python can wait for it.

        A single new pipeline is compiled by `handle`, which need not wait. Software
        adapters have no cores to spare.

        Raises:
            ShaderError: the device's compiler refused one.
        """
        rows = {launch.source: (launch, words) for launch, words in requests}
        new = [row for source, row in rows.items() if source not in self._handles]
        driver = self.driver
        if len(new) > 1 and not driver.is_software and driver.can_block():
            self.begin(new)
        if not self._begun:
            return
        handles = {self._handles[source] for source in rows if source in self._handles}
        waited = sorted(handles & self._begun)
        if waited and driver.can_block():
            run_blocking(driver.finish_pipelines(waited))
            self._begun.difference_update(waited)

    def _whole(self, source: str) -> str:
        needs_half = "enable f16;\n" if "f16" in source else ""
        return needs_half + self.driver.shader_header + source


def _text(launch: Launch) -> str:
    assert isinstance(launch.source, str), "internal: a module for a GPU"
    return launch.source


class BackgroundPipelines(ShaderPipelines):
    """Fills the pipelines of a device without waiting; for plans that never run."""

    def __init__(self, pipelines: ShaderPipelines) -> None:
        """Share the pipelines that are there."""
        self.driver = pipelines.driver
        self.target = pipelines.target
        self._handles = pipelines._handles
        self._programs = pipelines._programs
        self._begun = pipelines._begun

    def compile(self, requests: Iterable[PipelineRequest]) -> None:
        """Begin to compile what a plan needs."""
        self.begin(requests)


ALIGNMENT = 4
"""Copies between buffers begin at whole words."""

UNBOUNDED = 1 << 62
"""Bytes: a GPU's memory is apart from Python's, whose addresses have 32 bits in a
browser and would count no further than 2 GiB."""


def open_backend(name: str) -> Steps[WebGpuBackend]:
    """Open the GPU of that name and probe its adapter.

    Raises:
        DeviceError: there is no such adapter; says what to do.
        BlockingError: Python cannot wait here.
    """
    driver = yield from open_driver(number_of(name))
    return WebGpuBackend(driver, (yield from probe(driver)), name)


def traits_of(driver: ShaderDriver, name: str = "webgpu") -> DeviceTraits:
    """Return the traits of the GPU that a driver has opened."""
    return DeviceTraits(
        name,
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

    >>> workgroups((3, 2)), workgroups((1, 1))
    ('6 workgroups', '1 workgroup')
    """
    return counted(grid[0] * grid[1], "workgroup")


class WebGpuBackend(KernelBackend):
    """One open GPU; it has all abilities itself.

    Attributes:
        faults: what its adapter computes wrongly, in words; kernels avoid it.
    """

    driver: ShaderDriver
    sorts_short_rows = True
    _pipelines: ShaderPipelines

    def __init__(
        self, driver: ShaderDriver, found: Findings = NOTHING, name: str = "webgpu"
    ) -> None:
        """Take over an open driver whose adapter has been probed."""
        self.faults = found.faults
        names = set(entry(name).dtypes)
        if "shader-f16" not in driver.features:
            names.discard("float16")
        traits = traits_of(driver, name)
        pipelines = ShaderPipelines(driver, found.workarounds)
        super().__init__(driver, traits, pipelines, frozenset(names))
        # Who names an adapter wants it.
        self.is_emulated = driver.is_software and ADAPTER_VARIABLE not in os.environ
        self.row_transformer = rows_of(pipelines.target)
        self.largest_triangle = largest_triangle(pipelines.target)
        self._compiled: set[str] = set()

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
    def sharer(self) -> BufferSharer | None:
        """Buffers of wgpu-py can be shared, those of a browser cannot."""
        return self if isinstance(self.driver, SharingDriver) else None

    def shared_buffer(self, node: Node) -> object:
        """Return the GPU's own buffer of a computed base."""
        assert isinstance(self.driver, SharingDriver), "internal: it is a sharer"
        return self.driver.resource(self.buffer_of(node).handle)

    @property
    def shader_compiler(self) -> ShaderCompiler:
        """A GPU compiles WGSL."""
        return self

    @property
    def is_slow(self) -> bool:
        """False: a GPU is what WGSL is for."""
        return False

    @property
    def shader_limits(self) -> Mapping[str, int]:
        """The device's limits by WebGPU's own names."""
        return self.driver.limits

    def compile_custom(self, node: Node) -> str:
        """Compile the kernel of a custom node and return its complete WGSL.

        Raises:
            ShaderError: the compiler refused it; lines are those of the program's text.
        """
        (planned,) = plan(linearize([node]), self.traits.most_inputs)
        (launch,) = self._pipelines.program(planned.kernel).launches
        source = launch.source
        assert isinstance(source, str), "internal: a module for a GPU"
        if source in self._compiled:
            return source
        try:
            self._pipelines.handle(launch, planned.kernel.words)
            if self.driver.can_block():
                self.driver.check()
        except ShaderError as error:
            self._pipelines.forget(source)
            if not error.source.endswith(source):
                raise
            raise own_error(attributes_of(node, Custom), error) from None
        self._compiled.add(source)
        return source

    def capture(self, source: str, grid: tuple[int, int]) -> Capture:
        """Return what finds and copies the first launch of a kernel."""
        return Capture(self._pipelines, source, grid)

    @property
    def is_worthwhile(self) -> bool:
        """Whether compilers may run during programs: not where the CPU computes."""
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
