"""Reductions, scans and everything that moves or joins: rows of code with kernels.

Each row's text runs with tensorweb, natively and in the page, and with NumPy, over the
inputs of `inputs_of`. `operation_cases.py` makes cases of rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FLOAT, INT, UINT, BOOL = ("float32",), ("int32",), ("uint32",), ("bool",)
NUMBERS = FLOAT + INT + UINT
EVERY = NUMBERS + BOOL


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        code: what to run; `xp` is the library.
        kernels: the templates that must run, in order; `...` at the end for any others.
        dtypes: of the inputs, one case each; if empty, one by the index of the row.
        within: the row of `tolerances.REDUCE` for floats; empty means equal.
        numpy: the code for NumPy where it differs.
        result: the dtype where NumPy's is not to be narrowed.
        slow: the templates where a compiler is slow, as SwiftShader's, if others.
        packed: the templates where the result has 8 or 16 bits, if `packed_kernels`
            does not tell them.
    """

    code: str
    kernels: str
    dtypes: tuple[str, ...] = ()
    within: str = ""
    numpy: str = ""
    result: str = ""
    slow: str = ""
    packed: str = ""

    @property
    def numpy_code(self) -> str:
        """The code for NumPy."""
        return self.numpy or self.code

    def uses(self, name: str) -> bool:
        """Whether an input is named in the code."""
        return re.search(rf"\b{name}\b", self.code + self.numpy) is not None


@cache
def inputs_of(dtype: str) -> dict[str, Array]:
    """Return the inputs by name; each has sizes that no other axis has."""
    return {
        "x": _values((5, 7, 11), dtype),
        "m": _values((5, 7), dtype),
        "v": _values((7,), dtype),
        "s": _values((), dtype),
        "z": _values((0, 7), dtype),
        "line": _values((99_991,), dtype),
        "tall": _values((9_973, 3), dtype),
        "wide": _values((3, 9_973), dtype),
        "near_one": _near_one(dtype),
        "left": _values((2, 1, 65, 33), dtype),
        "right": _values((3, 33, 17), dtype),
        "nans": np.array([[1, np.nan, 3], [4, 9, -np.inf]], np.float32),
        "i": np.array([4, 0, -1, 2, 2], np.int32),
        "j": np.array([[1], [3], [0], [2], [4]], np.int32),
        "mask": np.arange(35).reshape(5, 7) % 3 == 1,
        "some": np.array([True, False, True, True, False]),
    }


def _values(shape: tuple[int, ...], dtype: str) -> Array:
    random = np.random.default_rng(sum(shape) + 7)
    if dtype.startswith("float"):
        return np.asarray(random.normal(size=shape) * 4, dtype)
    low = -9 if dtype.startswith("int") else 0
    high = 2 if dtype == "bool" else 12
    return np.asarray(random.integers(low, high, shape)).astype(dtype)


def _near_one(dtype: str) -> Array:
    if not dtype.startswith("float"):
        return _values((3, 35), dtype)
    return np.random.default_rng(3).uniform(0.7, 1.4, (3, 35)).astype(dtype)


SHAPES = {
    "x": 1,
    "x, axis=0": 1,
    "x, axis=(0, 2), keepdims=True": 1,
    "x[::-2, 1:, ::3], axis=1": 1,
    "xp.permute_dims(x, (2, 0, 1)), axis=-1": 1,
    "xp.broadcast_to(v, (3, 7)), axis=0": 1,
    "s": 0,
    "x[:, :0], axis=2": 0,
    "line": 2,
    "tall, axis=0": 2,
    "wide, axis=1": 2,
}
"""Arguments of reductions: whole, by axis, through views, of nothing, in two stages.

The number is how many launches a reduction takes.
"""

ON_EVERY_DTYPE = "x, axis=0"


def _reductions() -> list[Row]:
    found = []
    for name in ("sum", "max", "min", "any", "all", "count_nonzero", "mean"):
        within = name if name in ("sum", "mean") else ""
        for arguments, launches in SHAPES.items():
            everywhere = arguments == ON_EVERY_DTYPE
            kernels = " ".join(["reduce"] * launches)
            # Nothing to reduce: at most a cast or a division is left.
            if arguments == "s" and name not in ("sum", "max", "min"):
                kernels = "elementwise"
            code = f"xp.{name}({arguments})"
            found.append(Row(code, kernels, EVERY if everywhere else FLOAT, within))
    for name in ("var", "std"):
        for arguments, launches in SHAPES.items():
            if arguments not in ("s", "x[:, :0], axis=2"):
                kernels = " ".join(["reduce"] * launches * 2)
                # Short rows that are numbers in the end take one launch.
                is_short = arguments == "x" or "permute" in arguments
                kernels = "rows" if is_short else kernels
                found.append(Row(f"xp.{name}({arguments})", kernels, within=name))
    for name in ("argmax", "argmin"):
        for arguments, launches in SHAPES.items():
            if arguments.count("axis=(") == 0 and launches:
                everywhere = arguments == ON_EVERY_DTYPE
                kernels = " ".join(["reduce"] * launches)
                code = f"xp.{name}({arguments})"
                found.append(Row(code, kernels, EVERY if everywhere else ()))
        found.append(Row(f"xp.{name}(x, axis=1, keepdims=True)", "reduce"))
        found.append(Row(f"xp.{name}(nans, axis=1)", "reduce", FLOAT))
    return found


_BY_ARGUMENTS = _reductions()

REDUCTIONS = (
    *_BY_ARGUMENTS,
    Row("xp.sum(s)", "elementwise", BOOL),
    Row("xp.max(nans, axis=1)", "reduce", FLOAT),
    Row("xp.min(nans, axis=1)", "reduce", FLOAT),
    Row("xp.sum(line * 2 + 1)", "reduce reduce", FLOAT, "sum"),
    Row("xp.prod(near_one, axis=1)", "reduce", FLOAT, "prod"),
    Row("xp.prod(near_one[:, ::-2])", "reduce", FLOAT, "prod"),
    Row("xp.prod(near_one, axis=1, dtype=xp.int32)", "reduce", INT),
    Row("xp.prod(near_one, axis=1, dtype=xp.uint32)", "reduce", UINT),
    Row("xp.prod(near_one, axis=0)", "reduce", BOOL),
    Row("xp.cumulative_sum(v)", "scan", EVERY, "cumulative_sum"),
    Row(
        "xp.cumulative_sum(line)",
        "scan_totals scan",
        EVERY,
        "cumulative_sum",
        slow="scan_totals scan scan",
    ),
    Row("xp.cumulative_sum(wide, axis=1)", "scan_totals scan", INT),
    Row(
        "xp.cumulative_sum(x, axis=1)",
        "scan_short",
        FLOAT,
        "cumulative_sum",
        slow="scan",
    ),
    Row("xp.cumulative_sum(x[::-1, :, 2::3], axis=2)", "scan_short", UINT, slow="scan"),
    Row(
        "xp.cumulative_sum(x, axis=1, include_initial=True)",
        "scan_short elementwise",
        INT,
        slow="scan elementwise",
    ),
    Row("xp.cumulative_sum(z, axis=1)", "", FLOAT),
    Row(
        "xp.cumulative_prod(near_one, axis=1)",
        "scan_short",
        FLOAT,
        "cumulative_prod",
        slow="scan",
    ),
)

SAMPLED_REDUCTIONS = tuple(
    row
    for index, row in enumerate(REDUCTIONS)
    if index % 3 == 0
    or index >= len(_BY_ARGUMENTS)
    or row.dtypes == EVERY
    or "broadcast" in row.code
)
"""Each function with a third of the arguments, each of these with several functions.

A kernel has the lines of both next to each other, and compiling it takes the time. What
is broadcast has columns of one sign, which show a wrong identity.
"""

STRUCTURES = (
    # Movement alone computes nothing.
    Row("xp.permute_dims(x, (2, 0, 1))", ""),
    Row("xp.reshape(x, (7, 55))", ""),
    Row("xp.reshape(x[:, ::2], (-1,))", "elementwise"),
    Row("xp.flip(x, axis=1)", ""),
    Row("xp.broadcast_to(s, (3, 2))", ""),
    Row("xp.squeeze(x[2:3], axis=0)", ""),
    Row("xp.expand_dims(m, axis=1)", ""),
    Row("xp.matrix_transpose(x)", ""),
    Row("xp.moveaxis(x, 0, -1)", ""),
    Row("x[-1, ::-2, None, 3:9:2]", ""),
    Row("x[1:1]", ""),
    Row("z.T", ""),
    Row("xp.permute_dims(x, (2, 0, 1))[::-1][3:, 1:4, ::-2]", ""),
    # Joining.
    Row("xp.concat([m, m[::-1], m[1:3]])", "elementwise", EVERY),
    Row("xp.concat([x, x[:, :2], x[:, :0]], axis=1)", "elementwise"),
    Row("xp.concat([m, z])", ""),
    Row("xp.stack([m, m[::-1]], axis=1)", "elementwise"),
    Row("xp.unstack(x, axis=1)[2]", ""),
    Row("xp.tile(m, (2, 1, 3))", "elementwise"),
    Row("xp.repeat(m, 3, axis=1)", "elementwise"),
    Row("xp.roll(x, (2, -3), axis=(0, 2))", "elementwise"),
    Row("xp.roll(m, 4)", "elementwise"),
    Row(
        "xp.maximum(xp.roll(left, 1, axis=2), xp.roll(left, (3, -2), axis=(2, 3)))",
        "stencil",
        FLOAT + INT,
    ),
    Row("xp.roll(left > 1, -1, axis=3) ^ xp.roll(left > 1, 1, axis=2)", "stencil"),
    Row("xp.pad(m, ((1, 2), (0, 3)))", "elementwise", EVERY),
    Row(
        "xp.pad(x[::2], ((0, 1), (2, 0), (3, 3)), 1)",
        "elementwise",
        numpy="xp.pad(x[::2], ((0, 1), (2, 0), (3, 3)), constant_values=1)",
    ),
    Row("xp.diff(m, axis=1)", "elementwise", INT),
    # Writing: other names keep their value.
    Row("x[1:3, ::2] = m[1, 0]\nx", "elementwise elementwise", EVERY),
    Row("x[:, 6:0:-2, 3] = m[:, :3]\nx", "elementwise elementwise"),
    Row("x[2] = x[3, ::-1]\nx", "elementwise", numpy="x[2] = x[3, ::-1].copy()\nx"),
    Row("y = x[0]\nx[0] = x[1]\ny", "stencil"),
    Row("m[mask] = v[2]\nm", "elementwise", EVERY),
    Row(
        "m[mask] = m[mask][::-1]\nm",
        "scan elementwise elementwise",
    ),
    Row("m[some] = v\nm", "elementwise"),
    Row(
        "m[i, 1:3] = m[0, 3:5]\nm",
        "elementwise scatter_claim scatter_select",
        EVERY,
    ),
    Row("m[i, i] = v[:5]\nm", "scatter_claim scatter_select"),
    Row("x[j, :, i] = x[0, :, 0]\nx", "elementwise scatter_claim scatter_select"),
    Row("m[1:1] = 1\nm", "", INT),
    # Accumulating at positions, some of them twice.
    Row(
        "m.at[i].add(m[0])",
        "scatter_atomic elementwise",
        INT + UINT + BOOL,
        numpy="xp.add.at(m, i, m[0].copy())\nm",
    ),
    Row(
        "(m * 0).at[i].add(0.5)",
        "elementwise sort_blocks scatter_rows",
        FLOAT,
        numpy="m = m * 0\nxp.add.at(m, i, 0.5)\nm",
        slow="elementwise sort_rows scatter_rows",
    ),
    Row(
        "v.at[i].multiply(2)",
        "elementwise sort_blocks scatter_runs",
        NUMBERS,
        numpy="xp.multiply.at(v, i, 2)\nv",
        slow="elementwise sort_rows scatter_rows",
    ),
    Row(
        "x.at[j, :, i].max(s)",
        "elementwise scatter_atomic elementwise",
        EVERY,
        numpy="xp.maximum.at(x, (j, slice(None), i), s)\nx",
        packed="elementwise scatter_atomic elementwise elementwise",
    ),
    Row(
        "m.at[:, i].min(v[:5])",
        "scatter_atomic elementwise",
        EVERY,
        numpy="xp.minimum.at(m, (slice(None), i), v[:5])\nm",
        packed="scatter_atomic elementwise elementwise",
    ),
    Row(
        "(line * 0).at[xp.arange(99_991, dtype=xp.int32) % 500].add(0.5)",
        "sort_count scan_totals scan sort_blocks scatter_tables scatter_total",
        FLOAT,
        numpy="line = line * 0\nn = xp.arange(99_991) % 500\n"
        "xp.add.at(line, n, 0.5)\nline",
        slow="elementwise sort_rows sort_merge ...",
    ),
    # Selecting.
    Row("m[i]", "elementwise elementwise", EVERY),
    Row("m[:, i - 1]", "elementwise elementwise"),
    Row("x[j, :, i]", "elementwise elementwise"),
    Row("x[i, ..., j]", "elementwise elementwise"),
    Row("xp.take(x, i, axis=1)", "elementwise elementwise"),
    Row("xp.take_along_axis(m, j, axis=1)", "elementwise"),
    Row("m[mask]", "elementwise"),
    Row("m[m > v]", "elementwise scan compress elementwise", EVERY),
    Row("x[some]", "elementwise"),
    Row("x[mask, 2:5]", "elementwise"),
    Row("x[:, mask[0]]", "elementwise"),
    Row("m[m > m]", "elementwise scan"),
    Row("xp.nonzero(m)[1]", "elementwise scan compress elementwise", NUMBERS),
    Row("xp.isin(m, v)", "reduce"),
    Row("xp.searchsorted(xp.arange(12), m)", "reduce", INT),
    Row("xp.where(mask, m, 1)", "elementwise"),
    Row("xp.clip(x, -2, 3)", "elementwise", FLOAT + INT),
    # In order; equal values keep theirs.
    Row("xp.sort(m, axis=0)", "sort_rows", EVERY),
    Row("xp.argsort(x, axis=1, stable=True)", "sort_rows", NUMBERS),
    Row("xp.sort(line)", "sort_count ...", FLOAT, slow="sort_rows sort_merge ..."),
    Row(
        "xp.unique_values(m)",
        "elementwise sort_rows elementwise scan compress elementwise",
        INT,
        numpy="xp.unique(m)",
        packed="elementwise sort_rows elementwise elementwise scan compress "
        "elementwise",
    ),
    # Products: batches, odd sizes, integers, the rules for one axis; thin ones reduce.
    Row("left @ right", "matmul", NUMBERS, "matmul"),
    Row("m @ v", "reduce", NUMBERS, "matmul"),
    Row("v @ m.T", "reduce", NUMBERS, "matmul"),
    Row("v @ v", "reduce", NUMBERS, "matmul"),
    Row("m.T @ m", "matmul", NUMBERS, "matmul"),
    Row("m[::-1, ::2] @ m[1, ::-2]", "reduce", NUMBERS, "matmul"),
    Row("m[:, :0] @ m.T[:0]", "matmul", NUMBERS, "matmul"),
    Row("z @ m.T", "", NUMBERS, "matmul"),
    Row("left[0, 0] @ right[0] * 2 + right[0, 0]", "matmul", FLOAT, "matmul"),
    Row("wide @ tall", "reduce reduce", NUMBERS, "matmul"),
    Row("xp.tensordot(x, m, axes=((0, 1), (0, 1)))", "reduce", NUMBERS, "matmul"),
    Row("xp.vecdot(m, v)", "reduce", NUMBERS, "matmul"),
    Row("xp.einsum('bij,bjk->ki', left[:, 0], right[:2])", "matmul", FLOAT, "matmul"),
    Row(
        "xp.sliding_windows(m, 3, axis=1) * 1",
        "elementwise",
        NUMBERS,
        numpy="xp.lib.stride_tricks.sliding_window_view(m, 3, axis=1) * 1",
    ),
    Row("xp.outer(v, v)", "elementwise", NUMBERS, "matmul"),
    # A transform of four points is exact.
    Row("xp.fft.hfft(xp.round(m[:3] * 4), n=4, axis=0)", "fourier", FLOAT),
    # Matrices taken apart.
    Row(
        "xp.linalg.cholesky(m @ m.T + 9 * xp.eye(5))",
        "matmul cholesky",
        FLOAT,
        "factor",
    ),
    Row(
        "xp.linalg.solve(x[:, :, :7] + 30 * xp.eye(7), xp.sin(m[..., None]))",
        "lu ...",
        FLOAT,
        "factor",
    ),
    Row("xp.abs(xp.linalg.qr(x)[1])", "qr elementwise", FLOAT, "factor"),
    Row(
        "xp.linalg.eigvalsh(x[:, :, :7] + x[:, :, :7].mT)",
        "eigh",
        FLOAT,
        "factor",
    ),
    Row(
        "xp.sort(xp.abs(xp.linalg.eigvals(x[:, :, :7])), axis=-1)",
        "...",
        FLOAT,
        "factor",
    ),
    Row("xp.linalg.svdvals(m)", "svd", FLOAT, "factor"),
    Row("xp.linalg.svdvals(m + 1j * m[::-1])", "svd", FLOAT, "factor"),
    Row("xp.linalg.eigvalsh(m[:, :5] + 1j * m[:, 2:])", "...", FLOAT, "factor"),
    Row(
        "xp.abs(xp.linalg.qr(m + 1j * m[::-1])[1])",
        "qr elementwise",
        FLOAT,
        "factor",
    ),
    # Made from nothing.
    Row("xp.arange(3, 40, 7, dtype=xp.float32)", "elementwise", FLOAT),
    Row("xp.arange(9, dtype=xp.uint32)", "elementwise", UINT),
    Row("xp.eye(4, 6, k=1, dtype=xp.int32)", "elementwise", INT),
    Row("xp.tril(m, k=-1)", "elementwise"),
    Row("xp.triu(x)", "elementwise"),
    Row("xp.full((2, 3), 7, dtype=xp.int32)", "elementwise", INT),
    Row("xp.zeros((0, 3), dtype=xp.float32)", "", FLOAT),
    # More elements than float32 counts, and than one row of workgroups holds.
    Row(
        "n = xp.arange(17_000_003, dtype=xp.int32)\n(n[::-1] % 7)[-5:] + n[-5:]",
        "elementwise",
        INT,
    ),
    Row(
        "n = xp.arange(17_000_003, dtype=xp.int32)\nxp.sum(n % 5)",
        "reduce reduce",
        INT,
    ),
    Row(
        "n = xp.concat([xp.arange(17_000_003, dtype=xp.int32), i])\nn[n.size - 9:]",
        "elementwise",
        INT,
    ),
)
