"""The compiled shaders of one GPU, made at once or in the background."""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.backends.hardware import kept_tiles, target_of
from tensorweb.backends.pipelines import Pipelines, Wanted
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.program import Launch, Program
from tensorweb.drivers.protocol import ShaderDriver
from tensorweb.schedule.kernel import Kernel
from tensorweb.waits import run_blocking


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
        return self.driver.create_pipeline(self._source(launch), launch.access, words)

    def begin(self, wanted: Iterable[Wanted]) -> None:
        """Begin to compile what is new in the background; `handle` finds it."""
        for launch, words in wanted:
            if launch.source not in self._handles:
                found = self.driver.begin_pipeline(
                    self._source(launch), launch.access, words
                )
                self._handles[launch.source] = found
                self._begun.add(found)

    def compile(self, wanted: Iterable[Wanted]) -> None:
        """Compile what a plan needs, side by side where Python can wait for it.

        A single new pipeline is compiled by `handle`, which need not wait. Software
        adapters have no cores to spare.

        Raises:
            ShaderError: the device's compiler refused one.
        """
        rows = {launch.source: (launch, words) for launch, words in wanted}
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

    def _source(self, launch: Launch) -> str:
        """Return the WGSL of a launch with this host's header lines."""
        source, header = launch.source, self.driver.shader_header
        assert isinstance(source, str), "internal: a module for a GPU"
        if "f16" in source:
            header = f"enable f16;\n{header}"
        return header + source


class BackgroundPipelines(ShaderPipelines):
    """Fills the pipelines of a device without waiting; for plans that never run."""

    def __init__(self, pipelines: ShaderPipelines) -> None:
        """Share the pipelines that are there."""
        self.driver = pipelines.driver
        self.target = pipelines.target
        self._handles = pipelines._handles
        self._programs = pipelines._programs
        self._begun = pipelines._begun

    def compile(self, wanted: Iterable[Wanted]) -> None:
        """Begin to compile what a plan needs."""
        self.begin(wanted)
