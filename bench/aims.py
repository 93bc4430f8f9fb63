"""What the rows of the table shall reach, and how far a file of results has come.

An aim is a rate, a share of another row or of the copy ceiling, or being ahead of
somebody. `bench report` shows them; nothing is measured here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bench.results import Results, Row

Kind = Literal["rate", "share", "ahead"]

COPY = "ceiling_copy"
PEERS = ("jax-js", "TF.js", "ONNX Runtime Web")
PYTORCH = "PyTorch"
COMPILED = "PyTorch compiled"


@dataclass(frozen=True, slots=True)
class Aim:
    """One aim.

    Attributes:
        kind: `rate` in the row's unit, `share` of the best rate of `other` (a workload,
            or how the names of ceilings begin), `ahead` of every `other`.
        value: the least rate or share.
        other: what is compared with, or a name of `GROUPS`.
        words: how the report names it.
        is_plain: whether rows through `tw.jit` do not count.
    """

    kind: Kind
    value: float
    other: str
    words: str
    is_plain: bool = False


def _rate(value: float) -> Aim:
    return Aim("rate", value, "", f"≥ {value:,.0f}")


def _share(value: float, other: str, words: str) -> Aim:
    return Aim("share", value, other, f"≥ {value:.0%} of {words}")


def _beside(value: float, other: str) -> Aim:
    """A multiple of somebody's best rate."""
    name = "compiled PyTorch" if other == COMPILED else other
    return Aim("ahead", value, other, f"≥ {value:g} of {name}")


AHEAD_OF_PEERS = Aim("ahead", 1, "peers", "ahead of peers")

AIMS: dict[str, Aim] = {
    "matmul256": _rate(3200),
    "matmul512": _rate(13700),
    "matmul1024": _rate(28000),
    "matmul2048": _rate(40000),
    "matmul4096": _rate(44000),
    "matmul_odd": _rate(22000),
    "matmul_odd2": _rate(18000),
    "bmm": _rate(32000),
    "matmul_nt": _share(0.95, "matmul4096", "matmul4096"),
    "matmul_tn": _share(0.95, "matmul4096", "matmul4096"),
    "matvec": _rate(3900),
    "elem": Aim("rate", 3450, "", "≥ 3,450 without jit", is_plain=True),
    "sum": _rate(2500),
    "rowsum": _rate(2900),
    "colsum": _rate(2400),
    "softmax": _rate(3100),
    "layernorm": Aim("ahead", 1, PYTORCH, "ahead of PyTorch eager"),
    "cumsum": _share(0.4, COPY, "copy"),
    "gather_rows": _share(0.8, COPY, "copy"),
    "transpose_copy": _share(0.8, COPY, "copy"),
    "conv2d": _share(1, "matmul2048", "matmul2048"),
    "conv2d_7x7s2": _share(1, "matmul2048", "matmul2048"),
}
"""A row without an aim shall be ahead of every peer."""

GROUPS = {"peers": PEERS, "peers and PyTorch": (*PEERS, PYTORCH)}
"""Others by one name."""

LEVEL = Aim("ahead", 0.95, PYTORCH, "level with PyTorch")
"""Runs differ by so much."""

AS_ROW_SUMS = _share(0.85, "rowsum", "rowsum")
SMALL_PRODUCT = _beside(1.5, "TF.js")
AHEAD_OF_ALL = Aim("ahead", 1, "peers and PyTorch", "ahead of peers and PyTorch")
STENCIL = (AHEAD_OF_PEERS, _beside(0.8, COMPILED))
ORDERED = _beside(2, "jax-js")
AHEAD_OF_COMPILED = Aim("ahead", 1, COMPILED, "ahead of compiled PyTorch")
TRANSFORM = (AHEAD_OF_PEERS, _beside(0.4, PYTORCH))
FACTORED = Aim("ahead", 1, "jax-js", "ahead of jax-js")

FAMILY_AIMS: dict[str, tuple[Aim, ...]] = {
    "argmax_rows": (AS_ROW_SUMS,),
    "var_rows": (AS_ROW_SUMS,),
    "logsumexp_rows": (AS_ROW_SUMS,),
    "norm_rows": (AS_ROW_SUMS,),
    "sum_strided": (AHEAD_OF_PEERS, LEVEL),
    "gelu": (AHEAD_OF_PEERS, LEVEL),
    "bmm16": (SMALL_PRODUCT,),
    "bmm32": (SMALL_PRODUCT,),
    "bmm64": (SMALL_PRODUCT,),
    "matmul_skinny": (AHEAD_OF_PEERS, LEVEL),
    "matmul_complex": (_share(0.7, "matmul1024", "matmul1024"),),
    "conv2d_grouped": (AHEAD_OF_ALL,),
    "conv2d_depthwise": (AHEAD_OF_ALL,),
    "conv2d_1x1": (AHEAD_OF_PEERS, LEVEL),
    "life": STENCIL,
    "heat": STENCIL,
    "gray_scott": STENCIL,
    "mandelbrot": (AHEAD_OF_PEERS, _beside(0.5, COMPILED)),
    "sort_rows": (ORDERED,),
    "sort_short": (ORDERED,),
    "attention": (AHEAD_OF_COMPILED,),
    "attention_causal": (AHEAD_OF_COMPILED,),
    "fft": TRANSFORM,
    "fft2": TRANSFORM,
    "cholesky": (FACTORED,),
    "solve": (FACTORED,),
    "svd": (FACTORED,),
    "eigh": (FACTORED,),
}
"""Of the second table; the report names all aims of a row."""

MACHINE = "H200"
"""In the name of the machine for which the rates are aims."""


def aims_of(found: Results, workload: str) -> tuple[Aim, ...]:
    """Return a workload's aims on the machine of a file."""
    if workload in FAMILY_AIMS:
        return FAMILY_AIMS[workload]
    aim = AIMS.get(workload, AHEAD_OF_PEERS)
    is_elsewhere = aim.kind == "rate" and MACHINE not in found.machine
    return (AHEAD_OF_PEERS if is_elsewhere else aim,)


def reached(
    found: Results, workload: str, aim: Aim, rows: list[Row], host: str
) -> float | None:
    """Return which part of an aim our best row reaches, None where none can tell.

    `rows` are ours; `host` begins the names of rows that a share refers to.
    """
    rates = [
        float(row["rate"])
        for row in rows
        if not (aim.is_plain and row["impl"].endswith(", jit"))
    ]
    wanted = aim.value * _compared(found, workload, aim, host)
    return max(rates) / wanted if rates and wanted else None


def shown(found: Results, workload: str, rows: list[Row], host: str) -> str:
    """Return the aims in words with `met` or the part of each that is reached."""
    words = []
    for aim in aims_of(found, workload):
        part = reached(found, workload, aim, rows, host)
        if part is None:
            words.append(aim.words)
        elif part >= 1:
            words.append(f"{aim.words}: met")
        else:
            words.append(f"{aim.words}: {math.floor(part * 100)}% of aim")
    return "; ".join(words)


def _compared(found: Results, workload: str, aim: Aim, host: str) -> float:
    """Return the rate that an aim is a multiple of, zero where it is not known."""
    if aim.kind == "rate":
        return 1.0
    if aim.kind == "share":
        rows = [
            row
            for row in found.rows
            if row["workload"].startswith(aim.other)
            and (row["impl"] == host or row["impl"].startswith((f"{host}, ", "WGSL")))
        ]
    else:
        names = GROUPS.get(aim.other, (aim.other,))
        rows = [
            row
            for row in found.rows
            if row["workload"] == workload
            and row["impl"].startswith(names)
            and (row["impl"] != COMPILED or aim.other == COMPILED)
        ]
    right = [row for row in rows if row.get("ok", True) and row["rate"]]
    return max((float(row["rate"]) for row in right), default=0.0)
