"""Every unary operation inside every kind of kernel, compared with its stored values.

A driver may compile a function rightly alone and wrongly inside a kernel that keeps its
values over a barrier. So each operation is computed twice: stored, which the op table's
tests compare with NumPy, and inside the kernel that reads it. Runs in the browser as
well: no NumPy here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import tensorweb as tw
from tensorweb.dtypes import CATEGORIES
from tensorweb.ops import OPS

Tensor = tw.Tensor
Function = Callable[[Tensor], Tensor]

ROWS = 20
LENGTHS = (3, 33, 65)
"""Of rows: less than a vector, and one more than 32 and 64 threads take."""

DTYPES = ("float32", "int32", "uint32", "bool")

CLOSE = 1e-5
"""What fused and stored may differ by, as a part of the largest element: the order of
a sum."""


def _row_kernel(y: Tensor) -> Tensor:
    return y - tw.max(y, axis=1, keepdims=True)


def _two_stages(y: Tensor) -> Tensor:
    centred = y - tw.max(y, axis=1, keepdims=True)
    return centred * tw.sum(centred, axis=1, keepdims=True)


def _positions(y: Tensor) -> Tensor:
    return tw.arange(ROWS, device=y.device) * 7 % ROWS


KINDS: dict[str, Function] = {
    "row kernel": _row_kernel,
    "row kernel of two stages": _two_stages,
    "sums of rows": lambda y: tw.sum(y, axis=1),
    "largest of rows": lambda y: tw.max(y, axis=1),
    "fractions of the smallest": lambda y: tw.take_along_axis(
        y, tw.argmin(y, axis=1)[:, None], axis=1
    ),
    "running totals of rows": lambda y: tw.cumulative_sum(y, axis=1),
    "sums of columns": lambda y: tw.sum(y, axis=0),
    "sum": tw.sum,
    "running totals of columns": lambda y: tw.cumulative_sum(y, axis=0),
    "running totals": lambda y: tw.cumulative_sum(y.reshape(-1)),
    "product, left": lambda y: y @ _weights(y.shape[1], 7),
    "product, right": lambda y: _weights(6, ROWS) @ y,
    "product with a vector": lambda y: y @ _weights(y.shape[1], 1)[:, 0],
    "sorted rows": lambda y: tw.sort(y, axis=1),
    "sorted": lambda y: tw.sort(y.reshape(-1)),
    "transposed": lambda y: y.T * 2 + _weights(y.shape[1], ROWS),
    "windows": lambda y: tw.sum(tw.sliding_windows(y, 2), axis=-1),
    "side by side": lambda y: tw.concat([y, y * 2], axis=1),
    "with borders": lambda y: y.pad([(1, 0), (2, 1)]),
    "gathered": lambda y: tw.take(y, _positions(y), axis=0),
    "scattered": lambda y: tw.zeros_like(y).at[_positions(y)].set(y),
    "accumulated": lambda y: tw.zeros_like(y).at[_positions(y) % 5].add(y),
    "chosen by a mask": lambda y: y[tw.abs(y[:, 0]) >= 0],
}
"""What reads the operation's result, by the kind of kernel."""


def _weights(*shape: int) -> Tensor:
    count = shape[0] * shape[1]
    return (tw.arange(count, dtype=tw.float32) % 5 - 2).reshape(shape)


@dataclass(frozen=True)
class Operation:
    """One unary operation on one dtype, with the values it is for."""

    name: str
    function: Function
    dtype: str
    domain: tuple[float, float]

    def numbers(self, length: int) -> Tensor:
        """Return stored rows of numbers in the operation's domain, in no order."""
        low, high = self.domain
        count = ROWS * length
        fractions = [(i * 617 % count + 0.37) / count for i in range(count)]
        whole = self.dtype != "float32"
        numbers = [low + (high - low) * fraction for fraction in fractions]
        values = [int(number) for number in numbers] if whole else numbers
        kept = tw.asarray(values, dtype=tw.float32).astype(self.dtype)
        return tw.realize(kept.reshape(ROWS, length))

    def value(self, x: Tensor) -> Tensor:
        """Return the result as float32, which every kind of kernel takes."""
        return self.function(x).astype(tw.float32)


def operations() -> Iterator[Operation]:
    """Yield every unary operation on every dtype it takes, and all casts."""
    for dtype in DTYPES:
        kind = getattr(tw, dtype).kind
        for op in OPS.values():
            if op.kind != "map" or op.arity != 1 or op.name == "cast":
                continue
            if kind in CATEGORIES[op.accepts] and _computes(op.wgsl, kind):
                domain = op.domain[0] if kind == "float" else (0.0, 90.0)
                function = getattr(tw, op.name)
                yield Operation(f"{op.name} {dtype}", function, dtype, domain)
        for other in DTYPES:
            yield Operation(
                f"cast {dtype} {other}",
                lambda x, other=other: x.astype(other),
                dtype,
                (0.0, 90.0),
            )
    yield Operation("many", many, "float32", (-2.0, 2.0))


def _computes(wgsl: object, kind: str) -> bool:
    """Whether a row does something with a kind of dtype itself."""
    assert isinstance(wgsl, dict)
    idle = ("{0}", "true", "false")
    return kind in wgsl or [*wgsl] == ["any"] or wgsl.get("any", "{0}") not in idle


def many(x: Tensor) -> Tensor:
    """Return functions so long that kernels call them in a loop."""
    y = tw.sin(x) * tw.cos(x) + tw.tan(x / 2)
    return y + tw.atan2(y, x + 3) + tw.sin(y)


def together(group: Sequence[Operation]) -> Operation:
    """Return several operations of one dtype as the sum of their results."""
    low, high = group[0].domain

    def function(x: Tensor) -> Tensor:
        total = group[0].value(x)
        for each in group[1:]:
            scale = (each.domain[1] - each.domain[0]) / (high - low)
            start = each.domain[0] - low * scale
            moved = x * scale + start if each.dtype == "float32" else x
            total = total + each.value(moved)
        return total

    names = " + ".join(each.name for each in group)
    return Operation(names, function, group[0].dtype, group[0].domain)


def grouped(size: int) -> list[Operation]:
    """Return all operations in groups of `size`."""
    found = []
    for dtype in DTYPES:
        alike = [each for each in operations() if each.dtype == dtype]
        found += [together(alike[i : i + size]) for i in range(0, len(alike), size)]
    return found


def differences(operation: Operation, phase: int) -> list[str]:
    """Return where an operation inside a kernel differs from its stored values.

    Each kind sees rows of one length, of the next one with the next `phase`, because
    compiling takes the time.
    """
    flags: list[Tensor] = []
    names: list[str] = []
    for number, length in enumerate(LENGTHS):
        x = operation.numbers(length)
        stored = tw.realize(operation.value(x))
        share = slice((number + phase) % len(LENGTHS), None, len(LENGTHS))
        for kind, function in list(KINDS.items())[share]:
            fused = tw.realize(function(operation.value(x)))
            expected = tw.realize(function(stored))
            limit = CLOSE * (1 + tw.max(tw.abs(expected)))
            flags.append(tw.realize(tw.all(tw.abs(fused - expected) <= limit)))
            names.append(f"{operation.name} in {kind}, rows of {length}")
    held = tw.stack(flags).tolist()
    return [name for name, is_right in zip(names, held, strict=True) if not is_right]
