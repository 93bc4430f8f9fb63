"""The programs of the workloads in tensorweb and NumPy, and float64 references.

NumPy's programs are both a peer on the CPU, in float32, and the reference, in float64.
Each library is imported where it is used: Pyodide may have only one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bench.workloads import COMPLEX, MANDELBROT_STEPS, Input, Workload

if TYPE_CHECKING:
    import numpy as np

Array = Any
"""A tensor or a NumPy array, by the namespace that computes."""

Program = Callable[..., Any]


def common(xp: Any) -> dict[str, Program]:
    """Return the programs that a user writes alike in every library.

    Args:
        xp: the library's namespace, with the names of the Array API.
    """

    def softmax(x: Array) -> Array:
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    def layernorm(x: Array) -> Array:
        centred = x - xp.mean(x, axis=1, keepdims=True)
        variance = xp.mean(centred * centred, axis=1, keepdims=True)
        return centred / xp.sqrt(variance + 1e-5)

    def life(x: Array) -> Array:
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        count = sum(xp.roll(x, shift, axis=(0, 1)) for shift in shifts)
        return xp.astype((count == 3) | ((x == 1) & (count == 2)), xp.int32)

    def heat(x: Array) -> Array:
        total = xp.roll(x, 1, axis=0) + xp.roll(x, -1, axis=0)
        total += xp.roll(x, 1, axis=1) + xp.roll(x, -1, axis=1)
        return x + 0.1 * (total - 4 * x)

    def laplacian(x: Array) -> Array:
        total = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        return total - 4 * x[1:-1, 1:-1]

    def gray_scott(u: Array, v: Array) -> tuple[Array, Array]:
        inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
        reaction = inner_u * inner_v * inner_v
        new_u = inner_u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - inner_u)
        new_v = inner_v + 0.08 * laplacian(v) + reaction - 0.1 * inner_v
        return new_u, new_v

    def mandelbrot(x: Array, y: Array) -> Array:
        real, imaginary = xp.zeros_like(x), xp.zeros_like(y)
        count = xp.zeros_like(x + y)
        for _ in range(MANDELBROT_STEPS):
            real, imaginary = (
                real * real - imaginary * imaginary + x,
                2 * real * imaginary + y,
            )
            size = real * real + imaginary * imaginary
            count = count + xp.astype(size < 4, xp.float32)
        return count

    def svd(a: Array) -> Array:
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        return (u * s[:, None, :]) @ vh

    def eigh(a: Array) -> Array:
        values, vectors = xp.linalg.eigh(a)
        return (vectors * values[:, None, :]) @ vectors.mT

    return {
        "matmul": lambda a, b: a @ b,
        "matmul_nt": lambda a, b: a @ b.mT,
        "matmul_tn": lambda a, b: a.mT @ b,
        "matvec": lambda a, x: a @ x,
        "elem": lambda x: xp.exp(-x * x) * 2 + 1,
        "sum": lambda x: xp.sum(x),
        "rowsum": lambda x: xp.sum(x, axis=1),
        "colsum": lambda x: xp.sum(x, axis=0),
        "softmax": softmax,
        "layernorm": layernorm,
        "cumsum": lambda x: xp.cumulative_sum(x),
        "gather": lambda table, indices: xp.take(table, indices, axis=0),
        "sort": lambda x: xp.sort(x),
        "argmax": lambda x: xp.argmax(x, axis=1),
        "increment": lambda x: x + 1,
        "argmax_rows": lambda x: xp.argmax(x, axis=1),
        "var_rows": lambda x: xp.var(x, axis=1),
        "norm_rows": lambda x: xp.linalg.vector_norm(x, axis=1),
        "sum_strided": lambda x: xp.sum(x[:, ::2], axis=1),
        "matmul_complex": lambda a, b: a @ b,
        "pairwise": lambda a, b: xp.sum((a - b) ** 2, axis=-1),
        "life": life,
        "heat": heat,
        "gray_scott": gray_scott,
        "mandelbrot": mandelbrot,
        "sort_rows": lambda x: xp.sort(x, axis=1),
        "fft": lambda x: xp.fft.fft(x),
        "fft2": lambda x: xp.fft.fftn(x),
        "cholesky": lambda a: xp.linalg.cholesky(a),
        "solve": lambda a, b: xp.linalg.solve(a, b),
        "svd": svd,
        "eigh": eigh,
    }


def tensorweb_programs() -> dict[str, Program]:
    """Return every program as a user of tensorweb writes it."""
    import tensorweb as tw

    def grouped(images: Array, weights: Array) -> Array:
        groups = images.shape[1] // weights.shape[1]
        return tw.conv2d(images, weights, padding=1, groups=groups)

    return {
        **common(tw),
        "argsort": lambda x: tw.argsort(x),
        "scatter_add": lambda table, i, values: table.at[i].add(values),
        "transpose_copy": lambda x: x.T.contiguous(),
        "conv2d": lambda x, w: tw.conv2d(x, w, padding=1),
        "conv2d_7x7s2": lambda x, w: tw.conv2d(x, w, stride=2, padding=3),
        "conv2d_grouped": grouped,
        "conv2d_depthwise": grouped,
        "conv2d_1x1": lambda x, w: tw.conv2d(x, w),
        "logsumexp_rows": lambda x: tw.nn.logsumexp(x, axis=1),
        "gelu": lambda x: tw.nn.gelu(x),
        "attention": lambda q, k, v: tw.nn.attention(q, k, v),
        "attention_causal": lambda q, k, v: tw.nn.attention(q, k, v, causal=True),
    }


def numpy_programs() -> dict[str, Program]:
    """Return every program in NumPy."""
    import numpy as np

    def scatter_add(table: Array, indices: Array, values: Array) -> Array:
        result = table.copy()
        np.add.at(result, indices, values)
        return result

    def convolution(stride: int = 1, padding: int | None = None) -> Program:
        """Multiply windows by weights: `(n, c, h, w)` by `(o, c / groups, kh, kw)`."""

        def convolve(images: Array, weights: Array) -> Array:
            height, width = weights.shape[2:]
            pad = height // 2 if padding is None else padding
            sides = ((0, 0), (0, 0), (pad, pad), (pad, pad))
            windows = np.lib.stride_tricks.sliding_window_view(
                np.pad(images, sides), (height, width), axis=(2, 3)
            )[:, :, ::stride, ::stride]
            n, channels, rows, columns = windows.shape[:4]
            groups = channels // weights.shape[1]
            parts = []
            for seen, filters in zip(
                np.split(windows, groups, 1), np.split(weights, groups), strict=True
            ):
                flat = seen.transpose(0, 2, 3, 1, 4, 5).reshape(n * rows * columns, -1)
                product = flat @ filters.reshape(len(filters), -1).T
                parts.append(product.reshape(n, rows, columns, -1))
            shaped = np.concatenate(parts, -1) if groups > 1 else parts[0]
            return np.ascontiguousarray(shaped.transpose(0, 3, 1, 2))

        return convolve

    def logsumexp(x: Array) -> Array:
        top = x.max(1)
        return np.log(np.exp(x - top[:, None]).sum(1)) + top

    def mandelbrot(x: Array, y: Array) -> Array:
        point = x + 1j * y
        z, count = np.zeros_like(point), np.zeros(point.shape)
        is_near = np.ones(point.shape, bool)
        for _ in range(MANDELBROT_STEPS):
            z = np.where(is_near, z * z + point, z)
            is_near &= np.abs(z) ** 2 < 4
            count += is_near
        return count

    def attention(q: Array, k: Array, v: Array, *, is_causal: bool = False) -> Array:
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if is_causal:
            scores[:, ~np.tri(scores.shape[-1], dtype=bool)] = -np.inf
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e @ v / e.sum(-1, keepdims=True)

    return {
        **common(np),
        "argsort": lambda x: np.argsort(x, kind="stable"),
        "scatter_add": scatter_add,
        "transpose_copy": lambda x: np.ascontiguousarray(x.T),
        "conv2d": convolution(1, 1),
        "conv2d_7x7s2": convolution(2, 3),
        "conv2d_grouped": convolution(),
        "conv2d_depthwise": convolution(),
        "conv2d_1x1": convolution(),
        "logsumexp_rows": logsumexp,
        "gelu": lambda x: x * np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2,
        "mandelbrot": mandelbrot,
        "attention": attention,
        "attention_causal": lambda q, k, v: attention(q, k, v, is_causal=True),
    }


class NumPyCase:
    """One program in NumPy on operands given as bytes, shape and dtype."""

    def __init__(
        self, program: str, operands: Sequence[Any], is_chained: bool = False
    ) -> None:
        """Prepare the operands; JavaScript's arrays are copied."""
        import numpy as np

        self.program = numpy_programs()[program]
        self.is_chained = is_chained
        self.operands = [
            np.frombuffer(_bytes(data), dtype).reshape(tuple(shape))
            for data, shape, dtype in operands
        ]
        self.last: Any = None

    def run(self, count: int) -> None:
        """Compute the result `count` times."""
        operands = self.operands
        for _ in range(count):
            self.last = None
            self.last = self.program(*operands)
            if self.is_chained:
                operands = [self.last]

    def result(self, dtype: str) -> bytes:
        """Return the bytes of the last result in the workload's dtype."""
        import numpy as np

        return np.ascontiguousarray(self.last, dtype).tobytes()


def _bytes(data: Any) -> Any:
    return data.to_bytes() if hasattr(data, "to_bytes") else data


def operands(workload: Workload) -> list[np.ndarray]:
    """Return the operands, the same numbers as `js/data.mjs` makes."""
    return [operand(each) for each in workload.inputs]


def operand(given: Input) -> np.ndarray:
    """Return one operand: a hash of each element's index, scaled."""
    import numpy as np

    size = math.prod(given.shape) * (2 if given.dtype == COMPLEX else 1)
    start = np.uint32(given.seed * 0x9E3779B1 & 0xFFFFFFFF)
    unit = (_hashed(np.arange(size, dtype=np.uint32) + start) >> 8) / 2**24
    values = given.low + (given.high - given.low) * unit
    if given.dtype == COMPLEX:  # real and imaginary parts alternate
        made: np.ndarray = values.astype(np.float32).view(given.dtype)
        return made.reshape(given.shape)
    made = values.astype(given.dtype).reshape(given.shape)
    if given.form:
        made = np.tril(made) + np.swapaxes(np.tril(made, -1), -1, -2)
    if given.form == "positive":
        made += np.eye(made.shape[-1], dtype=made.dtype) * made.shape[-1]
    return made


def _hashed(numbers: Any) -> Any:
    """Apply MurmurHash3's finalizer."""
    import numpy as np

    bits = numbers.astype(np.uint32)
    bits = (bits ^ (bits >> 16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * np.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)


TERMS = frozenset(
    (
        *("matmul", "matmul_nt", "matmul_tn", "matvec", "sum", "rowsum", "colsum"),
        *("scatter_add", "conv2d", "conv2d_7x7s2", "matmul_complex"),
        *("conv2d_grouped", "conv2d_depthwise", "conv2d_1x1"),
    )
)
"""Linear programs: errors are relative to the sum of the magnitudes of the terms."""

UNIT = frozenset(("layernorm", "increment", "life", "heat", "gray_scott"))
"""Programs whose errors are absolute."""


def _scale(workload: Workload, given: list[Array], result: Array) -> Array:
    """Return the size that errors are relative to, broadcast to the result.

    Infinity where no precision decides the value, and the element is not compared.
    """
    import numpy as np

    x = given[0]
    match workload.program:
        case name if name in TERMS:
            sizes = [np.abs(each) if each.dtype.kind != "i" else each for each in given]
            return _computed(name, sizes)
        case name if name in UNIT:
            return np.ones(())
        case "gelu":  # near zero and far left the result is tiny
            return np.abs(x)
        case "mandelbrot":
            near = (1 - 1e-6, 1 + 1e-6)
            counts = [_computed("mandelbrot", [x * a, given[1] * a]) for a in near]
            is_certain = (counts[0] == result) & (counts[1] == result)
            return np.where(is_certain, 1.0, np.inf)
        case "attention" | "attention_causal":
            return np.abs(given[2]).max(1, keepdims=True)
        case "fft" | "fft2":
            return np.sqrt((np.abs(x) ** 2).sum())
        case "cholesky":
            return np.sqrt(x.max((1, 2), keepdims=True))
        case "solve":
            size = np.abs(result).max((1, 2), keepdims=True)
            return size * np.linalg.cond(x)[:, None, None]
        case "svd" | "eigh":
            return np.linalg.norm(x, 2, (1, 2), keepdims=True)
    return np.abs(result)


def _computed(name: str, given: list[Array]) -> Array:
    """Return a result in float64; several are stacked."""
    import numpy as np

    computed = numpy_programs()[name](*given)
    return np.stack(computed) if isinstance(computed, tuple) else np.asarray(computed)


SAMPLES = 48


def samples(workload: Workload) -> dict[str, np.ndarray]:
    """Return `indices` in the row-major result, their `values` and `scales`."""
    import numpy as np

    wide = {"f": np.float64, "c": np.complex128}
    given = [x.astype(wide.get(x.dtype.kind, x.dtype)) for x in operands(workload)]
    result = _computed(workload.program, given)
    scale = np.broadcast_to(_scale(workload, given, result), result.shape)
    if workload.dtype == COMPLEX:
        result, scale = result.view(np.float64), np.repeat(scale, 2)
    size = workload.numbers
    hashed = _hashed(np.arange(SAMPLES) + 77) % size
    indices = np.unique(np.array([0, size - 1, *hashed]))
    values, scales = result.reshape(-1)[indices], scale.reshape(-1)[indices]
    is_certain = np.isfinite(scales)
    scales = np.where(scales == 0, 1, scales)
    arrays = {"indices": indices, "values": values, "scales": scales}
    return {name: each[is_certain] for name, each in arrays.items()}


def error_of(samples: dict[str, np.ndarray], result: np.ndarray) -> float:
    """Return the largest error of the sampled elements, relative to their scales."""
    import numpy as np

    numbers = result.view(result.real.dtype)[samples["indices"]].astype(np.float64)
    error = np.abs(numbers - samples["values"]) / samples["scales"]
    return float("inf") if np.isnan(error).any() else float(error.max())


def checked_json(workload: Workload) -> dict[str, Any]:
    """Return an entry for JavaScript with its samples."""
    lists = {name: each.tolist() for name, each in samples(workload).items()}
    return {**workload.as_json(), "samples": lists}
