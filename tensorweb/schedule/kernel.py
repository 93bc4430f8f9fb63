"""A kernel as plain data: expressions over index spaces, hashable and printable.

An `Expression` is a list of steps in the order of computation, over an index space
whose axes are gathered in groups. A reduction's prologue has two groups, for example:
the axes it keeps and the axes it sums over. Inside a group, axes that every access
walks through evenly are merged, so that index arithmetic stays short.
"""

from __future__ import annotations

from dataclasses import dataclass

AFTER_CORE = ("finish",)
"""Names of the expressions that follow a kernel's core."""


@dataclass(frozen=True, slots=True)
class Access:
    """How one load or ramp moves through storage: offset and strides per group."""

    offset: int
    strides: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One value inside an expression.

    Attributes:
        kind: `load` (an input at an access), `gather` (an input at a computed
            position), `ramp` (the storage position of an access itself), `scalar`
            (a constant of the launch), `core` (what the kernel reduced or
            contracted), `map` (an op row) or `cast`.
        dtype: name of the value's dtype.
        name: the op's name for `map`.
        slot: the input of `load` and `gather`, the scalar of `scalar`, the reduction of
            `core` in a kernel of rows.
        access: the access of `load` and `ramp`.
        args: the steps it reads.
        guard: a bool step that says whether the load is inside its tensor, or -1.
        in_lines: of a `gather`: its positions are multiples of four plus the ramp of
            their last axis, in a storage of whole vectors of four.
    """

    kind: str
    dtype: str
    name: str = ""
    slot: int = -1
    access: int = -1
    args: tuple[int, ...] = ()
    guard: int = -1
    in_lines: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """Steps over an index space; the last word is the step `result`."""

    groups: tuple[tuple[int, ...], ...]
    accesses: tuple[Access, ...]
    steps: tuple[Step, ...]
    result: int

    @property
    def dtype(self) -> str:
        """Name of the result's dtype."""
        return self.steps[self.result].dtype

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the elementwise operations, in order."""
        return tuple(
            step.name or step.kind
            for step in self.steps
            if step.kind in ("map", "cast", "gather")
        )


@dataclass(frozen=True, slots=True)
class Kernel:
    """One output and how it is computed.

    Attributes:
        kind: the family, a row of `BUILDERS` in `plan.py`.
        op: the core's op name, `""` for elementwise kernels; for rows the names of all
            reductions with commas between.
        sizes: the family's lengths: elementwise (n,), rows (rows, length),
            reduce (outputs, length),
            matmul (batch, m, n, k), scan (rows, length), sort (rows, length, 1 for
            descending), scatter (elements, writes), accumulate (rows, writes, width of
            a row), compress (length,).
        expressions: the family's expressions by name, for example `term`, `finish`.
        input_dtypes: dtypes of the input buffers, by slot.
        scalar_dtypes: dtypes of the launch's constants, by slot.
        core_dtype: dtype of the core's value, `""` for elementwise kernels.
        dtype: dtype of the output.
    """

    kind: str
    op: str
    sizes: tuple[int, ...]
    expressions: tuple[tuple[str, Expression], ...]
    input_dtypes: tuple[str, ...]
    scalar_dtypes: tuple[str, ...]
    core_dtype: str
    dtype: str

    def expression(self, name: str) -> Expression:
        """Return an expression by its name."""
        return dict(self.expressions)[name]

    @property
    def words(self) -> str:
        """The kernel in words, for people.

        For example `reduce multiply, sum (5, 4096)`.
        """
        if self.kind == "rows":
            work = ", ".join(self.expressions[-1][1].operations)
            return f"rows {self.op.replace(',', ', ')} → {work} {list(self.sizes)}"
        before = [e for name, e in self.expressions if name not in AFTER_CORE]
        after = [e for name, e in self.expressions if name in AFTER_CORE]
        names = [", ".join(e.operations) for e in before]
        names += [self.op, *(", ".join(e.operations) for e in after)]
        chain = " → ".join(name for name in names if name) or "copy"
        return f"{self.kind} {chain} {list(self.sizes)}"


@dataclass(frozen=True, slots=True)
class Planned:
    """A kernel and where it stands in the graph, nodes named by their number.

    Attributes:
        kernel: what to run.
        output: number of the node whose storage it fills.
        inputs: numbers of the nodes whose storages it reads.
        scalars: numbers of the constant nodes whose values it takes.
    """

    kernel: Kernel
    output: int
    inputs: tuple[int, ...]
    scalars: tuple[int, ...]
