"""Measure which tile of the matrix product is fastest on this very device.

Never runs by itself: without it a table by class of adapter decides. Whichever tile is
taken, results agree within the bound of `docs/reference/numerics.md`.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

from tensorweb import dtypes, evaluate
from tensorweb.devices import backend as backend_of
from tensorweb.devices import default_device, fastest
from tensorweb.errors import DeviceError
from tensorweb.functions.creation import arange
from tensorweb.performance.rates import seconds
from tensorweb.tensor import Tensor
from tensorweb.transforms.jit import jit
from tensorweb.waits import Steps, run_async, run_blocking

if TYPE_CHECKING:
    from tensorweb.protocol import Tuner

PRODUCTS = (
    *((size, True) for size in (512, 1024, 2048, 4096)),
    *((size, False) for size in (501, 1001, 2001)),
)
"""Square products to measure: size, and whether operands are read in vectors."""

LEAST_SECONDS = 0.005
"""GPU work of one measurement; less drowns in the time of launches."""

WARMING_SECONDS = 0.2
"""Clocks of a GPU rise only while it works."""

ROUNDS = 2
"""Rounds over all tiles, so that disturbances of the GPU affect each of them."""

GAIN = 0.95
"""A tile must take less than this share of the table's time to be preferred."""

RECORDED_PRODUCTS = 64
RECORDED_OPERATIONS = 2e10
"""Limits of one recording: count of products, and their floating-point operations."""


def tune(*, forget: bool = False) -> dict[str, str]:
    """Measure the tiles of the matrix product and keep the fastest ones.

    Takes a few seconds on a GPU. Returns the tiles that are faster than the table's by
    class of products: `vectors 2^20` are products with 2²⁰ to 2²² results whose
    operands are read in vectors of four. They are kept for later runs on the same
    adapter with the same version: natively in the user's cache folder, or the one that
    `TENSORWEB_CACHE` names (`off` keeps nothing), in the browser in IndexedDB.
    Functions recorded by `jit` before keep their tiles. With `forget` nothing is
    measured and the table decides again. On software adapters there is nothing to
    choose.

    Raises:
        BlockingError: Python cannot wait here; await `tune_async`.
        DeviceError: the default device has no tiles, as the cpu.

    >>> tw.tune()
    Traceback (most recent call last):
    ...
    tensorweb.errors.DeviceError: tune: device 'cpu' has no tiles to choose from; ...
    """
    return run_blocking(_tuning(_tuner(), forget))


async def tune_async(*, forget: bool = False) -> dict[str, str]:
    """Do the same by awaiting, where Python cannot block.

    >>> import asyncio
    >>> asyncio.run(tw.tune_async())
    Traceback (most recent call last):
    ...
    tensorweb.errors.DeviceError: tune: device 'cpu' has no tiles to choose from; ...
    """
    return await run_async(_tuning(_tuner(), forget))


def _tuner() -> Tuner:
    """Return what the default device can choose from.

    Raises:
        DeviceError: its kernels come in one variant only.
    """
    name = default_device()
    found = backend_of(name).tuner
    if found is None:
        raise DeviceError(
            f"tune: device {name!r} has no tiles to choose from; there is nothing to "
            f"measure. Call it inside `with tw.device({fastest()!r}):`."
        )
    return found


def _tuning(tuner: Tuner, forget: bool) -> Steps[dict[str, str]]:
    """Measure every product; a stop in between leaves things as they were."""
    before = tuner.tuned
    chosen: dict[str, str] = {}
    is_done = False
    try:
        for size, in_vectors in () if forget else PRODUCTS:
            problem, tiles = tuner.tiles_for(size, in_vectors)
            if len(tiles) < 2:
                continue
            left, right = _operand(size), _operand(size)
            yield from _warm(left, right)
            times: dict[str, float] = {}
            for _ in range(ROUNDS):
                for tile in ("", *tiles):
                    tuner.use_tiles({problem: tile} if tile else {})
                    taken = yield from _seconds(left, right)
                    times[tile] = min(taken, times.get(tile, taken))
            best = min(times, key=lambda tile: times[tile])
            if times[best] < GAIN * times[""]:
                chosen[problem] = best
        is_done = True
    finally:
        tuner.use_tiles(chosen if is_done else before)
    if not tuner.keep_tiles() and chosen:
        warnings.warn(
            "tune: the measured tiles are used, but cannot be kept for later runs; "
            "natively TENSORWEB_CACHE names a folder that can be written to.",
            stacklevel=4,
        )
    return chosen


def _operand(size: int) -> Tensor:
    """Return a stored square matrix of numbers between -0.5 and 0.5."""
    ramp = arange(size * size, dtype=dtypes.int32)
    numbers = (ramp * 7919 % 8191).astype(dtypes.float32) / 8191 - 0.5
    square = numbers.reshape(size, size)
    evaluate.realize([square.node])
    return square


def _warm(left: Tensor, right: Tensor) -> Steps[None]:
    """Keep the GPU busy until its clocks have risen."""
    started = time.perf_counter()
    while time.perf_counter() - started < WARMING_SECONDS:
        yield from evaluate.read_steps([(left @ right)[0, 0].node])


def _seconds(left: Tensor, right: Tensor) -> Steps[float]:
    """Return the best mean seconds of one product."""
    size = left.shape[0]
    count = int(max(min(RECORDED_OPERATIONS / (2 * size**3), RECORDED_PRODUCTS), 1))
    products = jit(lambda a, b: [a @ b for _ in range(count)])
    taken = yield from seconds(lambda: products(left, right)[-1], LEAST_SECONDS)
    return taken / count
