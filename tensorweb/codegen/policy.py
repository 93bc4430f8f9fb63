"""The numbers that decide how kernels are generated, and how they were measured.

Figures were measured on an H200 (132 cores) through Dawn and wgpu-py in November 2026,
by the commands that `docs/contributing/tuning.md` describes, section by section; counts
of workgroups are scaled to the cores of other adapters by `Target.scaled`. Tables of
tiles are in `product/tiles.py`, `product/subgroup_matrix.py`, `sorting.py` and
`accumulation.py`; constants that a template's text requires are in the file
that fills the template. `tests/codegen/test_codegen_policy.py` tests what each limit
decides.
"""

# All kernels

# Cores of the H200. Limits in workgroups are scaled by the cores of other adapters.
MEASURED_CORES = 132

# Accumulators of a product, one per result, that a thread of it keeps in registers.
MOST_ACCUMULATORS = 128

# Lanes of a workgroup, the most that every WebGPU device supports. Families with
# measured layouts of their own have theirs below.
WORKGROUP = 256

# An axis of a convolution window up to this length is a literal in the text, so that
# compilers replace its division by a multiplication. Longer axes have too many lengths
# to compile one shader for each.
LONGEST_LITERAL_AXIS = 16

# Copies of an expression, one per element of a thread, are unrolled up to this number
# of statements with library calls inlined; beyond, a loop has one copy. Software
# adapters compile a thousand statements in up to a second when two cores are busy.
MOST_STATEMENTS = 1536

# The same limit for kernels of rows: higher, since a loop may cost the registers that
# hold a row.
MOST_ROW_STATEMENTS = 2560

# Iterations of a re-rolled loop that are unrolled into one trip, since the loop itself
# costs instructions ...
ITERATIONS_UNROLLED = 4

# ... if such a trip has no more statements than this, with library calls inlined.
MOST_TRIP_STATEMENTS = 512

# Elementwise kernels: stencils and transposed inputs (tuning.md, Stencils and Moving)

# Rows of a thread of a stencil, which loads each neighbour once. Any width and view can
# have four; loads per element of an 11 x 3 neighbourhood fall from 33 to 4.5.
STENCIL_ROWS = 4

# Distances between neighbours up to this one, in rows and elements, are literals in the
# text; kernels with farther neighbours are not stencils.
FARTHEST_NEIGHBOUR = 16

# In shorter rows neighbouring lanes read too few contiguous elements for a stencil.
SHORTEST_STENCIL_ROW = 16

# Longer expressions, in steps, are not unrolled over the rows of a stencil.
MOST_STENCIL_STEPS = 256

# Tiles of neighbouring workgroups are vertically adjacent in bands of this many, if it
# divides their number. Copies of 8192 x 8192: bands of 4 / 16 tiles 4,024 / 4,033 GB/s.
TRANSPOSE_BAND = 16

# Shorter axes are read directly instead of through tiles.
LEAST_TRANSPOSED = 16

# Inputs that are staged through tiles of 4.1 KiB: as many as fit the workgroup memory
# that every device has.
MOST_TRANSPOSED = 3

# Reductions (tuning.md, Rows, sums)

# Least outputs of a workgroup where neighbouring outputs are contiguous in memory.
REDUCE_COLUMNS = 32

# Lanes share an output until each has at most this many terms.
REDUCE_LANE_TERMS = 4

# Terms of a lane below which splitting a reduction further is slower.
REDUCE_TERMS = 8

# A reduction is split over two launches until this many workgroups occupy every core
# of a large GPU.
ENOUGH_REDUCE_GROUPS = 1024

# One thread computes an output, as in pooling, if it has at most this many terms ...
LONGEST_POOLED = 64

# ... there are at least this many outputs ...
LEAST_POOLED_OUTPUTS = 1 << 16

# ... and terms of neighbouring outputs are at most this many elements apart.
FARTHEST_POOLED = 8

# Few columns are reduced in one launch, with more lanes each, up to this many terms of
# a column ...
SHORT_COLUMN = 8192

# ... and this many terms of all columns; beyond, two launches are faster.
FEW_COLUMN_TERMS = 1 << 19

# Terms of a lane in that case. Sums of (8192, 128) columns: 0.0106 ms with 256 lanes,
# 0.0196 ms with 32; of (65536, 64) 0.0431 ms, in two launches 0.0194 ms.
SHORT_COLUMN_TERMS = 16

# Rows (tuning.md, Rows, sums)

# Lanes of a workgroup that has several rows.
ROW_WORKGROUP = 128

# Elements or vectors of a lane, after the longest row to which they apply ...
ROW_STEPS = ((8, 2), (32, 4))

# ... and in longer rows. logsumexp of 4096 x 4096: 128 lanes of 8 vectors 1,425 GB/s,
# 64 of 16 1,287, 256 of 4 1,222.
LONG_ROW_STEPS = 8

# A launch with fewer lanes does not fill the GPU: its lanes have fewer elements ...
ENOUGH_ROW_LANES = 1 << 16

# ... divided by this. Layer normalisation of 2048 x 128: 32 lanes of 1 vector 273 GB/s,
# 8 of 4 211.
FEWER_ROW_STEPS = 4

# Totals that one lane combines in the first level of a tree. A row of at most that many
# lanes has no tree: each lane reads all totals.
ROW_FAN_IN = 16

# Scans and sorts (tuning.md, Moving)

# Lanes of a workgroup for compilers that are slow per word of workgroup memory.
FEW_SCAN_THREADS = 64

# Up to this many blocks of a row each block adds the totals before it itself; more
# blocks take a further launch.
FEW_SCAN_BLOCKS = 32

# Longest row of which a workgroup scans several.
LONGEST_SHORT_SCAN = 256

# Longest row that is sorted by merging; longer ones are sorted by radix. 1024 rows of
# 16,384: 0.71 ms merged, 0.92 ms before.
LONGEST_MERGED = 16_384

# The same limit if each element carries a word along. 1024 rows of 16,384: 1.14 ms by
# radix, 1.18 to 1.34 ms merged.
LONGEST_MERGED_PAIRS = 8192

# Accumulation at indices

# Fewer updates need neither private totals, since they cause little contention, nor
# tables: they are sorted by all bits of their index.
LEAST_UPDATES = 32_768

# Elements for which each workgroup keeps private totals: 8 KiB.
MOST_PRIVATE_TOTALS = 2048

# Copies of private totals, so that neighbouring lanes update different ones.
MOST_PRIVATE_COPIES = 32

# Workgroups with private totals that are enough for a GPU, and the most updates of a
# lane of them, so that it adds its totals seldom.
PRIVATE_GROUPS = 1056
MOST_PRIVATE_UPDATES = 64

# With fewer indices the lanes of a table contend.
LEAST_TABLE_INDICES = 64

# Partial runs of blocks up to which one last launch adds them sequentially.
FEW_EDGES = 256

# Fourier transforms (tuning.md, Fourier transforms)

# Largest number of points in a workgroup's memory ...
MOST_FOURIER_POINTS = 4096

# ... and for compilers that are slow per word of workgroup memory.
FEW_FOURIER_POINTS = 128

# Points of a workgroup for short rows: for rows contiguous in memory, and for rows
# whose neighbouring elements in memory belong to other rows, many of which are then
# read at once ...
FOURIER_GROUP_POINTS = (1024, 2048)

# ... but no fewer rows than fill a sector of memory.
FOURIER_ROWS_ACROSS = 4

# The workgroup array of points is padded to a multiple of this.
FOURIER_BANKS = 16

# Points of a lane, unless the workgroup would have too many lanes.
FOURIER_POINTS_OF_LANE = 8

# Factorizations (tuning.md, Matrices by halves)

# Right-hand side columns of a workgroup; each workgroup reads the triangle again.
SOLVE_COLUMNS = 16

# Lengths of matrices for whose triangle workgroup memory is reserved. The last two are
# the largest that fit 16 and 32 KiB with what Jacobi's method needs for pairs of rows.
TRIANGLE_ROWS = (32, 64, 80, 120)
MOST_JACOBI_PAIRS = 64

# Elements that a lane loads before it stores any, so that loads overlap.
ELEMENTS_AHEAD = 4

# With more words of workgroup memory a core runs one workgroup, which then has 512
# lanes if the device allows.
MOST_SHARED_OF_FEW_LANES = 2600

# Largest number of sweeps of a Jacobi method, which takes about 5 to 10.
MOST_SWEEPS = 16

# Largest number of loop iterations of a lane in one launch. Browsers abort work that
# takes a GPU seconds, and llvmpipe ends loops after 65,535 iterations.
LONGEST_LAUNCH = 40_000

# Columns that LU factors in registers (tuning.md, Factorizations) ...
LU_BLOCK = 8

# ... and the rows and the columns of matrices for which it does: a lane holds at most
# eight rows, and the rows that are swapped take 8 KiB of workgroup memory.
LU_PANEL_ROWS = (64, 2048)
WIDEST_LU_PANEL = 128

# Lanes along a row of a matrix, of a workgroup of 256 ...
FACTOR_COLUMNS = 16

# ... but for matrices of at most this many rows and columns: most lanes would idle, and
# a batch of small matrices has many workgroups ...
SMALL_MATRIX = 16

# ... which have this many lanes along a row ...
SMALL_FACTOR_COLUMNS = 8

# ... and this many in all.
SMALL_FACTOR_LANES = 32

# Matrix products (tuning.md, Matrix product; the tiles are in product/tiles.py)

# Few rows or columns use a skinny tile if there are at least this many of them ...
LEAST_SKINNY_TILES = 4

# ... and at least this many terms, so that the slices of the tile pay.
LEAST_SKINNY_DEPTH = 256

# Results of the largest tile for operands that are read element by element, and its
# least depth. 2047 x 513 x 2049: 64 x 64 x 32 27.2 TFLOP/s, 64 x 64 x 16 21.3.
LARGEST_SCALAR_TILE = 64 * 64
LEAST_SCALAR_DEPTH = 32

# A tile is not used if less than this fraction of its results is in bounds.
LEAST_TILE_USE = 0.5

# Fewer workgroups than these leave most of the GPU idle.
FEW_GROUPS = 32

# Microseconds between two launches of a recorded plan.
LAUNCH_TIME = 3.0

# Microseconds of the launch that adds parts of the depth, and words of parts that a
# core writes and reads in a microsecond.
SPLIT_TIME = 6.0
CORE_WORDS = 5700

# Largest number of parts of the depth, each with separate partial results.
MOST_SPLITS = 64

# Tiles of a core up to which parts of the depth are considered; more tiles are even
# without them.
MOST_SPLIT_TILES = 8

# Least number of terms of a part, and of a part of windows, which are slow to load.
LEAST_SPLIT_DEPTH = 128
LEAST_WINDOW_SPLIT = 512

# Tests per bit from which a padding mask costs less than comparisons in the loop.
LEAST_MASK_TESTS = 2

# Least rows and columns for matrix units; below, most of a tile would be empty.
LEAST_UNIT_SIDE = 64

# Vectors along depth that neighbouring threads read, a sector of memory: 64 bytes.
LOAD_SECTOR = 4

# Vectors of 16 bytes that the banks of workgroup memory serve at once.
TILE_BANKS = 8

# Neighbouring threads that compute a block of the tile, so that they read few different
# vectors, and how many of them are along the columns.
BLOCK_THREADS = 32
BLOCK_THREADS_ACROSS = 8

# Small products and pairwise reductions (tuning.md, Pairs)

# Lanes of a workgroup; the fewest with few idle lanes are used. Distances of 4096 rows
# of 64: 0.134 ms, with 64 lanes 0.149 ms.
PAIR_THREADS = (64, 128, 256)

# Least decrease of the idle fraction that justifies more lanes.
LEAST_IDLE_GAIN = 0.25

# Depths of a tile; the smallest that holds all terms is used, or the last. Distances of
# 4096 rows of 64: 0.134 ms, at depth 8 0.163 ms ...
PAIR_DEPTHS = (4, 8, 16)

# ... and of a tile of small matrices, which are limited by memory latency. 4,096
# products of 16 x 16: 0.0096 ms, at depth 16 0.0115 ms.
SMALL_PAIR_DEPTHS = (4, 8)

# Blocks along each side of the tiles of a large matrix.
PAIR_SIDES = (16, 8)

# Blocks along the longer side of a tile of a narrow matrix.
LONGEST_PAIR_SIDE = 31

# Smaller tiles are used below this number of workgroups: two for each core.
ENOUGH_PAIR_GROUPS = 264

# Vectors of one operand's tile that fit every device.
PAIR_TILE_VECTORS = 512

# Vectors of a tile's memory: few sizes, since each is a literal in the text.
PAIR_VECTORS = (96, 160, 256, 384, 512)

# Least number of rows and columns for which tiles pay.
LEAST_PAIR_SIDE = 4

# Largest number of rows and columns of a small matrix. 4,096 products of 64 x 64:
# 0.1080 ms with tiles of the general kernel, 0.1100 ms here.
SMALL_PRODUCT_SIDE = 48

# Up to this depth small matrices share workgroups, however few there are.
SHORT_SMALL_DEPTH = 128

# Up to this depth of small matrices one workgroup adds all terms.
LONGEST_SMALL_DEPTH = 512

# Fewer matrices of a greater depth split the depth over workgroups instead.
FEW_SMALL_PRODUCTS = 256

# Up to this many terms splitting a pairwise reduction does not pay.
SHORT_PAIR_DEPTH = 64

# Depths unrolled for software adapters, which compile unrolled code slowly.
SOFTWARE_UNROLLED = 4

# Convolutions in registers (tuning.md, Convolutions)

# Largest number of output channels per group; more are a matrix product.
MOST_CHANNELS = 16

# Channels of a thread if there would be too few threads otherwise.
LEAST_CHANNELS = 4

# Elements of a line that a thread holds in registers.
LONGEST_SPAN = 24

# Terms of a result up to which one thread adds all of them.
LONGEST_WINDOW = 1536

# With fewer threads workgroups split the terms of a result instead.
ENOUGH_WINDOW_THREADS = 1 << 13

# Lines of one channel that a thread computes, if they divide the height, with at least
# MANY_WINDOW_THREADS remaining threads and at most MOST_WINDOW_TERMS unrolled terms.
WINDOW_LINES = (4, 2)
MANY_WINDOW_THREADS = 1 << 16
MOST_WINDOW_TERMS = 64

# Programs in Python (stepping.py)

# Accesses to shared memory that are noted of a workgroup, about 1 MB in a message.
MOST_STEPS = 1 << 14

# Iterations of loops of a stepped workgroup before it counts as endless, 1 s of Python.
MOST_ITERATIONS = 1 << 18

# Programs whose Python is kept.
MOST_STEPPED = 32
