"""The limits that decide kernels: what is fused, stored, merged, split and re-rolled.

How they were measured: 128 graphs (the workloads of `bench`, training steps, stencils,
recurrent networks, norms, sorts, unrolled loops) were planned with a limit divided and
multiplied by four, for a device that binds 8 inputs and for one that binds 62. "Lower"
and "higher" say what happened to kernels and to the bytes they move. Figures of
compilation are of SwiftShader. `tests/schedule` has a test of each purpose.
"""

# Recompute or store. Costs are in multiply-adds per element; a load costs LOAD_COST.

# A value that several kernels read, or that one reads through several movements, is
# stored above this cost. Lower: a step of Life moves 5.5 times the bytes, Gray-Scott
# twice. Higher: the heat equation and shared subexpressions take 5 times the
# operations, for half of the bytes.
RECOMPUTE_LIMIT = 32

# A cheaper value is stored as well if recomputing it in all but one of the kernels that
# read it costs more than this: the sum of two embeddings in many kernels of a
# transformer's layer. Lower: two readers of a cheap sum store it, one kernel more.
# Higher: every reader loads both operands.
TOTAL_RECOMPUTE_LIMIT = 64

# A value that one kernel would recompute for many of its elements is stored above this
# cost. Lower: a chain of softmaxes takes 2.3 times the kernels and bytes, a sort of
# `x + 1` two kernels. Higher: indices of a gather take 5 times the operations.
REPEAT_LIMIT = 12

# The same limit for operands of a matrix product, whose elements every tile recomputes:
# a load and a cheap operation.
OPERAND_LIMIT = 8

# A scan reads rows longer than this twice, so that costly elements are stored first.
# Lower: shorter rows are stored for nothing. Higher: a cumulative sum of 8192 elements
# is one kernel that computes each of them twice.
LONGEST_SCAN = 4096

# Lengths of chains. Shader compilers slow down with the length of a kernel.

# Longest chain of operations of a kernel without a loop, before or after a core, or
# read through a movement. A core's kernel holds many copies of the chain: a reduction
# after 128 operations took 15 s to compile, after 64 a third of a second. Lower: a
# chain of four softmaxes moves twice the bytes.
LONGEST_CHAIN = 48

# Steps per element of a merged kernel, or of one with a loop, whose steps count once.
# Lower: 24 iterations of a Mandelbrot set are 23 kernels instead of one. Higher: no
# kernel changes on a device that re-rolls loops.
MOST_STEPS = 192

# Weight of the operations after a matrix product: each thread holds a copy for every
# sum, and a kernel of its own compiles sooner. Lower: the exact GELU leaves the
# product, which moves 1.2 times the bytes. Higher: four tanh after a product are one
# kernel instead of two.
LONGEST_EPILOGUE = 64

# Kernels of rows: a workgroup holds a row in registers.

# Longest row. Lower: softmax of 64 rows of 4096 is three kernels that move twice the
# bytes. Higher: registers of 256 lanes do not hold it.
LONGEST_ROW = 8192

# Rows up to this length pay at any number of rows. Lower: softmax of 4 rows of 512 is
# three kernels. Higher: see LEAST_ROWS.
SHORT_ROW = 1024

# Longer rows pay from this number of rows on: with fewer workgroups most of the device
# is idle, although the kernels move half of the bytes.
LEAST_ROWS = 16

# Reductions of one kernel, one after another. Lower: a chain of four softmaxes is four
# kernels instead of one. Higher: ten softmaxes are one kernel instead of three, whose
# barriers and registers nobody measured.
MOST_ROW_REDUCTIONS = 8

# Values that such a kernel stores in addition to its result. Lower: the six statistics
# of a row take a kernel more and 1.2 times the bytes. Higher: no graph changes, since
# a device binds few storages.
MOST_EXTRA_OUTPUTS = 3

# Matrix products

# A product with at most FEW_OUTPUTS elements is a reduction from this depth on: its
# tiles would leave most of the device idle.
SHORTEST_DOT = 64
FEW_OUTPUTS = 256

# An operand whose axes a copy merged is read without the copy only if its last axis is
# a multiple of this: others are not loaded as vectors, and copying costs less.
EVEN_LENGTH = 4

# Sorts

# Rows up to this length are sorted by one launch. The elements of longer ones are
# stored first, because each launch could round them differently. Lower: `sort(x + 1)`
# of 1000 elements takes two kernels.
SHORT_SORT = 2048

# Index spaces

# Axes that a space may be split into so that a reshape needs no copy; each costs a
# division per element. Lower: the gradient of pooling takes 4 kernels more and moves
# 1.5 times the bytes. Higher: no graph changes.
MOST_AXES = 10

# Bindings of a kernel

# Storages that every device can bind in addition to `DeviceTraits.most_inputs`: the
# result and a scratch storage.
OUTPUT_BINDINGS = 2

# Constants: half of a launch's parameter block. Lower: a chain of 40 operations with
# constants is 10 kernels instead of 3. From this many constants of a graph on, equal
# ones are passed once; without that no loop with constants is one kernel.
MOST_SCALARS = 32

# Merging kernels of one index space

# Newest groups that are considered for each storage or value that a kernel shares.
# Lower: one kernel more for a Mandelbrot set. Higher: no kernel changes, but a graph of
# twice the kernels takes four times the comparisons.
NEWEST_GROUPS = 2

# Loops that Python unrolled

# Expressions of fewer steps are never generated as loops, since a loop costs
# instructions.
LEAST_LOOP_STEPS = 64

# Runs of fewer iterations stay unrolled.
LEAST_ITERATIONS = 4

# How many iterations back a step of a loop may read: each takes a variable per value.
MOST_ITERATIONS_BACK = 4

# Candidates for the length of an iteration. Each takes one pass over the steps.
MOST_PERIODS = 24

# Order of kernels

# Kernels are reordered only if their results total at least this many bytes: less
# memory is worth no planning time.
LEAST_ORDERED_BYTES = 16 << 20
