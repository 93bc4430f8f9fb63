"""Define what a backend must do with a graph, and its optional abilities.

A backend is one open device. What only some devices can do is an ability: an object of
a type of its own, declared by the backend; None where the device cannot. Nothing here
computes, and nobody asks a backend for more than is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tensorweb.graph.node import Node
from tensorweb.waits import Steps


class Replay(Protocol):
    """A recorded graph, which computes its outputs again for other inputs."""

    @property
    def is_alive(self) -> bool:
        """Whether its device still exists."""

    def __call__(self, inputs: Sequence[Node]) -> list[Node]:
        """Return the results for other arguments of the same shapes and dtypes."""


class Recorder(Protocol):
    """Ability: a graph becomes a recording, which `jit` replays."""

    def record(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Replay:
        """Return how to compute outputs again for other values of the inputs."""


class Tuner(Protocol):
    """Ability: kernels come in variants that `tune` can measure and choose from."""

    @property
    def tuned(self) -> dict[str, str]:
        """The measured tile of each class of products that has one."""

    def tiles_for(self, size: int, in_vectors: bool) -> tuple[str, list[str]]:
        """Return the class of a square product and the tiles it can take."""

    def use_tiles(self, tuned: Mapping[str, str]) -> None:
        """Take these tiles from now on."""

    def keep_tiles(self) -> bool:
        """Keep the tiles in use for later runs; returns whether they will last."""


class Preparer(Protocol):
    """Ability: kernels can be compiled before they are needed, as `warm_up` does."""

    @property
    def is_worthwhile(self) -> bool:
        """Whether a program goes on undisturbed while kernels are compiled."""

    def prepare(self, nodes: Sequence[Node]) -> int:
        """Begin to compile what computing nodes would run, without running it.

        Returns how many kernels are being compiled in the background.
        """

    def finish_preparing(self) -> Steps[None]:
        """Wait until nothing is compiled in the background any more."""


class BufferSharer(Protocol):
    """Ability: programs of the same process can use the buffers and the device."""

    def shared_buffer(self, node: Node) -> object:
        """Return the GPU's own buffer of a computed base, whose elements it holds."""


class ShaderCompiler(Protocol):
    """Ability: the device runs kernels that a program brings in WGSL."""

    @property
    def shader_limits(self) -> Mapping[str, int]:
        """The device's limits by WebGPU's own names."""

    @property
    def is_slow(self) -> bool:
        """Whether a reference computes faster, as on the CPU."""

    def compile_custom(self, node: Node) -> str:
        """Compile the kernel of a custom node and return its complete WGSL.

        Compilers that report late are waited for, where Python can wait.

        Raises:
            ShaderError: the compiler refused it; lines are those of the program's text.
        """


class RowTransformer(Protocol):
    """Ability: one operation, `fourier`, is the Fourier transform of an axis.

    Without one, and for other lengths, transforms are built of products.
    """

    def takes(self, length: int, *, is_across: bool) -> bool:
        """Whether an axis of this length, 2 or more, is transformed at once.

        Args:
            length: of the axis.
            is_across: whether it has axes behind it.
        """

    def angles(self, length: int) -> Sequence[int]:
        """Return which roots of unity the operation reads as a third input.

        Element a stands for `exp(-2πi · a / length)`; none if it has its own.
        """


class Backend(Protocol):
    """What every device does with a graph, and the abilities that it declares."""

    @property
    def description(self) -> str:
        """Who computes, for people: an adapter's name or `NumPy`."""

    dtypes: frozenset[str]
    """Names of the dtypes that the device stores as what they are."""

    @property
    def is_emulated(self) -> bool:
        """Whether a CPU stands in for a GPU: device `cpu` computes faster there."""

    @property
    def recorder(self) -> Recorder | None:
        """Records for `jit`; without one a jitted function simply runs."""

    @property
    def tuner(self) -> Tuner | None:
        """Chooses variants of kernels for `tune`; without one that is an error."""

    @property
    def preparer(self) -> Preparer | None:
        """Compiles ahead for `warm_up`; without one there is nothing to do."""

    @property
    def row_transformer(self) -> RowTransformer | None:
        """Transforms axes for `fft`; without one other operations do."""

    @property
    def sorts_short_rows(self) -> bool:
        """Whether short rows are sorted far faster, so that `top_k` divides long ones.

        WebAssembly sorts by radix, in a time that is linear in the length.
        """

    @property
    def shader_compiler(self) -> ShaderCompiler:
        """Compiles for `kernel`."""

    @property
    def sharer(self) -> BufferSharer | None:
        """Shares buffers for `gpu_buffer`; without one that is an error."""

    @property
    def factors_in_halves(self) -> bool:
        """Whether products take large matrices apart faster than one operation does."""

    @property
    def largest_triangle(self) -> int:
        """Largest length of a matrix whose triangle fits the memory of a workgroup."""

    def realize(
        self, nodes: Sequence[Node], *, alive: bool = False, step: bool = False
    ) -> None:
        """Compute nodes and settle their bases; returns before the device is done.

        If only the length of their history requires it, `alive` allows computing all
        pending values that depend on the same values; at the end of a `step` of a
        loop, all referenced values are computed.
        """

    def read_steps(self, nodes: Sequence[Node]) -> Steps[list[bytes]]:
        """Compute nodes, wait for the device and return row-major bytes of each."""

    def explain(self, nodes: Sequence[Node]) -> str:
        """Say in words what computing the nodes would run, without running it."""

    def synchronize(self) -> None:
        """Wait until everything is done and raise what went wrong meanwhile."""

    def abandon(self) -> bool:
        """Stop using the device in a forked process; False where it goes on."""
