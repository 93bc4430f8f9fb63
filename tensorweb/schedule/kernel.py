"""A kernel as plain data: expressions over index spaces, hashable and printable.

An `Expression` is a list of steps in the order of computation, over an index space
whose axes form groups. A reduction's prologue has two groups, for example: the
remaining axes and the reduced axes. Inside a group, axes that are contiguous in every
access are merged, so that index arithmetic stays short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tensorweb.graph.attributes import Custom
from tensorweb.schedule.rules import Rule

MOST_LISTED = 48
"""Most operations that a kernel's description lists one by one."""

AFTER_CORE = ("finish",)
"""Names of the expressions that follow a kernel's core."""

BY_ELEMENT, BY_ROW = "finish", "row"
"""Names of a row kernel's results: one value per element, or one per row."""


def result_name(kind: str, number: int) -> str:
    """Return the name of the expression of a row kernel's result.

    >>> result_name(BY_ELEMENT, 0), result_name(BY_ROW, 1)
    ('finish', 'row1')
    """
    return f"{kind}{number or ''}"


def result_kind(name: str) -> str:
    """Return the kind of a row kernel's result, `""` for the term of a reduction.

    >>> result_kind("row1"), result_kind("stage1")
    ('row', '')
    """
    kind = name.rstrip("0123456789")
    return kind if kind in (BY_ELEMENT, BY_ROW) else ""


@dataclass(frozen=True, slots=True)
class Access:
    """Addressing of one load or ramp: offset, and strides per group."""

    offset: int
    strides: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One value inside an expression.

    Attributes:
        kind: `load` (an input at an access), `gather` (an input at a computed
            offset), `ramp` (the offset of an access itself), `scalar` (a constant of
            the launch), `core` (the kernel's reduced or contracted value), `map` (an
            elementwise op) or `cast`.
        dtype: name of the value's dtype.
        name: the op's name for `map`.
        slot: the input of `load` and `gather`, the scalar of `scalar`, the reduction of
            `core` in a row kernel.
        access: the access of `load` and `ramp`.
        args: indices of the steps that it reads.
        guard: index of a bool step, whether the load is in bounds, or -1.
        is_whole: for `gather`: the storage's length is a multiple of four.
        in_lines: for `gather`: offsets are multiples of four plus the ramp of the last
            axis, in a storage whose length is a multiple of four.
    """

    kind: str
    dtype: str
    name: str = ""
    slot: int = -1
    access: int = -1
    args: tuple[int, ...] = ()
    guard: int = -1
    in_lines: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """Steps over an index space.

    Attributes:
        groups: lengths of the axes.
        accesses: addressing of loads and ramps.
        steps: in the order of computation.
        result: the step of the first result.
        more: steps of further results, in the order of the kernel's outputs.
        nodes: the node of the graph that each step computes or loads, -1 for none; no
            part of what is compiled.
    """

    groups: tuple[tuple[int, ...], ...]
    accesses: tuple[Access, ...]
    steps: tuple[Step, ...]
    result: int
    more: tuple[int, ...] = ()
    nodes: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def results(self) -> tuple[int, ...]:
        """The steps of all results."""
        return (self.result, *self.more)

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


Parts = tuple[str, tuple[int, ...], dict[str, Expression]]
"""Kind, sizes and expressions of a kernel."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: the expressions that compute its outputs over one index space.

    Attributes:
        kind: the kind of kernel, an entry of `BUILDERS` in `kernel_builder.py`.
        op: the core's op name, `""` for elementwise kernels; for row kernels the names
            of all reductions, separated by commas.
        sizes: the family's lengths: elementwise (n,), rows (rows, length),
            reduce (outputs, length),
            matmul (batch, m, n, k), scan (rows, length), sort (rows, length, 1 for
            descending), scatter (elements, writes), accumulate (rows, writes, width of
            a row), compress (length,), fourier (rows, length, rows side by
            side, 1 for backwards), factor (matrices, rows, columns, columns of a
            second operand or of a complete Q, 1 for an upper triangle, 1 for ones on
            its diagonal, 1 for reflections as they are), custom (indices of the outputs
            that it stores).
        expressions: the family's expressions by name, for example `term`, `finish`.
        input_dtypes: dtypes of the input buffers, by slot.
        scalar_dtypes: dtypes of the launch's constants, by slot.
        core_dtype: dtype of the core's value, `""` for elementwise kernels.
        dtypes: dtypes of the outputs, in order; most kernels have one.
        custom: the description of a program's own kernel.
    """

    kind: str
    op: str
    sizes: tuple[int, ...]
    expressions: tuple[tuple[str, Expression], ...]
    input_dtypes: tuple[str, ...]
    scalar_dtypes: tuple[str, ...]
    core_dtype: str
    dtypes: tuple[str, ...]
    custom: Custom | None = None

    @property
    def dtype(self) -> str:
        """Dtype of the first output."""
        return self.dtypes[0]

    def expression(self, name: str) -> Expression:
        """Return an expression by its name."""
        return dict(self.expressions)[name]

    @property
    def words(self) -> str:
        """A description of the kernel for users.

        For example `reduce multiply, sum (5, 4096)`.
        """
        if self.kind == "rows":
            work = ", ".join(self.expressions[-1][1].operations)
            return f"rows {self.op.replace(',', ', ')} → {work} {list(self.sizes)}"
        if self.custom is not None:
            shapes = [list(each.shape) for each in self.custom.outputs]
            return f"{self.kind} {self.op} → {', '.join(map(str, shapes))}"
        before = [e for name, e in self.expressions if name not in AFTER_CORE]
        after = [e for name, e in self.expressions if name in AFTER_CORE]
        names = [_listed(e.operations) for e in before]
        names += [self.op, *(_listed(e.operations) for e in after)]
        chain = " → ".join(name for name in names if name) or "copy"
        return f"{self.kind} {chain} {list(self.sizes)}"


def _listed(operations: Sequence[str]) -> str:
    """Return a comma-separated list of operations, abbreviated in the middle.

    >>> _listed(["add", "exp"])
    'add, exp'
    >>> _listed(["add"] * 60 + ["exp"]).endswith("add, … 61 operations …, add, exp")
    True
    """
    if len(operations) > MOST_LISTED:
        count = f"… {len(operations)} operations …"
        operations = [*operations[: MOST_LISTED // 2], count, *operations[-2:]]
    return ", ".join(operations)


@dataclass(frozen=True, slots=True)
class Planned:
    """A kernel and the graph nodes that it reads and writes.

    Attributes:
        kernel: the kernel to run.
        outputs: indices of the nodes whose storages it writes, in order.
        inputs: indices of the nodes whose storages it reads.
        scalars: indices of the constant nodes passed to it.
        rules: why each input is stored; None for one that is stored before.
    """

    kernel: Kernel
    outputs: tuple[int, ...]
    inputs: tuple[int, ...]
    scalars: tuple[int, ...]
    rules: tuple[Rule | None, ...] = ()
