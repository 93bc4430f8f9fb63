"""The kernel backend on a device that stores what the host does, 64 bits included."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.pipelines import DeviceTraits, Pipelines
from tensorweb.codegen.program import OUTPUT, Launch, Program
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph import node as nodes
from tensorweb.schedule.kernel import Kernel
from tensorweb.waits import run_blocking


class Remembering(PretendDriver):
    """Remembers what is written, and the parameter words of every tape."""

    def __init__(self) -> None:
        super().__init__()
        self.modules: list[bytes] = []
        self.written: list[bytes] = []
        self.parameters: list[list[int]] = []

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        self.written.append(bytes(data))

    def submit(self, tape: array[int]) -> None:
        self.parameters.append(tape[1 : 1 + tape[0]].tolist())

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        return bytes(range(1, 1 + size))


class Modules(Pipelines):
    """Compiles every kernel to a module that takes its constants."""

    def __init__(self, driver: Remembering) -> None:
        super().__init__()
        self.driver = driver

    def program(self, kernel: Kernel) -> Program:
        words: list[int | tuple[int, str]] = []
        for slot, dtype in enumerate(kernel.scalar_dtypes):
            words.append((slot, dtype))
            if dtype in ("int64", "uint64", "float64"):
                words.append(0)
        return Program((Launch("map", b"\0asm", "w", (OUTPUT,), (7, 3), tuple(words)),))

    def create(self, launch: Launch, words: str) -> int:
        assert isinstance(launch.source, bytes)
        self.driver.modules.append(launch.source)
        return len(self.driver.modules) - 1


TRAITS = DeviceTraits(
    device="cpu",
    itemsizes={dtype.name: dtype.itemsize for dtype in tw.dtypes.ALL},
    most_inputs=62,
    alignment=1,
    capacity=1 << 20,
    extension="wasm",
    grid_words=lambda grid: f"{grid[0]} units",
    readable=lambda source: f"{len(source)} bytes",
)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remembering]:
    """A device of its own under the name `cpu`, the default meanwhile."""
    made = Remembering()
    backend = KernelBackend(made, TRAITS, Modules(made), frozenset(TRAITS.itemsizes))
    monkeypatch.setattr(nodes, "_pending", dict(nodes._pending))
    monkeypatch.setitem(devices._backends, "cpu", backend)
    with devices.device("cpu"):
        yield made


@pytest.mark.parametrize(
    ("value", "dtype", "code"),
    [
        (2**63 - 1, "int64", "<q"),
        (-(2**63), "int64", "<q"),
        (-2, "int64", "<q"),
        (2**64 - 1, "uint64", "<Q"),
        (0.1, "float64", "<d"),
        (-0.0, "float64", "<d"),
        (float("inf"), "float64", "<d"),
    ],
)
def test_constants_of_64_bits_take_two_words(
    value: float, dtype: str, code: str, driver: Remembering
) -> None:
    x = tw.asarray([1, 2], dtype=dtype)
    tw.realize(x * tw.full((), value, dtype=dtype))
    words = list(struct.unpack("<ii", struct.pack(code, value)))
    assert driver.parameters[0][:3] == [*words, 0]
    tw.realize(x * tw.full((), 3, dtype=dtype))
    words = list(struct.unpack("<ii", struct.pack(code, 3)))
    assert driver.parameters[1][:3] == [*words, 0]
    assert len(driver.modules) == 1


def test_wide_and_narrow_constants_stand_side_by_side(driver: Remembering) -> None:
    x = tw.asarray([1, 2], dtype="int64")
    tw.realize(tw.where(x > 2**40, tw.full((), 1.5, dtype="float32"), 2.5))
    wide = [0, 256]
    narrow = [struct.unpack("<i", struct.pack("<f", v))[0] for v in (1.5, 2.5)]
    (words,) = driver.parameters
    assert words[:4] == [*wide, *narrow]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "uint64"])
def test_bytes_are_the_hosts_padded_to_words(dtype: str, driver: Remembering) -> None:
    x = tw.asarray([1, 0, 1], dtype=dtype)
    host = x.node.dtype
    tw.realize(x * x)
    (written,) = driver.written
    assert written == struct.pack(f"<3{host.typecode}", 1, 0, 1) + bytes(
        -3 * host.itemsize % 4
    )
    (found,) = run_blocking(devices.backend("cpu").read_steps([(x * x).node]))
    assert found == bytes(range(1, 1 + 3 * host.itemsize))


def test_there_is_nothing_to_tune_or_to_prepare(driver: Remembering) -> None:
    backend = devices.backend("cpu")
    assert (backend.tuner, backend.preparer) == (None, None)
    assert backend.recorder is backend


def test_records_and_explanations_are_readable(driver: Remembering) -> None:
    x = tw.asarray([1.0, 2.0])
    with tw.record_kernels() as kernels:
        tw.realize(x * 2)
    assert [kernel.source for kernel in kernels] == ["4 bytes"]
    assert kernels[0].bytes == 16
    text = str(tw.explain(x * 3))
    assert "[map.wasm, 7 units, 1 storage]" in text
    assert text.endswith("4 bytes")


def test_limits_name_the_device(driver: Remembering) -> None:
    driver.limits["maxBufferSize"] = 1 << 16
    pool = KernelBackend(driver, TRAITS, Modules(driver), frozenset()).pool
    with pytest.raises(DeviceMemoryError, match="'cpu' binds at most 64 KiB") as caught:
        pool.take((1 << 16) + 4, str, "x")
    assert str(caught.value).endswith("Use a smaller shape, or work in parts.")
    kept = [pool.take(1 << 16, str, "x") for _ in range(16)]
    with pytest.raises(DeviceMemoryError, match=r"on device 'cpu' .* of 1 MiB") as full:
        pool.take(4, str, "x")
    assert str(full.value).endswith("Delete tensors that are no longer needed.")
    del kept[0]
    assert pool.take(4, str, "x").size == 16
