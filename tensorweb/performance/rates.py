"""Measure what a device does in a second: bytes that it copies, operations.

Never runs by itself: the page asks when a reader wants to see a kernel as a share of
what the device can do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tensorweb import dtypes, evaluate
from tensorweb.devices import backend
from tensorweb.functions.creation import arange
from tensorweb.tensor import Tensor
from tensorweb.transforms.jit import jit
from tensorweb.transforms.kernel import kernel
from tensorweb.waits import Steps

LEAST_SECONDS = 0.02
"""Time of one measurement; less drowns in the time of launches."""

REPEATS = 2
COPIED = 1 << 25
"""Elements that are copied: 128 MiB, the largest buffer that every GPU binds. A copy of
less would end before Python launches the next one (H100)."""

COPIED_BY_CPU = 1 << 22
SIDE = 256
"""Of the square product that a device without WGSL computes, its fastest kernel."""

GROUPS, LANES = 1024, 256
CHAINS = "abcdefgh"
"""Independent chains of multiply-adds in a thread."""

PER_STEP = len(CHAINS) * 4 * 2
"""Operations of one thread in a step: each chain has vectors of four."""

# Four steps per iteration: a loop's own instructions take a fifth of the time (H200).
MULTIPLY_ADDS = f"""
{" ".join(f"var {x} = factor + {i}.0;" for i, x in enumerate(CHAINS, 1))}
for (var step = 0u; step < steps; step += 4u) {{
  {" ".join(f"{x} = fma({x}, factor, factor);" for x in CHAINS * 4)}
}}
let sum = {" + ".join(CHAINS)};
"""
"""The loop of a thread, which has a vector `factor` and a count of `steps`."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device does in a second.

    Attributes:
        adapter: who computes, for people.
        bandwidth: bytes, read and written ones.
        flops: floating-point operations in float32.
    """

    adapter: str
    bandwidth: float
    flops: float


def measured(device: str) -> Steps[Rates]:
    """Measure a device, in some tenths of a second."""
    found = backend(device)
    runs_wgsl = not found.shader_compiler.is_slow
    count = COPIED if runs_wgsl and not found.is_emulated else COPIED_BY_CPU
    x = arange(count, dtype=dtypes.float32, device=device)
    evaluate.realize([x.node])
    copied = yield from seconds(partial(jit(lambda x: x + 1.0), x), LEAST_SECONDS)
    if runs_wgsl:
        flops = yield from _multiply_adds(device)
    else:
        square = x[: SIDE * SIDE].reshape(SIDE, SIDE)
        product = partial(jit(lambda a: a @ a), square)
        flops = 2 * SIDE**3 / (yield from seconds(product, LEAST_SECONDS))
    return Rates(found.description, 2 * 4 * count / copied, flops)


def _multiply_adds(device: str) -> Steps[float]:
    """Return the operations in a second of multiply-adds in registers."""
    count = GROUPS * LANES
    run = kernel(
        f"let factor = vec4f(x[local_index]);{MULTIPLY_ADDS}"
        "y[global_id.x] = dot(sum, vec4f(1.0));",
        inputs={"x": "float32", "steps": "uint32"},
        outputs={"y": "float32"},
        shape=(count,),
        workgroup_size=(LANES, 1, 1),
        clear=False,
    )
    x = arange(LANES, dtype=dtypes.float32, device=device) * 1e-3
    steps = 4
    yield from _run(partial(run, x, steps), 1)  # which compiles it
    while (taken := (yield from _run(partial(run, x, steps), 1))) < LEAST_SECONDS:
        steps *= 2
    for _ in range(REPEATS):
        taken = min(taken, (yield from _run(partial(run, x, steps), 1)))
    return count * steps * PER_STEP / taken


def seconds(compute: Callable[[], Tensor], least: float) -> Steps[float]:
    """Return the best mean seconds of a call.

    Args:
        compute: the call.
        least: seconds of one measurement; less drowns in the time of launches.
    """
    yield from _run(compute, 1)
    calls = 1
    while (taken := (yield from _run(compute, calls))) < least:
        calls *= 2
    for _ in range(REPEATS):
        taken = min(taken, (yield from _run(compute, calls)))
    return taken / calls


def _run(compute: Callable[[], Tensor], calls: int) -> Steps[float]:
    """Return the seconds of some calls, until the device is done."""
    started = time.perf_counter()
    for _ in range(calls):
        result = compute()
        evaluate.realize([result.node])
    yield from evaluate.read_steps([result[(0,) * result.ndim].node])
    return time.perf_counter() - started
