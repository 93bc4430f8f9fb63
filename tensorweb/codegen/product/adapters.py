"""Classes of adapters, by what their names tell: a table, and which row an adapter is.

The figures behind `tiles.py` were measured on a GPU of 132 cores. On one with fewer
cores fewer workgroups keep it busy, so larger tiles pay for smaller problems already.
It also has 255 registers a thread; with fewer, large blocks of accumulators spill to
memory.
Browsers tell little of an adapter, so the rows are coarse and their numbers a guess;
`tw.tune()` measures instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tensorweb.codegen.target import MEASURED_CORES, MOST_ACCUMULATORS

NVIDIA_FAMILIES = "maxwell|pascal|volta|turing|ampere|lovelace|blackwell|geforce|rtx"
"""What Dawn calls NVIDIA's families for desktops; an H200 has no name there."""


@dataclass(frozen=True, slots=True)
class AdapterClass:
    """One row.

    Attributes:
        name: for people.
        pattern: a regular expression, found in vendor, architecture and description.
        cores: how many cores such an adapter has, about (compute units,
            multiprocessors).
        accumulators: how many results of a product a thread should compute at most.
        is_slow_to_compile: whether written out loops and much workgroup memory take
            its compiler too long.
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
"""Adapters that compute on the CPU; their driver tells, whatever they are called."""

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
"""The first row whose pattern is found in an adapter's names is its class."""


def class_of(names: Mapping[str, str], is_software: bool = False) -> AdapterClass:
    """Return the class of an adapter by its vendor, architecture and description.

    >>> class_of({"vendor": "nvidia", "architecture": "hopper"}).cores
    132
    >>> class_of({"vendor": "intel", "architecture": "gen-12lp"}).name
    'intel, integrated'
    """
    text = " ".join(names.values()).lower()
    rows = SOFTWARE if is_software else ADAPTERS
    return next(row for row in rows if re.search(row.pattern, text))
