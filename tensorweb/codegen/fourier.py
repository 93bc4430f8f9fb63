"""Programs of Fourier transforms: workgroups transform rows in their memory."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.expression import Declarations, Signature, function
from tensorweb.codegen.launches import input_storages, launch
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.schedule.kernel import Expression, Kernel

POINT_BYTES = 16
"""Workgroup memory of a point: two floats, read in one place and written in another."""

MOST_POINTS = 2048
"""Points that a workgroup has in its memory at most."""

FEW_POINTS = 128
"""The same where a compiler takes long for each word of that memory."""

POINTS_OF_THREAD = 8
"""Points of each of its threads."""

NEXT = (1, 2)
"""How far neighbours are apart: numbers, or parts of pairs."""

TERM = Signature("term", ("row", "position"), "vec2f", "vec2f({0}, {1})")

ROOT_PART = Signature("root_part", ("index",), "f32")


def longest_row(target: Target) -> int:
    """Return how many points a row has at most, a power of two.

    >>> longest_row(Target(workgroup_bytes=16384))
    1024
    >>> longest_row(Target(workgroup_bytes=49152))
    2048
    """
    if target.is_slow_to_compile:
        return FEW_POINTS
    most = min(target.workgroup_bytes // POINT_BYTES, MOST_POINTS)
    return 1 << (most.bit_length() - 1)


def radices_of(length: int) -> list[int] | None:
    """Return the radix of each pass; None for a length with another prime factor.

    >>> radices_of(1024), radices_of(210), radices_of(22)
    ([8, 8, 4, 4], [2, 3, 5, 7], None)
    """
    found = []
    twos = 0
    while length % 2 == 0:
        length //= 2
        twos += 1
    while twos > 4 or twos == 3:
        found.append(8)
        twos -= 3
    found += [[], [2], [4], [], [4, 4]][twos]
    for radix in (3, 5, 7):
        while length % radix == 0:
            length //= radix
            found.append(radix)
    return found if length == 1 else None


@dataclass(frozen=True, slots=True)
class FourierRows:
    """Which rows one launch transforms; see `tensorweb.protocol.RowTransformer`.

    Attributes:
        longest: points of the longest row.
        reads_roots: yes, so that they are exact.
    """

    longest: int
    reads_roots: bool = True

    def takes(self, length: int) -> bool:
        """Whether a row is short, and made of small factors.

        >>> FourierRows(1024).takes(1000), FourierRows(1024).takes(2000)
        (True, False)
        """
        return length <= self.longest and radices_of(length) is not None


def fourier(kernel: Kernel, target: Target) -> Program:
    """Return the program of a kernel over (row, position)."""
    rows, length, inner, is_inverse = kernel.sizes
    term, root = kernel.expression("term"), kernel.expression("root")
    radices = radices_of(length)
    points = longest_row(target)
    assert radices, "internal: a row has small factors"
    together = min(points // length, rows)
    has_odd = any(radix % 2 for radix in radices)
    if not has_odd:
        together = 1 << (together.bit_length() - 1)
    declarations = Declarations(kernel.scalar_dtypes)
    for name, word in (
        ("rows", rows),
        ("length", length),
        ("inner", inner),
        ("together", together),
        ("radices", sum(radix << 4 * place for place, radix in enumerate(radices))),
        ("reads_across", int(_is_across(term))),
        ("is_inverse", is_inverse),
    ):
        declarations.parameter(name, "u32", word)
    text = function(declarations, TERM, term, kernel.input_dtypes)
    text += function(declarations, ROOT_PART, root, kernel.input_dtypes)
    storages, places = input_storages(kernel, [term, root])
    storages.append(("result", "w", "vec2f"))
    places.append(OUTPUT)
    threads = min(points // POINTS_OF_THREAD, target.threads)
    shape = (
        f"const POINTS: u32 = {points}u;\nconst THREADS: u32 = {threads}u;\n"
        f"const HAS_ODD: bool = {str(has_odd).lower()};\n"
    )
    groups = -(-rows // together)
    return Program(
        (launch("fourier", declarations, storages, places, text, groups, shape=shape),)
    )


def _is_across(term: Expression) -> bool:
    """Whether neighbours in storage are in neighbouring rows, not in one row.

    Where parts of complex numbers alternate, neighbours are two apart.
    """
    last = [[axes[-1] if axes else 0 for axes in a.strides] for a in term.accesses]
    rows, positions = (
        any(abs(access[place]) in NEXT for access in last) for place in range(2)
    )
    return rows and not positions
