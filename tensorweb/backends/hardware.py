"""Describe an open device to code generation: its class, and tiles tuned on it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping

from tensorweb.codegen.product.adapters import class_of
from tensorweb.codegen.product.tiles import TILES
from tensorweb.codegen.target import Target
from tensorweb.drivers.protocol import ShaderDriver
from tensorweb.version import VERSION

LONGEST_TEXT = 1 << 16
"""Most characters of a device's stored tiles; `tune` measures a few dozen problems."""

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
    if len(text) > LONGEST_TEXT or "[" in text or text.count("{") > 1:
        raise ValueError("no table of short texts")
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no table of short texts")
    names = {tile.name for tile in TILES}
    for problem, name in found.items():
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"{problem!r:.40} has the unknown tile {name!r:.40}")
    return tuple(found.items())
