"""The engine that runs modules, and the numbers that decide how they are generated.

A constant whose value was measured by itself names the engine and the processor; the
other ones are sizes of caches, registers and threads. The times of tiles are a table in
`product/sizes.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WasmTarget:
    """An engine that runs modules.

    Attributes:
        shared: whether the memory is shared, as modules must declare it: it is where
            the page is cross-origin isolated, so that threads can work on it.
        relaxed: whether the engine has relaxed SIMD, of which products use the fused
            multiply-add.

    >>> WasmTarget(shared=False, relaxed=True).relaxed
    True
    """

    shared: bool
    relaxed: bool


# Work units and slices

# Elements of a work unit: enough to amortise the cost of starting one.
UNIT_ELEMENTS = 1 << 14

# Work of a slice, in simple operations on one element: a few milliseconds.
SLICE_WORK = 1 << 21

# Most operations of a loop body with interleaved values.
MOST_INTERLEAVED_WORK = 64


# Elementwise kernels

# Rows and columns of a unit if an input is transposed: eight input rows stay in the
# cache even if all map to one cache set. A transpose of 2048² takes a fourteenth of its
# time by rows (Chromium, November 2026).
TRANSPOSED_ROWS, TRANSPOSED_COLUMNS = 256, 8


# Kernels of rows, and scatters

# Least cost of a step that is stored in the output's row instead of recomputed.
LEAST_STORED_WORK = 8

# Approximate cost of a random access, in simple operations.
RANDOM_ACCESS_WORK = 16


# Reductions

# Elements of a reduction from which it is split if it has few outputs.
LONG_REDUCTION = 1 << 17

# Elements of a part of a reduction that is split.
PART_ELEMENTS = 1 << 16

# Number of partial results of columns from which they are combined in parts again.
MANY_RECORDS = 1 << 20

# Elements above which a reduction is split for any number of outputs.
LONGEST_PART = 1 << 20

# Outputs that are too few to divide among threads.
FEW_OUTPUTS = 16

# Vectors of neighbouring outputs whose accumulators fit in registers.
MOST_VECTORS = 8

# Outputs from which adjacent vectors fill entire cache lines.
WIDE_OUTPUTS = 128

# Least number of terms of a part with many outputs.
LEAST_TERMS = 16

# Floats of an output that are added before their sum is added to the total.
MOST_TERMS = 256

# The same limit for partial results, of which an output has fewer.
MOST_RECORD_TERMS = 16

# Largest number of operations of all epilogues that are unrolled together.
MOST_EPILOGUE_WORK = 48

# Distance in bytes from which neighbours share no cache line.
CACHE_LINE = 64

# Largest number of operations of a loop body with several elements or vectors.
MOST_BODY_WORK = 32

# Least terms of an output between two additions of its accumulators to the total.
SHORTEST_RUN = 16

# Most neighbouring outputs of a unit.
WIDEST = 1024

# Floats that an accumulator adds before its sum is added to the total.
LONGEST_RUN = 64

# Largest number of accumulators: enough to hide the latency of an addition.
MOST_ACCUMULATORS = 8

# Largest number of operations in a loop body with several accumulators.
MOST_UNROLLED_WORK = 24

# Operations of a value from which several values are interleaved instead.
LEAST_INTERLEAVED_WORK = 10

# Elements of a block: few to search again, many per comparison with the best.
SEARCH_BLOCK = 512


# Scans

# Least number of elements of a unit of a scan.
SCAN_BLOCK = 1 << 14

# Most blocks of a row; each sums the totals of all preceding blocks.
MOST_SCAN_BLOCKS = 128

# Rows that are enough for all threads without cutting them.
MANY_SCAN_ROWS = 32

# Elements of the longest row that is one unit: about a millisecond.
LONGEST_SCAN_ROW = 1 << 20

# Elements of a unit of a row that must be combined in order.
ORDERED_SEGMENT = 1 << 16


# Sorts

# Approximate number of elements of a unit that ranks rows; its rows reuse one scratch.
RANK_UNIT = 1 << 14

# Elements of the longest row whose elements are all compared with each other, by their
# bytes: a longer row is sorted faster by its digits (Chromium, EPYC).
LONGEST_RANKED = {1: 96, 2: 160, 4: 280, 8: 224}

# Elements of the longest row that one unit sorts: a millisecond or two.
LONGEST_SORTED_ROW = 1 << 17

# Rows that are enough for all threads without cutting them.
MANY_SORTED_ROWS = 16

# The same limit if there are at least `MANY_SORTED_ROWS`.
LONGEST_OF_MANY_ROWS = 1 << 19

# Approximate number of elements of a unit that sorts rows by digits.
RADIX_UNIT = 1 << 15

# Least number of elements of a block of a row that several units sort.
SORT_BLOCK = 1 << 16

# Most blocks of a sorted row, each of which sums the counts of all.
MOST_SORT_BLOCKS = 64


# Products

# The longest part of the depth: a panel of its columns stays in the smallest cache.
DEPTH_PART = 512

# Rows of a unit with several panels, which read them again and again from a cache.
MOST_UNIT_ROWS = 256

# Units that a product should have, so that threads share the work evenly.
LEAST_UNITS = 64

# Products of numbers that a unit should have, so that beginning one costs little.
LEAST_UNIT = 1 << 17

# Products of numbers of the largest unit, a millisecond.
MOST_UNIT = 1 << 24

# Depths that take as long as the work per sum: loads, stores and loops.
WORK_PER_SUM = 16

# Rows up to which a right operand of any size is read in place.
THIN_ROWS = 8

# The longest part of the depth for thin operands: its rows are read interleaved.
THIN_DEPTH = 32

# The least columns of a unit for thin operands.
THIN_COLUMNS = 256

# Bytes of a matrix that stays in the smallest cache with any strides.
SMALL_MATRIX = 1 << 14

# Rows that a unit has all of, so that the right operand is read once.
FEW_ROWS = 96

# Products of a slice, in vectors of four.
PRODUCT_SLICE = 1 << 23

# Numbers by which rows of a long power of two are moved apart, so that they map to
# different cache sets.
ROW_PADDING = 16

# Numbers of a row from which that padding is added.
LONG_ROW = 128

# Time of computing a number into a scratch storage, in products of vectors.
PACKING_TIME = 2.0

# Time of storing a result whose neighbours were not computed together.
TRANSPOSING_TIME = 5.0

# Bytes of right operands that are packed at a time, if one alone takes no more.
MOST_PACKED = 8 << 20

# Most numbers of a run, along the axis on which a unit that packs advances.
PACKED_RUN = 512

# Limit of a run whose elements are stored in different rows: these stay in a cache.
STRIDED_RUN = 64

# Approximate count of numbers of a unit that packs.
PACKING_UNIT = 1 << 14

# Depths that are unrolled in the innermost loop.
UNROLLED_DEPTHS = 4
