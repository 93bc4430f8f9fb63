"""The limits that decide what the backends store, cache, reuse and read together.

Each says what it decides and what happens below and above it, measured in November 2026
where it gives figures; `tests/backends/test_backends_policy.py` has a test of each.
"""

# Flushes and reads

# Bytes of several tensors that are copied into one buffer, so that one read fetches
# all. Lower: a read for each tensor, and each waits for the device. Higher: larger
# tensors are copied once more, which costs more than a read.
READ_TOGETHER = 1 << 20

# Values that a loop needs again, stored when its graph gets too deep. Lower: a loop of
# a few tensors that is never read computes them again in the next flush; without this,
# ten steps of an orbit are 8 kernels instead of 3 and move 7 times the bytes. Higher: a
# graph with more referenced values, such as a backward pass, would store all of them.
MOST_REFERENCED = 12

# Nodes of one flush; a larger graph takes several flushes. Lower: values between the
# flushes are stored. Higher: plans, and the time until the first kernel runs, have no
# bound.
LARGEST_GRAPH = 4096

# Buffers of a flush

# Bytes from which a buffer is reused by the next kernel, and by results too. Lower:
# kernels that could run concurrently wait for each other. Higher: more memory.
LARGE_BUFFER = 1 << 20

# Kernels to wait before a smaller buffer is reused: kernels that share no buffer may
# run concurrently. A chain of 100 small values takes 10 buffers, of large values 2.
REUSE_DELAY = 8

# Commands of one tape, whose parameter block has room for 1024 launches.
MOST_COMMANDS = 1000

# Values that survive a flush

# Sets of referenced nodes that a plan caches the survivors of. Without a bound a loop
# with ever other references would retain all of its sets.
REFERENCED_SETS_CACHED = 256

# Elements up to which a value may be stored for later flushes in any graph; larger ones
# only in a graph that has a storage of their size. Lower: small states of a loop are
# computed again. Higher: a broadcast of small operands could fill the memory.
ALWAYS_STORED = 1 << 16

# Elements up to which a captured value is computed once before a trace. Lower: every
# call computes it again; data of 2048 x 256 takes 10 times the bytes. Higher: its
# memory, 16 MiB of float32, stays allocated as long as the compiled function.
LARGEST_INVARIANT = 1 << 22

# NumPy: factorizations and contractions, milliseconds of one core

# Columns that LU eliminates one by one before one product updates the others. 1024 x
# 1024: with 8 / 32 / 128 columns, and with all, 180 / 108 / 172 / 632.
LU_PANEL = 32

# Unknowns of a triangular system that are solved together. 1024 right-hand sides of
# 1024 unknowns: with 16 / 64 / 256 unknowns, and with all, 59 / 54 / 112 / 579.
TRIANGULAR_BLOCK = 64

# Elements of an operand up to which a batch of a contraction may be copied as matrices
# at once. Larger batches are multiplied matrix by matrix, which is as quick and saves
# the memory of the copy.
LARGEST_BATCH_COPY = 1 << 22

# Caches. Without bounds, programs with ever new shapes would fill the memory; lower
# bounds make loops with many structures plan and generate kernels again.

# Programs of kernels that a device caches.
PROGRAMS_CACHED = 2048

# Layouts that a plan caches, by the results that are needed after a flush.
LAYOUTS_CACHED = 16

# Plans that a device caches, by the structure of their graphs.
PLANS_CACHED = 1024

# Commands of all plans that a device caches: each is about 20 objects, of which
# Pyodide's garbage collector looks at 250,000 in a second.
COMMANDS_CACHED = 10_000

# Memory

# Bytes of the smallest buffer.
SMALLEST_BUFFER = 16

# At most this fraction (1 / FREE_SHARE) of the budget stays in free buffers. Lower: all
# of the budget may lie idle. Higher: loops allocate what they have just freed.
FREE_SHARE = 2

# A budget grows by this fraction (1 / GROWTH) when an allocation beyond it succeeds,
# which waits for the device, and shrinks by it when memory is found to be missing.
GROWTH = 8

# Releasing a buffer above this fraction of the budget (1 / LARGE_SHARE) checks how much
# memory the free buffers have. Lower: few buffers check, and many free ones of middle
# size exceed FREE_SHARE. Higher: small buffers pay for a call at their release.
LARGE_SHARE = 512

# Search for NaN

# Values that a search for NaN looks at with one read: each read waits for the device,
# and all are held until it.
VALUES_PER_READ = 64

# Kernels of a device

# Characters of a device's stored tiles, which may have been modified; `tune` measures a
# few dozen problems.
LONGEST_TILES_TEXT = 1 << 16

# Storages that a kernel of WebAssembly reads. Addresses of 64 are looked up in
# negligible time; a kernel that reads more takes long to compile.
WASM_MOST_INPUTS = 62

# NumPy

# Elements of bfloat16 that NumPy computes at a time: an elementwise operation makes six
# float32 arrays of that many. Measured on sums of 4 million: 1 << 14 to 1 << 18 take a
# third to a half of the time that all at once take, shorter ones longer again.
HALF_BLOCK = 1 << 16

# Kernels that are edited

# Bytes of the storages that a capture copies: they are held until the next run.
MOST_CAPTURED_BYTES = 1 << 28

# Launches that are timed of each text; the shortest counts.
CAPTURE_REPEATS = 7
