"""Classes of adapters by name: a table, and the lookup of an adapter's entry.

The figures behind `tiles.py` were measured on a GPU of 132 cores with 255 registers per
thread. On a GPU with fewer cores fewer workgroups occupy it, so larger tiles pay for
smaller problems; with fewer registers, large blocks of accumulators spill to memory.

Browsers report little about an adapter, so the entries are coarse and their figures
estimates; `tw.tune()` measures instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tensorweb.codegen.policy import MEASURED_CORES, MOST_ACCUMULATORS

NVIDIA_FAMILIES = "maxwell|pascal|volta|turing|ampere|lovelace|blackwell|geforce|rtx"
"""Dawn's names of NVIDIA's desktop families; it has no name for an H200."""


@dataclass(frozen=True, slots=True)
class AdapterClass:
    """One entry of the table.

    Attributes:
        name: name for diagnostics.
        pattern: regular expression searched in vendor, architecture and description.
        cores: approximate number of cores (compute units, multiprocessors).
        accumulators: largest number of results of a product per thread.
        is_slow_to_compile: whether unrolled loops and workgroup memory take its
            compiler too long.
    """

    name: str
    pattern: str
    cores: int
    accumulators: int
    is_slow_to_compile: bool = False


SOFTWARE: tuple[AdapterClass, ...] = (
    AdapterClass("swiftshader", r"swiftshader", 1, 16, is_slow_to_compile=True),
    AdapterClass("software", r"", 1, 16),
)
"""Adapters that run on the CPU, as reported by their driver."""

ADAPTERS: tuple[AdapterClass, ...] = (
    AdapterClass(
        "nvidia, data centre",
        r"nvidia.*(hopper|\b[ahb][12]00\b|gb?200|\bl40|v100)",
        MEASURED_CORES,
        MOST_ACCUMULATORS,
    ),
    AdapterClass(
        "nvidia",
        rf"nvidia.*({NVIDIA_FAMILIES})|geforce|quadro|\brtx\b",
        48,
        MOST_ACCUMULATORS,
    ),
    AdapterClass("nvidia, unknown", r"nvidia", MEASURED_CORES, MOST_ACCUMULATORS),
    AdapterClass("amd, discrete", r"radeon (rx|pro|vii)|\bmi\d{2,3}|instinct", 48, 64),
    AdapterClass("amd, integrated", r"\bamd\b|\bati\b|radeon", 12, 64),
    AdapterClass("intel, discrete", r"\barc\b|xe-?2?-?hpg|\bdg2\b|battlemage", 28, 32),
    AdapterClass("intel, integrated", r"intel|\biris\b|\buhd\b", 10, 32),
    AdapterClass("apple, large", r"\bm\d+ (pro|max|ultra)", 32, 32),
    AdapterClass("apple", r"apple|metal-\d", 10, 32),
    AdapterClass(
        "mobile", r"qualcomm|adreno|\barm\b|mali|imagination|powervr|img", 6, 16
    ),
    AdapterClass("unnamed", r"", 48, 64),
)
"""Classes of GPUs; an adapter has the first class whose pattern matches."""


def class_of(names: Mapping[str, str], is_software: bool = False) -> AdapterClass:
    """Return the class of an adapter by its vendor, architecture and description.

    >>> class_of({"vendor": "nvidia", "architecture": "hopper"}).cores
    132
    >>> class_of({"vendor": "intel", "architecture": "gen-12lp"}).name
    'intel, integrated'
    """
    text = " ".join(names.values()).lower()
    entries = SOFTWARE if is_software else ADAPTERS
    return next(entry for entry in entries if re.search(entry.pattern, text))
