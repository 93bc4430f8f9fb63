"""The numbers that decide what the backends store, cache, reuse and read together.

None has a recorded measurement unless its comment says so.
"""

# Flushes and reads

# Bytes of several tensors that are copied into one buffer, so that one read fetches
# all; larger tensors are read one after another.
READ_TOGETHER = 1 << 20

# Values that a loop needs again, stored when its graph gets too deep. A graph with more
# referenced values, such as a backward pass, does not need all of them again.
MOST_REFERENCED = 12

# Nodes of one flush; a larger graph takes several flushes, which bounds plans.
LARGEST_GRAPH = 4096

# Buffers of a flush

# Bytes from which a buffer is reused by the next kernel, and by results too: memory
# matters more than concurrency there.
LARGE_BUFFER = 1 << 20

# Kernels to wait before a smaller buffer is reused: kernels that share no buffer may
# run concurrently.
REUSE_DELAY = 8

# Commands of one tape, whose parameter block has room for 1024 launches.
MOST_COMMANDS = 1000

# Values that survive a flush

# Sets of referenced nodes that a plan caches the survivors of.
REFERENCED_SETS_CACHED = 256

# Elements up to which a value may be stored for later flushes in any graph; larger ones
# only in a graph that has a storage of their size.
ALWAYS_STORED = 1 << 16

# Elements up to which a captured value is computed once before a trace; 16 MiB of
# float32 would stay allocated as long as the compiled function.
LARGEST_INVARIANT = 1 << 22

# NumPy: factorizations and contractions

# Columns that LU eliminates one by one before one product updates the others.
LU_PANEL = 32

# Unknowns of a triangular system that are solved together.
TRIANGULAR_BLOCK = 64

# Elements of an operand up to which a batch of a contraction is copied as matrices at
# once; larger batches are multiplied matrix by matrix.
LARGEST_BATCH_COPY = 1 << 22

# Caches

# Programs of kernels that a device caches.
PROGRAMS_CACHED = 2048

# Layouts that a plan caches, by the results that are needed after a flush.
LAYOUTS_CACHED = 16

# Plans that a device caches, by the structure of their graphs.
PLANS_CACHED = 1024

# Memory

# Bytes of the smallest buffer.
SMALLEST_BUFFER = 16

# At most this fraction (1 / FREE_SHARE) of the budget stays in free buffers.
FREE_SHARE = 2

# A budget grows by this fraction (1 / GROWTH) when an allocation beyond it succeeds,
# and shrinks by it when memory is found to be missing.
GROWTH = 8

# Releasing a buffer above this fraction of the budget (1 / LARGE_SHARE) checks how much
# memory the free buffers have.
LARGE_SHARE = 512

# Search for NaN

# Values that a search for NaN looks at with one read: each read waits for the device.
VALUES_PER_READ = 64

# Kernels of a device

# Characters of a device's stored tiles; `tune` measures a few dozen problems.
LONGEST_TILES_TEXT = 1 << 16

# Storages that a kernel of WebAssembly reads. Addresses of 64 are looked up in
# negligible time; a kernel that reads more takes long to compile.
WASM_MOST_INPUTS = 62
