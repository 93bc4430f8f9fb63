"""The rules that keep two operations in different kernels, each with its sentence.

Fusion, kernel builders and merging return the rule by which they decided; the result
of planning has one for every value that a kernel reads and another one has stored.
"""

from __future__ import annotations

from enum import Enum

from tensorweb.schedule import policy

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
