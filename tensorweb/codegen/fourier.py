"""Programs of Fourier transforms of rows in workgroup memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tensorweb.codegen import policy
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import OUTPUT, Program, Target, ceil_divide
from tensorweb.schedule.kernel import Expression, Kernel

POINT_BYTES = 8
"""Workgroup memory of a point: two floats."""


NEXT = (1, 2)
"""Strides of neighbouring elements: 1 for floats, 2 for parts of complex pairs."""

_TERM = ShaderFunction("term", ("row", "position"), "vec2f", "vec2f({0}, {1})")

_ROOT_PART = ShaderFunction("root_part", ("index",), "f32")


def most_points(target: Target) -> int:
    """Return the largest number of points of a workgroup, a power of two.

    >>> most_points(Target(workgroup_bytes=16384))
    2048
    >>> most_points(Target(workgroup_bytes=49152))
    4096
    """
    if target.is_slow_to_compile:
        return policy.FEW_FOURIER_POINTS
    most = min(target.workgroup_bytes // POINT_BYTES, policy.MOST_FOURIER_POINTS)
    return 1 << (most.bit_length() - 1)


@lru_cache(maxsize=1024)
def radices_of(length: int) -> tuple[int, ...] | None:
    """Return the radix of each pass; None if a prime factor is above 7.

    Rows of length 8 take two passes, so that neighbouring threads read and write
    neighbouring elements.

    >>> radices_of(1024), radices_of(210), radices_of(22)
    ((8, 8, 4, 4), (2, 3, 5, 7), None)
    """
    twos = (length & -length).bit_length() - 1
    odd = length >> twos
    passes = ceil_divide(twos, 2 if length == 8 else 3)
    radices = [2 ** (twos // passes + (n < twos % passes)) for n in range(passes)]
    for radix in (3, 5, 7):
        while odd % radix == 0:
            odd //= radix
            radices.append(radix)
    return tuple(radices) if odd == 1 else None


@lru_cache(maxsize=64)
def angles_of(length: int) -> tuple[int, ...]:
    """Return the twiddle angles of all passes, in units of 2 π / `length`.

    Point j of the butterfly with index k inside a pass whose earlier radices multiply
    to `done` uses the root `-angles_of(length)[j * done + k - 1]`: neighbouring threads
    read neighbouring roots.

    >>> angles_of(8), angles_of(7)
    ((0, 0, 0, 0, 1, 2, 3), (0, 0, 0, 0, 0, 0))
    """
    angles: list[int] = []
    done = 1
    for radix in radices_of(length) or ():
        unit = length // (radix * done)
        angles += [j * k * unit for j in range(1, radix) for k in range(done)]
        done *= radix
    return tuple(angles)


@dataclass(frozen=True, slots=True)
class FourierRows:
    """Longest rows that one launch transforms; see `tensorweb.protocol.RowTransformer`.

    Attributes:
        longest: points of the longest row that is contiguous in memory.
        longest_across: points of the longest row whose neighbouring elements in memory
            belong to other rows.
    """

    longest: int
    longest_across: int

    def takes(self, length: int, *, is_across: bool) -> bool:
        """Return whether a row is short enough and has small prime factors only.

        >>> rows = FourierRows(1024, 256)
        >>> rows.takes(1000, is_across=False), rows.takes(1000, is_across=True)
        (True, False)
        """
        longest = self.longest_across if is_across else self.longest
        return length <= longest and radices_of(length) is not None

    def angles(self, length: int) -> tuple[int, ...]:
        """Return `angles_of(length)`: integers, so that the roots are exact."""
        return angles_of(length)


def rows_of(target: Target) -> FourierRows:
    """Return the longest rows that a target transforms in one launch.

    >>> rows_of(Target(workgroup_bytes=32768))
    FourierRows(longest=4096, longest_across=1024)
    """
    most = most_points(target)
    is_software = target.is_software or target.is_slow_to_compile
    return FourierRows(
        most, most if is_software else most // policy.FOURIER_ROWS_ACROSS
    )


def fourier(kernel: Kernel, target: Target) -> Program:
    """Return the program of a Fourier transform over (row, position)."""
    rows, length, inner, is_inverse = kernel.sizes
    term = kernel.expression("term")
    across = _is_across(term), inner > 1
    least = policy.FOURIER_ROWS_ACROSS if any(across) else 1
    group_rows = max(policy.FOURIER_GROUP_POINTS[any(across)] // length, least)
    group_rows = max(min(group_rows, most_points(target) // length, rows), 1)
    points = group_rows * length
    threads = min(ceil_divide(points, policy.FOURIER_POINTS_OF_LANE), target.threads)
    builder = LaunchBuilder(kernel)
    builder.add_sizes(rows=rows, inner=inner, is_inverse=is_inverse)
    builder.add_function(_TERM, term)
    builder.add_function(_ROOT_PART, kernel.expression("root"))
    builder.add_buffer("result", "w", "vec2f", OUTPUT)
    shape = {
        "LENGTH": length,
        "GROUP_ROWS": group_rows,
        "POINTS": ceil_divide(points, policy.FOURIER_BANKS) * policy.FOURIER_BANKS,
        "THREADS": threads,
        "READS_ACROSS": across[0],
        "WRITES_ACROSS": across[1],
    }
    passes = _passes(length, group_rows, threads, across)
    launch = builder.launch(
        "fourier",
        ceil_divide(rows, group_rows),
        {"pass": passes, "call": [{} for _ in passes]},
        shape=constants(shape),
    )
    return Program((launch,))


def _passes(
    length: int, group_rows: int, threads: int, across: tuple[bool, bool]
) -> list[dict[str, str]]:
    """Return the template slots of each pass."""
    radices = radices_of(length)
    assert radices, "internal: a row has small factors"
    passes = []
    done = 1
    for index, radix in enumerate(radices):
        butterflies = group_rows * length // radix
        sizes = {
            f"DONE_{index}": done,
            f"RADIX_{index}": radix,
            f"BUTTERFLIES_{index}": butterflies,
            f"EACH_{index}": ceil_divide(butterflies, threads),
            f"IS_ACROSS_{index}": (index == 0 and across[0])
            or (done * radix == length and across[1]),
        }
        values = ", ".join(f"x_{index}[b][{m}u]" for m in range(radix))
        butterfly = f"radix_{radix}(array<vec2f, {radix}>({values}))"
        lines = f"      var found = {butterfly};\n"
        passes.append({"sizes": constants(sizes), "butterfly": lines})
        done *= radix
    return passes


def _is_across(term: Expression) -> bool:
    """Return whether neighbouring elements in memory belong to neighbouring rows.

    Neighbours are 2 apart where the parts of complex numbers alternate.
    """
    last = [[axes[-1] if axes else 0 for axes in a.strides] for a in term.accesses]
    rows, positions = (
        any(abs(access[group]) in NEXT for access in last) for group in range(2)
    )
    return rows and not positions
