"""The driver over wgpu-py: Vulkan, Metal or Direct3D 12 from desktop Python.

It does not know tensors and imports `wgpu` only when a device is opened. Called by
`tensorweb.drivers.open_driver`. wgpu-py reports errors at the call that caused them, so
nothing is raised late here.
"""

from __future__ import annotations

import atexit
import sys
import weakref
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tensorweb.drivers import messages, native_cache
from tensorweb.drivers.memory import host_memory, require_bindable
from tensorweb.drivers.native_adapter import (
    FEATURES,
    Wgpu,
    request_device,
    webgpu_limits,
)
from tensorweb.drivers.native_errors import interruption, without_preamble
from tensorweb.drivers.native_groups import BindGroups
from tensorweb.drivers.native_reads import ReadBack
from tensorweb.drivers.native_timing import Timing
from tensorweb.drivers.protocol import (
    CLEAR,
    COPY,
    DISPATCH,
    PARAMETER_CAPACITY,
)
from tensorweb.errors import (
    BackendError,
    DeviceLostError,
    DeviceMemoryError,
    ShaderError,
)
from tensorweb.waits import Steps, Wait, run_blocking


def open_native() -> NativeDriver:
    """Open the machine's best GPU adapter, or the one named by `TENSORWEB_ADAPTER`.

    Raises `DeviceError` when wgpu-py is not installed or there is no adapter.
    """
    driver = NativeDriver(*request_device())
    atexit.register(_finish, weakref.ref(driver))
    return driver


def _finish(reference: weakref.ref[NativeDriver]) -> None:
    """Wait for the GPU: a software adapter crashes if the process ends under it."""
    driver = reference()
    if driver is not None and not driver.is_lost:
        driver.check()


class NativeDriver:
    """One open device of wgpu-py; see `tensorweb.drivers.protocol.Driver`."""

    def __init__(self, wgpu: Wgpu, adapter: Wgpu, device: Wgpu) -> None:
        self._wgpu = wgpu
        self._device = device
        self._queue = device.queue
        info = adapter.info
        self.description = f"{info['device']} ({info['backend_type']})"
        self.names = {
            "vendor": info["vendor"],
            "architecture": info["architecture"],
            "description": info["device"],
        }
        self.is_software = info["adapter_type"] == "CPU"
        is_shared = info["adapter_type"] in ("CPU", "IntegratedGPU")
        self.shared_memory = host_memory() if is_shared else None
        self.limits = webgpu_limits(device.limits)
        self.features = frozenset(
            FEATURES[name] for name in device.features if name in FEATURES
        )
        self.has_subgroup_matrices = False  # naga does not know them
        self.is_lost = False
        # naga refuses `enable subgroups` and needs no other line.
        has_f16 = "shader-f16" in self.features
        self.shader_header = "enable f16;\n" if has_f16 else ""
        self._lost_reason = ""
        self._buffers: dict[int, Wgpu] = {}
        self._next_buffer = 1
        self._pipelines: list[tuple[Wgpu, str]] = []
        self._read_back = ReadBack(wgpu, device)
        usage = wgpu.BufferUsage
        self._storage_usage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        self._parameters = device.create_buffer(
            size=PARAMETER_CAPACITY * 4, usage=usage.UNIFORM | usage.COPY_DST
        )
        self._groups = BindGroups(wgpu, device, self._buffers, self._parameters)
        self._timing: Timing | None = None
        self._fence = device.create_buffer(size=4, usage=usage.COPY_SRC)
        self._counters = dict.fromkeys(
            (
                "submits",
                "dispatches",
                "buffers",
                "bytes",
                "pipelines",
                "reads",
                "live_buffers",
                "live_bytes",
            ),
            0,
        )

    def create_buffer(self, size: int) -> int:
        """Create a zeroed storage buffer of `size` bytes, a multiple of 4."""
        assert size > 0, "internal: an empty tensor has no buffer"
        assert size % 4 == 0, f"internal: buffer of {size} bytes"
        require_bindable(size, self.limits)
        try:
            with self._translated_errors():
                buffer = self._device.create_buffer(
                    size=size, usage=self._storage_usage
                )
        except DeviceMemoryError as error:
            raise DeviceMemoryError(messages.memory_message(size)) from error
        handle = self._next_buffer
        self._next_buffer += 1
        self._buffers[handle] = buffer
        self._count("buffers", "live_buffers")
        self._counters["bytes"] += size
        self._counters["live_bytes"] += size
        return handle

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer and the bind groups that name it."""
        resource = self._buffers.pop(buffer)
        self._groups.forget(buffer)
        self._counters["live_buffers"] -= 1
        self._counters["live_bytes"] -= resource.size
        resource.destroy()

    def write_buffer(self, buffer: int, offset: int, data: bytes | memoryview) -> None:
        """Copy host bytes into a buffer; offset and length are multiples of 4."""
        with self._translated_errors():
            self._queue.write_buffer(self._buffers[buffer], offset, data)

    def create_pipeline(self, source: str, access: str, label: str) -> int:
        """Compile a shader with entry point `main`; `access` has r or w per binding."""
        try:
            with self._translated_errors():
                module = self._device.create_shader_module(label=label, code=source)
                pipeline = self._device.create_compute_pipeline(
                    label=label,
                    layout=self._groups.layout(access)[1],
                    compute={"module": module, "entry_point": "main"},
                )
        except (DeviceLostError, DeviceMemoryError):
            raise
        except BackendError as error:
            cause = without_preamble(error.__cause__)
            found = [messages.compiler_message(cause)]
            raise ShaderError(
                messages.shader_message(label, source, found)
            ) from error.__cause__
        self._pipelines.append((pipeline, access))
        self._count("pipelines")
        return len(self._pipelines) - 1

    def begin_pipeline(self, source: str, access: str, label: str) -> int:
        """Compile a shader at once: wgpu-native compiles nothing in the background."""
        return self.create_pipeline(source, access, label)

    def pending_pipelines(self) -> int:
        """Return 0: nothing is compiled in the background."""
        return 0

    def finish_pipelines(self, pipelines: Sequence[int] = ()) -> Steps[None]:
        """Return at once: every pipeline is ready when it has a handle."""
        yield from ()

    def submit(self, tape: array[int]) -> None:
        """Replay a tape in one command buffer and one submission."""
        with self._translated_errors():
            self._replay(tape, None)

    def submit_timed(self, tape: array[int]) -> list[float] | None:
        """Do the same, wait, and return the seconds that each launch took.

        None where the adapter writes no timestamps.
        """
        if "timestamp-query" not in self.features:
            self.submit(tape)
            return None
        with self._translated_errors():
            if self._timing is None:
                self._timing = Timing(self._wgpu, self._device)
            self._timing.begin()
            self._replay(tape, self._timing)
            return self._timing.take(self._read_back)

    def _replay(self, tape: array[int], timing: Timing | None) -> None:
        """Write a tape's parameters, encode its commands and submit them."""
        words = tape[0]
        if words:
            block = memoryview(tape)[1 : 1 + words]
            self._queue.write_buffer(self._parameters, 0, block)
        encoder = self._device.create_command_encoder()
        self._encode(encoder, tape.tolist(), 1 + words, timing)
        if timing is not None:
            timing.resolve(encoder)
        self._queue.submit([encoder.finish()])
        self._count("submits")

    def pace(self) -> None:
        """Return at once: no page waits for this program."""

    def read(self, buffer: int, offset: int, size: int) -> bytes:
        """Wait for all submitted work and return bytes."""
        return run_blocking(self.read_steps(buffer, offset, size))

    def read_steps(self, buffer: int, offset: int, size: int) -> Steps[bytes]:
        """Wait for all submitted work and return bytes; the body of `read`."""
        self._count("reads")
        start = offset % 4
        with self._translated_errors():
            staging = self._read_back.copy(
                self._buffers[buffer], offset - start, start + size
            )
            mapping = staging.map_async("READ")
            yield Wait(mapping.sync_wait, mapping)
            return self._read_back.take(staging, start, size)

    def can_block(self) -> bool:
        """Return True: desktop Python can always wait."""
        return True

    def check(self) -> None:
        """Wait for submitted work and raise what the GPU reported, if anything."""
        self._count("reads")
        with self._translated_errors():
            staging = self._read_back.copy(self._fence, 0, 4)
            staging.map_async("READ").sync_wait()
            self._read_back.take(staging, 0, 4)

    def counters(self) -> dict[str, int]:
        """Return totals since opening, and `live_buffers` and `live_bytes` of now."""
        return {**self._counters, "bind_groups": self._groups.made}

    def kept(self, key: str) -> str | None:
        """Return the text stored by an earlier run in the user's cache folder."""
        return native_cache.kept(key)

    def keep(self, key: str, text: str | None) -> bool:
        """Store a text in the user's cache folder; None removes it."""
        return native_cache.keep(key, text)

    def abandon(self) -> None:
        """Take the device for lost and never call it again."""
        self.is_lost = True

    def close(self) -> None:
        """Destroy the device and all of its buffers."""
        for handle in list(self._buffers):
            self.destroy_buffer(handle)
        self._read_back.close()
        self._groups.clear()
        self._pipelines.clear()
        self.is_lost = True
        self._lost_reason = "closed"

    def _count(self, *names: str) -> None:
        for name in names:
            self._counters[name] += 1

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of wgpu-py into ours."""
        if self.is_lost:
            raise DeviceLostError(messages.lost_message(self._lost_reason))
        outside = sys.exception()
        try:
            yield
        except (self._wgpu.GPUError, RuntimeError) as error:
            if isinstance(error, BackendError):
                raise
            stop = interruption(error, outside)
            if stop is not None:
                raise stop from None
            text = without_preamble(error)
            if isinstance(error, self._wgpu.GPUOutOfMemoryError):
                raise DeviceMemoryError(f"the device has no memory left: {text}") from (
                    error
                )
            if "device is lost" in text.lower() or "device lost" in text.lower():
                self.is_lost = True
                self._lost_reason = "reported by wgpu"
                raise DeviceLostError(
                    messages.lost_message(self._lost_reason)
                ) from error
            raise BackendError(f"wgpu refused a command: {text}") from error

    def _encode(
        self, encoder: Wgpu, tape: list[int], position: int, timing: Timing | None
    ) -> None:
        """Encode the commands from `position` on; a pass spans adjacent launches.

        Where they are timed each launch is a pass.
        """
        compute_pass = None
        current = -1
        end = len(tape)
        while position < end:
            command = tape[position]
            if command == DISPATCH:
                pipeline, x, y, z, parameters, n = tape[position + 1 : position + 7]
                buffers = tape[position + 7 : position + 7 + n]
                position += 7 + n
                if timing is not None and compute_pass is not None:
                    compute_pass.end()
                    compute_pass = None
                if compute_pass is None:
                    writes = None if timing is None else timing.next_pass()
                    compute_pass = encoder.begin_compute_pass(timestamp_writes=writes)
                    current = -1
                if pipeline != current:
                    compute_pass.set_pipeline(self._pipelines[pipeline][0])
                    current = pipeline
                group = self._groups.group(self._pipelines[pipeline][1], buffers)
                compute_pass.set_bind_group(0, group, (parameters,))
                compute_pass.dispatch_workgroups(x, y, z)
                self._counters["dispatches"] += 1
                continue
            if compute_pass is not None:
                compute_pass.end()
                compute_pass = None
            position = self._encode_transfer(encoder, tape, position)
        if compute_pass is not None:
            compute_pass.end()

    def _encode_transfer(self, encoder: Wgpu, tape: list[int], position: int) -> int:
        """Encode a copy or a clear and return the position behind it."""
        command = tape[position]
        if command == COPY:
            source, source_at, target, target_at, size = tape[
                position + 1 : position + 6
            ]
            encoder.copy_buffer_to_buffer(
                self._buffers[source],
                source_at,
                self._buffers[target],
                target_at,
                size,
            )
            return position + 6
        assert command == CLEAR, f"internal: tape command {command} at {position}"
        buffer, offset, size = tape[position + 1 : position + 4]
        encoder.clear_buffer(self._buffers[buffer], offset, size)
        return position + 4
