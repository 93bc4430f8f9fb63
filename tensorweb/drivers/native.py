"""The driver over wgpu-py: Vulkan, Metal or Direct3D 12 from desktop Python.

It does not know tensors and imports `wgpu` only when a device is opened. Called by
`tensorweb.drivers.open_driver`. wgpu-py reports errors at the call that caused them, so
nothing is raised late here.
"""

from __future__ import annotations

import atexit
import importlib
import sys
import weakref
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tensorweb.drivers import messages, native_adapters, policy
from tensorweb.drivers.memory import host_memory, require_bindable
from tensorweb.drivers.native_adapters import FEATURES, Wgpu, request_device
from tensorweb.drivers.protocol import (
    CLEAR,
    COPY,
    DISPATCH,
    PARAMETER_CAPACITY,
    PARAMETER_WORDS,
)
from tensorweb.errors import (
    BackendError,
    DeviceLostError,
    DeviceMemoryError,
)
from tensorweb.waits import Steps, Wait, run_blocking


def webgpu_limits(limits: Mapping[str, int]) -> dict[str, int]:
    """Return limits by WebGPU's own names: `max-buffer-size` → `maxBufferSize`."""
    named = {}
    for name, value in limits.items():
        first, *rest = name.split("-")
        capitals = [part.upper() if part[0].isdigit() else part for part in rest]
        camel = first + "".join(part[0].upper() + part[1:] for part in capitals)
        named[camel] = int(value)
    return named


def interruption(
    error: BaseException, outside: BaseException | None
) -> BaseException | None:
    """Return what interrupted wgpu-py before an error, such as KeyboardInterrupt.

    Locks and callbacks that were left half-way complain afterwards. `outside` is what
    was being handled before the call: interruptions before that are over.
    """
    cause = error.__context__
    while cause is not None and cause is not outside:
        if not isinstance(cause, Exception):
            return cause
        cause = cause.__context__
    return None


def without_preamble(error: BaseException | None) -> str:
    """Return the text of a wgpu error behind `Validation Error, Caused by:`."""
    return str(error).split("Caused by:", 1)[-1].strip()


class ReadBack:
    """The mappable buffers of one device."""

    def __init__(self, wgpu: Wgpu, device: Wgpu) -> None:
        """Begin without buffers."""
        self._device = device
        self._usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        self._idle: dict[int, list[Wgpu]] = {}
        self._idle_bytes = 0

    def copy(self, source: Wgpu, offset: int, size: int) -> Wgpu:
        """Submit a copy of bytes into a mappable buffer and return it."""
        size = (size + 3) & ~3
        capacity = max(policy.SMALLEST_STAGING, 1 << (size - 1).bit_length())
        free = self._idle.get(capacity)
        if free:
            staging = free.pop()
            self._idle_bytes -= capacity
        else:
            staging = self._device.create_buffer(size=capacity, usage=self._usage)
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(source, offset, staging, 0, size)
        self._device.queue.submit([encoder.finish()])
        return staging

    def take(self, staging: Wgpu, start: int, size: int) -> bytes:
        """Return mapped bytes and keep the buffer for the next read."""
        view = staging.read_mapped(0, (start + size + 3) & ~3, copy=False)
        data = bytes(view[start : start + size])
        staging.unmap()
        capacity = staging.size
        if self._idle_bytes + capacity <= policy.LARGEST_IDLE_STAGING:
            self._idle.setdefault(capacity, []).append(staging)
            self._idle_bytes += capacity
        else:
            staging.destroy()
        return data

    def close(self) -> None:
        """Destroy the cached buffers."""
        for buffers in self._idle.values():
            for buffer in buffers:
                buffer.destroy()
        self._idle.clear()


class Timing:
    """The timestamps of one tape."""

    def __init__(self, wgpu: Wgpu, device: Wgpu) -> None:
        """Make room for as many timestamps as a tape can have."""
        native = importlib.import_module("wgpu.backends.wgpu_native")
        period = native.lib.wgpuQueueGetTimestampPeriod(device.queue._internal)
        self._seconds_per_tick = float(period) * 1e-9
        self._set = device.create_query_set(
            type="timestamp", count=policy.MOST_TIMESTAMPS
        )
        usage = wgpu.BufferUsage
        self._resolved = device.create_buffer(
            size=policy.MOST_TIMESTAMPS * 8, usage=usage.QUERY_RESOLVE | usage.COPY_SRC
        )
        self._used = 0

    def begin(self) -> None:
        """Begin the next tape."""
        self._used = 0

    def next_pass(self) -> dict[str, object]:
        """Return what a pass needs to write its two timestamps."""
        first = self._used
        self._used += 2
        return {
            "query_set": self._set,
            "beginning_of_pass_write_index": first,
            "end_of_pass_write_index": first + 1,
        }

    def resolve(self, encoder: Wgpu) -> None:
        """Let the encoder write the timestamps into a buffer."""
        if self._used:
            encoder.resolve_query_set(self._set, 0, self._used, self._resolved, 0)

    def take(self, read_back: ReadBack) -> list[float]:
        """Wait and return the seconds of each pass."""
        if not self._used:
            return []
        staging = read_back.copy(self._resolved, 0, self._used * 8)
        staging.map_async("READ").sync_wait()
        ticks = array("Q", read_back.take(staging, 0, self._used * 8))
        pairs = zip(ticks[::2], ticks[1::2], strict=True)
        return [max(end - begin, 0) * self._seconds_per_tick for begin, end in pairs]


GroupKey = tuple[str, tuple[int, ...]]
"""A bind group's key: the layout's access string and the buffers."""

PARAMETER_BYTES = PARAMETER_WORDS * 4
KINDS = {"r": "read-only-storage", "w": "storage"}


class BindGroups:
    """The bind groups of some buffers.

    Attributes:
        made: how many were created.
    """

    def __init__(
        self, wgpu: Wgpu, device: Wgpu, buffers: Mapping[int, Wgpu], parameters: Wgpu
    ) -> None:
        """Begin without any; `parameters` is the uniform buffer of every launch."""
        self._visibility = wgpu.ShaderStage.COMPUTE
        self._device = device
        self._buffers = buffers
        self._parameters = parameters
        self._layouts: dict[str, tuple[Wgpu, Wgpu]] = {}
        self._groups: dict[GroupKey, Wgpu] = {}
        self._groups_of: dict[int, set[GroupKey]] = {}
        self.made = 0

    def __len__(self) -> int:
        """Return how many bind groups are cached."""
        return len(self._groups)

    def layout(self, access: str) -> tuple[Wgpu, Wgpu]:
        """Return the bind group layout and the pipeline layout for an access string."""
        known = self._layouts.get(access)
        if known is not None:
            return known
        entries = [
            {
                "binding": index,
                "visibility": self._visibility,
                "buffer": {"type": KINDS[letter]},
            }
            for index, letter in enumerate(access)
        ]
        uniform = {
            "type": "uniform",
            "has_dynamic_offset": True,
            "min_binding_size": PARAMETER_BYTES,
        }
        entries.append(
            {"binding": len(access), "visibility": self._visibility, "buffer": uniform}
        )
        group = self._device.create_bind_group_layout(entries=entries)
        layout = self._device.create_pipeline_layout(bind_group_layouts=[group])
        self._layouts[access] = (group, layout)
        return group, layout

    def group(self, access: str, buffers: list[int]) -> Wgpu:
        """Return the cached bind group of these buffers under this layout."""
        key = (access, tuple(buffers))
        group = self._groups.get(key)
        if group is not None:
            return group
        if len(self._groups) >= policy.MOST_BIND_GROUPS:
            self.clear()
        resources = [self._buffers[buffer] for buffer in buffers]
        entries = [
            {
                "binding": index,
                "resource": {"buffer": resource, "offset": 0, "size": resource.size},
            }
            for index, resource in enumerate(resources)
        ]
        parameters = {"buffer": self._parameters, "offset": 0, "size": PARAMETER_BYTES}
        entries.append({"binding": len(buffers), "resource": parameters})
        group = self._device.create_bind_group(
            layout=self.layout(access)[0], entries=entries
        )
        self._groups[key] = group
        for buffer in set(buffers):
            self._groups_of.setdefault(buffer, set()).add(key)
        self.made += 1
        return group

    def forget(self, buffer: int) -> None:
        """Drop the bind groups that name a buffer."""
        for key in self._groups_of.pop(buffer, ()):
            self._groups.pop(key, None)
            for other in set(key[1]):
                if other in self._groups_of:
                    self._groups_of[other].discard(key)

    def clear(self) -> None:
        """Drop all bind groups."""
        self._groups.clear()
        self._groups_of.clear()


def open_native(number: int = 0) -> NativeDriver:
    """Open a GPU adapter by its number: 0 is the machine's best one.

    `TENSORWEB_ADAPTER` names another one as the first.

    Raises `DeviceError` when wgpu-py is not installed or there is no such adapter.
    """
    driver = NativeDriver(*request_device(number))
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

    def buffer_size(self, buffer: int) -> int:
        """Return the bytes of a buffer."""
        return int(self._buffers[buffer].size)

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer and the bind groups that name it."""
        resource = self._buffers.pop(buffer)
        self._groups.forget(buffer)
        self._counters["live_buffers"] -= 1
        self._counters["live_bytes"] -= resource.size
        resource.destroy()

    def resource(self, buffer: int) -> Wgpu:
        """Return the buffer of wgpu-py that belongs to a handle."""
        return self._buffers[buffer]

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
            raise messages.shader_error(label, source, found) from error.__cause__
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
        return native_adapters.kept(key)

    def keep(self, key: str, text: str | None) -> bool:
        """Store a text in the user's cache folder; None removes it."""
        return native_adapters.keep(key, text)

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
        """Encode a copy or a clear; return the position of the next command."""
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
