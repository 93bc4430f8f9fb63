"""Limits and sizes that decide how operations become nodes, each with its reason."""

LARGEST_FIXED_POWER = 64
"""Largest integer exponent of a complex power that is a chain of products."""

SCAN_TRANSPOSE_ELEMENTS = 1 << 16
"""Least count of elements for which a scan along a strided axis copies its operand with
that axis last: 0.16 ms instead of 0.34 for 4096 by 4096 (H200)."""

SCAN_TRANSPOSE_LENGTH = 256
"""Least length of the axis for this copy: 16 by 2**20 took 0.21 ms with it and 0.12
without (H200)."""

LARGEST_COMPARED = 64
"""Largest count of sorted elements that `searchsorted` compares with each value."""

SEARCH_PARTS = 16
"""Count of parts that one step of a longer `searchsorted` distinguishes."""

TOP_K_BLOCK = 256
"""Least length of the blocks of a row of which `top_k` finds the best: 1024 by 65,536
took 1.4 ms for k of 10, 2.3 with blocks of 2048 and 4.3 undivided (H200)."""

TOP_K_SHARE = 8
"""A block has at least this many times k elements, and a divided row as many times a
block's: 16 by 2**20 took 0.54 ms for k of 64,
0.68 with blocks of 2048 and 1.2 undivided (H200)."""

LONGEST_BLOCK = 2048
"""Longest block, the longest row that one workgroup sorts; for a larger k the whole row
is sorted."""

LARGEST_HOST_RANGE = 1 << 18
"""Largest count of evenly spaced values computed on the host, in a few 10 ms."""

RANGE_BLOCK = 32
"""Values of a longer range that share a base computed on the host."""

DEEPEST_INTERVAL = 64
"""Largest depth of the analysis of integer ranges; deeper nodes have the limits of
their dtype."""

LARGEST_INSPECTED = 1 << 16
"""Largest count of host elements that are read for their minimum and maximum."""

LARGEST_CONCAT = 6
"""Largest count of inputs of a concat node; more inputs are concatenated in groups,
since kernels can bind a limited count of storages."""

TRIANGLE_BLOCK = 64
"""Largest length of a triangular block that one kernel solves."""

LARGEST_LU = 128
"""Largest length of matrices whose LU or Cholesky factors one kernel computes."""

LARGEST_QR = 64
"""Largest length of matrices whose QR factors one kernel computes."""

EIGH_BLOCK = 32
"""Largest length of blocks of a symmetric matrix; a pair of them fits 16 KiB."""

EIGH_PAIR_SWEEPS = 2
"""Sweeps of Jacobi's method in a pair of blocks. Random matrices of 256 rows take 5
sweeps over all pairs then, and 7 with one sweep in a pair."""

EIGH_SWEEPS = 8
"""Sweeps over all pairs of blocks, and one more for each doubling of the blocks; twice
as many for float64. Random matrices of 256 rows take 5, values that are 64-fold 10."""

PANEL = 64
"""Largest count of columns that one kernel of a recursive LU or QR factors."""

TALL_ROWS = 2048
"""Least count of rows of a matrix whose QR is computed by blocks of rows."""

TALL_BLOCK_ROWS = 512
"""Least count of rows of such a block, which has at least four rows per column."""

LARGEST_FACTOR = 32
"""Largest composite factor of a Fourier transform, in points of one matrix product."""

LARGEST_PRIME = 127
"""Largest prime factor of one matrix product; larger primes use chirps."""

LARGEST_ROOT_TABLE = 1 << 15
"""Largest count of roots of unity in one table; more are products of tables."""

ROOT_TABLE_LOW = 1 << 10
"""Length of the table of low digits where roots are products of two tables."""

LARGEST_CIRCLE = 1 << 16
"""Largest order of roots of unity that are all computed and cached at once."""

MOST_ROOT_TABLES = 64
"""Largest count of cached tables of a device."""

MOST_ROOTS = 1 << 22
"""Largest total count of elements in cached tables; one table may exceed it alone."""
