"""A kernel as plain data: expressions over index spaces, hashable and printable.

An `Expression` is a list of steps in the order of computation, over an index space
whose axes form groups. A reduction's prologue has two groups, for example: the
remaining axes and the reduced axes. Inside a group, axes that are contiguous in every
access are merged, so that index arithmetic stays short.

A `Rule` is why two operations have different kernels: fusion, kernel builders and
merging return the rule by which they decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tensorweb.graph.attributes import Custom
from tensorweb.schedule import policy

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


_KEPT = "The program still needs this value, so a kernel stores it; "


class Rule(Enum):
    """Why a value is stored between two kernels, as a sentence for users."""

    # A sum, product or other core and what follows it

    OWN_KERNEL = (
        "A scan, sort, scatter, transform, factorization or own kernel of the program "
        "ends with its result: the kernel computes nothing after it."
    )
    READERS = (
        "Several kernels read this result of a reduction or product, and each would "
        "have to compute all of it."
    )
    SECOND_CORE = (
        "A kernel is built around one reduction, product or sort, and the reader has "
        "its own."
    )
    MOVED_CORE = (
        "A kernel passes the result of a reduction or product on at the same index "
        "only; the reader repeats, transposes, slices or reshapes it."
    )
    LONG_EPILOGUE = (
        f"Operations of more than {policy.LONGEST_EPILOGUE} multiply-adds follow the "
        "product: every thread would hold them for each of its sums."
    )

    # Kernels of rows

    LONG_ROWS = (
        f"One kernel works on rows of at most {policy.LONGEST_ROW} elements, and on "
        f"rows of more than {policy.SHORT_ROW} only if there are at least "
        f"{policy.LEAST_ROWS}."
    )
    FULL_ROW = (
        f"A kernel of rows computes at most {policy.MOST_ROW_REDUCTIONS} reductions."
    )
    ROW_RESULT = (
        "It is computed from several reductions of the same rows, which need a kernel "
        "of these rows."
    )
    OTHER_ROWS = (
        "A kernel of rows knows the results of one row at a time; the reader needs "
        "those of other rows, or has other axes."
    )
    ROW_ADDRESS = (
        "It decides which elements the reader loads, and a kernel of rows loads before "
        "it reduces."
    )

    # Elementwise values: compute them again, or store them

    RECOMPUTED = (
        "Several kernels read it, and computing it in each costs more than storing it "
        f"(limits: {policy.RECOMPUTE_LIMIT} multiply-adds per element, "
        f"{policy.TOTAL_RECOMPUTE_LIMIT} in all readers but one)."
    )
    AFTER_CORE = (
        "Several kernels read it, and it ends the kernel of a reduction or product, "
        "which has to store a result anyway."
    )
    SHIFTED = (
        "The reader needs it at several indices per element, and would compute it for "
        f"each of them (limit: {policy.RECOMPUTE_LIMIT} multiply-adds)."
    )
    OPERAND = (
        "A matrix product loads each element of an operand many times, so that it is "
        f"computed before (limit: {policy.OPERAND_LIMIT} multiply-adds)."
    )
    REPEATED = (
        "The reader uses each element many times, and would compute it each time "
        f"(limits: {policy.REPEAT_LIMIT} multiply-adds, {policy.RECOMPUTE_LIMIT} for a "
        "single number or an index)."
    )
    LONG_SCAN = (
        f"A scan reads rows of more than {policy.LONGEST_SCAN} elements twice, and "
        f"would compute them twice (limit: {policy.RECOMPUTE_LIMIT} multiply-adds)."
    )
    LONG_SORT = (
        f"A sort of more than {policy.SHORT_SORT} elements reads them in several "
        "launches, which might round computed elements differently."
    )
    LONG_CHAIN = (
        "Shader compilers slow down with a kernel's length, so that a chain of more "
        f"than {policy.LONGEST_CHAIN} operations is cut."
    )

    # What a kernel can read

    GATHERED = "Indexing by a tensor loads from computed addresses, of a buffer."
    SCAN_COPY = "A scan reads along rows, so that its input is transposed before."
    OWN_INPUT = "An own kernel of the program reads its inputs from buffers."
    RESHAPED = "The reader sees it through a reshape that strides cannot express."
    BINDINGS = (
        "The reader would bind more buffers than the device allows, or more than "
        f"{policy.MOST_SCALARS} constants."
    )

    # Values that are stored anyway: why the kernels are not merged

    KEPT_CORE = (
        f"{_KEPT}one of the two kernels is built around a reduction, product or sort, "
        "and such a kernel stores only its own result."
    )
    KEPT_SHAPE = f"{_KEPT}only kernels with results of one shape are merged."
    KEPT_MOVED = f"{_KEPT}the reader needs elements of other indices than its own."
    KEPT_ACROSS = (
        f"{_KEPT}one of the two reads a transposed value through tiles, and such a "
        "kernel stores one result."
    )
    KEPT_BETWEEN = f"{_KEPT}a third kernel must run between the two."
    KEPT_FULL = (
        f"{_KEPT}one kernel for both would bind too many buffers or constants, or "
        f"compute more than {policy.MOST_STEPS} values per element."
    )
    KEPT_OTHER = (
        f"{_KEPT}the reader is merged with the kernel with which it shares most, of "
        f"the {policy.NEWEST_GROUPS} newest."
    )

    # Without a decision of fusion

    LAUNCHES = (
        "Both are parts of one kernel, and what one computes for all others is known "
        "only after its launch."
    )
    FLUSHED = (
        "The first one was submitted before the program built the second: a value was "
        "read or realized, a step ended, or the graph became too deep."
    )
