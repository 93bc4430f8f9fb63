"""The kernel backend on WebAssembly: device `cpu` in browsers.

In ordinary Python it is `cpu` if the environment has `TENSORWEB_CPU=wasm`.
"""

from __future__ import annotations

from tensorweb.backends import policy
from tensorweb.backends.custom_kernels import CpuCompiler
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.pipelines import DeviceTraits, Pipelines
from tensorweb.codegen.program import Launch, Program
from tensorweb.codegen.wasm.compiler import compile_kernel
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.text import ModuleText
from tensorweb.devices import DEVICES
from tensorweb.drivers import ModuleDriver
from tensorweb.drivers.policy import WASM_CAPACITY
from tensorweb.dtypes import ALL
from tensorweb.errors import counted
from tensorweb.protocol import ShaderCompiler
from tensorweb.schedule.kernel import Kernel

DEVICE = "cpu"


def units(grid: tuple[int, int]) -> str:
    """Say for people how a launch's work is divided.

    >>> units((1, 1)), units((100, 32))
    ('1 unit', '100 units, 32 at a time')
    """
    count, together = grid
    words = counted(count, "unit")
    return words if count <= together else f"{words}, {together} at a time"


def module_text(source: str | bytes) -> ModuleText:
    """Return an object whose `str` is the text of a module."""
    assert isinstance(source, bytes), "internal: WGSL for WebAssembly"
    return ModuleText(source)


TRAITS = DeviceTraits(
    DEVICE,
    {dtype.name: dtype.itemsize for dtype in ALL},
    policy.WASM_MOST_INPUTS,
    1,
    WASM_CAPACITY,
    "wasm",
    units,
    module_text,
)


class ModulePipelines(Pipelines):
    """Modules of one engine by their bytes.

    Attributes:
        target: what they are written for.
    """

    def __init__(self, driver: ModuleDriver) -> None:
        """Begin without modules."""
        super().__init__()
        self._driver = driver
        self.target = WasmTarget(driver.is_shared, driver.has_relaxed)

    def program(self, kernel: Kernel) -> Program:
        """Return the launches of a kernel on this engine."""
        return self._programs.get(kernel, self.target, compile_kernel)

    def create(self, launch: Launch, words: str) -> int:
        """Return a new pipeline for a launch.

        Raises:
            ShaderError: the engine refused the module.
        """
        source = launch.source
        assert isinstance(source, bytes), "internal: WGSL for WebAssembly"
        return self._driver.create_pipeline(source, launch.access, words)


class WasmBackend(KernelBackend):
    """One open engine; nothing compiles in the background, there are no variants."""

    def __init__(self, driver: ModuleDriver) -> None:
        """Take over an open driver."""
        pipelines = ModulePipelines(driver)
        super().__init__(driver, TRAITS, pipelines, DEVICES[DEVICE].dtypes)
        self._compiler = CpuCompiler(lambda kernel: pipelines.program(kernel))

    @property
    def shader_compiler(self) -> ShaderCompiler:
        """A part of WGSL is translated."""
        return self._compiler

    def abandon(self) -> bool:
        """Go on in a forked process, which has the memory and needs no threads."""
        return False
