"""Programs of Fourier transforms: workgroups transform rows in their memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tensorweb.codegen.expression import Declarations, Signature, function
from tensorweb.codegen.launches import constants, input_storages, repeated_launch
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.schedule.kernel import Expression, Kernel

POINT_BYTES = 8
"""Workgroup memory of a point: two floats."""

MOST_POINTS = 4096
"""Points that a workgroup has in its memory at most."""

FEW_POINTS = 128
"""The same where a compiler takes long for each word of that memory."""

GROUP_POINTS = (1024, 2048)
"""Points of a workgroup where rows are shorter: where a row's points are neighbours in
storage, and where neighbours are in other rows, many of which are read side by side."""

SIDE_BY_SIDE = 4
"""Rows of a workgroup at least in the second case: as long as a sector of memory."""

POINTS_OF_THREAD = 8
"""Points of a thread, where a workgroup may have so many."""

BANKS = 16
"""Workgroup memory has a multiple of so many points, which change places."""

NEXT = (1, 2)
"""How far neighbours are apart: numbers, or parts of pairs."""

TERM = Signature("term", ("row", "position"), "vec2f", "vec2f({0}, {1})")

ROOT_PART = Signature("root_part", ("index",), "f32")


def most_points(target: Target) -> int:
    """Return how many points a workgroup has at most, a power of two.

    >>> most_points(Target(workgroup_bytes=16384))
    2048
    >>> most_points(Target(workgroup_bytes=49152))
    4096
    """
    if target.is_slow_to_compile:
        return FEW_POINTS
    most = min(target.workgroup_bytes // POINT_BYTES, MOST_POINTS)
    return 1 << (most.bit_length() - 1)


@lru_cache(maxsize=1024)
def radices_of(length: int) -> tuple[int, ...] | None:
    """Return the radix of each pass; None for a length with another prime factor.

    Rows of 8 take two passes, so that threads which are neighbours read and write
    neighbours.

    >>> radices_of(1024), radices_of(210), radices_of(22)
    ((8, 8, 4, 4), (2, 3, 5, 7), None)
    """
    twos = (length & -length).bit_length() - 1
    rest = length >> twos
    passes = -(-twos // (2 if length == 8 else 3))
    found = [2 ** (twos // passes + (n < twos % passes)) for n in range(passes)]
    for radix in (3, 5, 7):
        while rest % radix == 0:
            rest //= radix
            found.append(radix)
    return tuple(found) if rest == 1 else None


@lru_cache(maxsize=64)
def angles_of(length: int) -> tuple[int, ...]:
    """Return what each pass turns its points by, in fractions of a turn by the length.

    Point j of a butterfly, whose place in what is done already is k, has the root of
    `-angles_of(length)[j * done + k - 1]`: threads beside each other read neighbours.

    >>> angles_of(8), angles_of(7)
    ((0, 0, 0, 0, 1, 2, 3), (0, 0, 0, 0, 0, 0))
    """
    found = []
    done = 1
    for radix in radices_of(length) or ():
        turn = length // (radix * done)
        found += [j * k * turn for j in range(1, radix) for k in range(done)]
        done *= radix
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FourierRows:
    """Which rows one launch transforms; see `tensorweb.protocol.RowTransformer`.

    Attributes:
        longest: points of the longest row.
        longest_across: the same where neighbours in memory are in other rows.
    """

    longest: int
    longest_across: int

    def takes(self, length: int, *, is_across: bool) -> bool:
        """Whether a row is short, and made of small factors.

        >>> rows = FourierRows(1024, 256)
        >>> rows.takes(1000, is_across=False), rows.takes(1000, is_across=True)
        (True, False)
        """
        longest = self.longest_across if is_across else self.longest
        return length <= longest and radices_of(length) is not None

    def angles(self, length: int) -> tuple[int, ...]:
        """Return `angles_of` the length, so that roots are exact."""
        return angles_of(length)


def rows_of(target: Target) -> FourierRows:
    """Return which rows a device transforms.

    >>> rows_of(Target(workgroup_bytes=32768))
    FourierRows(longest=4096, longest_across=1024)
    """
    most = most_points(target)
    is_software = target.is_software or target.is_slow_to_compile
    return FourierRows(most, most if is_software else most // SIDE_BY_SIDE)


def fourier(kernel: Kernel, target: Target) -> Program:
    """Return the program of a kernel over (row, position)."""
    rows, length, inner, is_inverse = kernel.sizes
    term, root = kernel.expression("term"), kernel.expression("root")
    across = _is_across(term), inner > 1
    wanted = max(
        GROUP_POINTS[any(across)] // length, SIDE_BY_SIDE if any(across) else 1
    )
    together = max(min(wanted, most_points(target) // length, rows), 1)
    points = together * length
    threads = min(-(-points // POINTS_OF_THREAD), target.threads)
    declarations = Declarations(kernel.scalar_dtypes)
    for name, word in (("rows", rows), ("inner", inner), ("is_inverse", is_inverse)):
        declarations.parameter(name, "u32", word)
    text = function(declarations, TERM, term, kernel.input_dtypes)
    text += function(declarations, ROOT_PART, root, kernel.input_dtypes)
    storages, places = input_storages(kernel, [term, root])
    storages.append(("result", "w", "vec2f"))
    places.append(OUTPUT)
    shape = {
        "LENGTH": length,
        "TOGETHER": together,
        "POINTS": -(-points // BANKS) * BANKS,
        "THREADS": threads,
        "READS_ACROSS": across[0],
        "WRITES_ACROSS": across[1],
    }
    passes = _passes(length, together, threads, across)
    launched = repeated_launch(
        "fourier",
        declarations,
        storages,
        places,
        text,
        -(-rows // together),
        {"shape": constants(shape)},
        {"pass": passes, "call": [{} for _ in passes]},
    )
    return Program((launched,))


def _passes(
    length: int, together: int, threads: int, across: tuple[bool, bool]
) -> list[dict[str, str]]:
    """Return the slots of each pass; the first reads, the last writes."""
    radices = radices_of(length)
    assert radices, "internal: a row has small factors"
    found = []
    done = 1
    for number, radix in enumerate(radices):
        butterflies = together * length // radix
        sizes = {
            "DONE": done,
            "RADIX": radix,
            "BUTTERFLIES": butterflies,
            "EACH": -(-butterflies // threads),
            "IS_ACROSS": (number == 0 and across[0])
            or (done * radix == length and across[1]),
        }
        numbered = {f"{name}_{number}": value for name, value in sizes.items()}
        values = ", ".join(f"x_{number}[b][{m}u]" for m in range(radix))
        found.append(
            {
                "sizes": constants(numbered),
                "found": f"      var found = radix_{radix}("
                f"array<vec2f, {radix}>({values}));\n",
            }
        )
        done *= radix
    return found


def _is_across(term: Expression) -> bool:
    """Whether neighbours in storage are in neighbouring rows, not in one row.

    Where parts of complex numbers alternate, neighbours are two apart.
    """
    last = [[axes[-1] if axes else 0 for axes in a.strides] for a in term.accesses]
    rows, positions = (
        any(abs(access[place]) in NEXT for access in last) for place in range(2)
    )
    return rows and not positions
