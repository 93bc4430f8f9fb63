"""Limits, windows and sizes of the drivers, each with its reason."""

from __future__ import annotations

ADAPTER_VARIABLE = "TENSORWEB_ADAPTER"
"""Environment variable with a part of the name of the adapter to open natively."""

WINDOW_SECONDS = 0.04
"""Seconds that a window of flushes should take, so that less than 0.1 s of work is in
flight."""

SMALLEST_WINDOW, LARGEST_WINDOW = 1, 256
"""Flushes of a window; a wait takes about as long as three flushes of small kernels."""

FIRST_STAGING_WORDS = 1 << 14
"""Initial words of staging memory for tapes; it grows with the tapes."""

LARGEST_STAGED = 1 << 14
"""Largest count of bytes of a read or write in WebAssembly that goes through staging
memory: another view of a buffer costs 10 µs."""

CAPPED_GIGABYTES = 8
"""Many browsers cap the reported host memory at this many gigabytes."""

ASSUMED_HOST_MEMORY = {"GPU": 16 << 30, "software": 8 << 30}
"""Bytes assumed for a host's memory if it is unknown."""

BUDGET_BUFFERS = 4
"""A GPU's first budget, in buffers of the largest size: WebGPU does not report the
memory of a GPU."""

LARGEST_FIRST_BUDGET = 32 << 30
"""Largest first budget in bytes; allocations beyond show whether there is more."""

SMALLEST_BUDGET = 256 << 20
"""Bytes below which no failed allocation lowers the budget."""

WASM_CAPACITY = (4 << 30) - (64 << 20)
"""Bytes that a WebAssembly memory may have: its addresses have 32 bits."""

FIRST_PAGES = 64
"""Initial pages of a WebAssembly memory."""

MOST_PAGES = 1 << 16
"""Pages of the largest WebAssembly memory: 4 GiB."""

LARGEST_GROWTH = 64 << 20
"""Most bytes that a WebAssembly memory grows by ahead of need; a small memory grows by
a quarter of its size."""

SLACK = 16
"""Unused bytes behind each block of a WebAssembly memory, where vectors may be read."""

MOST_INSTANCES = 1 << 30
"""Modules that one store of wasmtime may start; it retains all, also freed ones."""

SMALLEST_STAGING = 4096
"""Bytes of the smallest buffer for reads."""

LARGEST_IDLE_STAGING = 64 << 20
"""Most bytes of cached buffers for reads; larger reads allocate their own."""

MOST_TIMESTAMPS = 4096
"""Timestamps of one set, WebGPU's limit; a tape has at most 1024 launches."""

MOST_BIND_GROUPS = 4096
"""Limit of cached bind groups; a full cache is emptied."""
