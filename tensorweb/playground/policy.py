"""Limits of what is sent to the page of a run, in characters, elements and seconds.

A program can make every text and list arbitrarily long; the page must stay usable.
"""

from __future__ import annotations

MOST_TENSORS = 200
"""Tensors that a run lists; further ones are counted only."""

MOST_ITEMS = 50
"""Tensors that are listed of one list or dict."""

MOST_SCANNED = 10_000
"""Items of one list or dict that are searched for tensors."""

LEAST_GROUP = 3
"""Tensors of one shape and dtype in a list or dict from which on they are one group."""

MOST_NAMES = 10
"""Names that are recorded of one tensor."""

NAMES_IN_TITLE = 3
"""Names of one tensor that its title shows."""

LONGEST_TENSOR_NAME = 80
"""Characters of a tensor's name."""

LONGEST_PROBLEM = 1_000
"""Characters of the reason why a tensor has no statistics."""

MOST_CAUSES = 4
"""Length of the chain of causes of a NaN in a record."""

MOST_ORIGIN_LINES = 12
"""Lines of one kernel in the record of an origin."""

MOST_FINGERPRINTS = 40
"""Tensors whose fingerprints a link has."""

MOST_DIGESTED = 1 << 22
"""Digested elements; larger tensors are sampled with an even step."""

FINGERPRINT_DIGITS = 6
"""Significant digits of the numbers of a fingerprint."""

DIGEST_LENGTH = 16
"""Hexadecimal digits of a digest."""

OUTPUT_HEAD = 100_000
"""Characters at the start of the output of a run that are always sent."""

OUTPUT_TAIL = 20_000
"""Characters at its end that are sent if it is longer."""

OUTPUT_SECONDS = 0.05
"""Time between two batches of output."""

OUTPUT_BURST = 200
"""Characters that are sent at once, without waiting for the next batch."""

OUTPUT_PIECE = 16_384
"""Characters of one message."""

MOST_KERNELS = 200
"""Kernels of a run that are listed; further ones are counted only."""

MOST_SPANS = 40
"""Expressions of one kernel that are marked in the code."""

MOST_SPLITS = 400
"""Values between two kernels that are explained."""

COLLECTIONS = 16
"""Runs of which one looks at all objects for garbage, the others at the new ones."""

MOST_FLUSHES = 100
"""Flushes of a run whose kernels are recorded."""

MOST_TIMED = 3000
"""Flushes, and reads, of which a run records the times."""

LEAST_TIMED = 500
"""Flushes of which a run records the times, however short they are."""

SECONDS_A_FLUSH = 60e-6
"""Seconds between flushes, from which on more than `LEAST_TIMED` of them are recorded:
times take 2 µs a flush, counts 0.3 µs."""

MOST_TIMED_PLANS = 500
"""Different lists of launches after which no more flushes are recorded."""

MOST_RECORDED_LINES = 2000
"""Values per run whose source lines are recorded; the first iterations suffice."""

MOST_LINE_RESULTS = 500
"""What lines of a run made, of which the page hears."""

MOST_LINE_VALUES = 64
"""Values of lines that no name has and that are looked at for NaN after a run."""

MOST_LINE_BYTES = 1 << 24
"""The bytes of all of these: a pending one is computed and stored for it."""

MOST_LINE_PARTS = 4
"""Names of one statement, or items of one list, that are noted."""

MOST_IDLE = 50
"""Values that are no tensors after which a statement is not looked at again."""

MOST_LOOKS = 64
"""Runs of a statement that makes tensors whose results are looked at, each of them."""

SELDOM = 63
"""Of later runs those are looked at whose count has none of these bits."""

MOST_FILM_STEPS = 240
"""Values of one statement that a run with provenance retains."""

MOST_FILM_BYTES = 1 << 25
"""Their bytes; two are retained of larger ones as well."""

FILM_BINS = 32
"""Intervals of the histograms of a film."""

MOST_MEMORY_VALUES = 40
"""Values that one buffer contained, of which the page hears."""

MOST_SOURCE = 200_000
"""Characters of a kernel's text that the page shows."""

RANDOM_CASES = 20
"""Random cases on which a puzzle is tried."""

MOST_VERDICT_CELLS = 12
"""Rows and columns of a table in a verdict."""

LEAST_PICTURE_SIDE = 8
"""Tensors with a shorter side are treated as matrices of short rows."""

MOST_SAMPLES = 1 << 16
"""Elements of which the quantiles of a picture are computed."""

MOST_EXPORTED_VALUES = 1 << 20
"""Elements in one part of a `.npy` file."""

MOST_EXPORTED_TEXTS = 1 << 15
"""Numbers in one part of a CSV file, and in one row of it."""

MOST_MARKUP = 1_000_000
"""Characters of HTML or SVG of one value."""

MOST_PICTURE = 3_000_000
"""Characters of one picture, as base64."""

MOST_FRAMES = 12
"""Frames of a traceback that are shown."""

MOST_MESSAGE = 4_000
"""Characters of an exception's message."""

MOST_CODE = 400
"""Characters of a source line, around the failing part."""

LONGEST_FILE_NAME = 200
"""Characters of the name of a file."""

MOST_NAMED = 10
"""Files that a message names."""

LONGEST_PROMPT = 2000
"""Characters of the prompt of `input()`."""

MOST_REPAIRS = 4
"""Repairs of shapes that are offered."""

MOST_OPERANDS = 20
"""Operands whose shapes are drawn."""

MOST_STORAGE_CELLS = 4000
"""Cells that are drawn of a storage; each is a block of elements if there are more."""

MOST_DISPLAYS = 200
"""Values that one run may show."""

MOST_DRAWN = 12_000_000
"""Bytes of all pictures of one run."""

MOST_DIGITS = 24
"""Elements of a displayed tensor up to which its digits are sent at once."""

LEAST_LIVE_ELEMENTS = 16
"""Elements from which on a displayed tensor has a live picture."""

PICTURE_SECONDS = 1 / 60
"""Time between two live pictures of one display: a frame."""

PLOT_SECONDS = 1 / 30
"""Time between two states of one plot: two frames."""

DEEPEST_CALL = 30
"""Frames of the stack that are searched for the line of a display."""

MOST_TICKS = 20
"""Ticks of a bar chart."""

MOST_POINTS = 1000
"""Points of one series; of longer ones only the extremes of intervals are sent."""

MOST_PENDING = 2
"""Pending kernels up to which a step of the warm-up starts new ones."""

MOST_MEMBERS = 1000
"""Completions of one path."""

MOST_DOCUMENTATION = 400
"""Characters of the documentation of a completion."""

LONGEST_DETAIL = 60
"""Characters of the detail of a completion."""

FIRST_VALUE_ID = 1 << 20
"""Ids of values without a name begin here; those of named tensors are below."""

FIRST_MASK_ID = 1 << 19
"""Ids of masks of differences between two runs begin here."""

MOST_COMPARED_BYTES = 1 << 25
"""Bytes of values of a run that the next one is compared with, 8 million floats; the
page takes 2 s to compare these if all differ."""

MOST_RETAINED_BYTES = 1 << 27
"""Bytes of values that a run with provenance retains."""

MOST_STAGE_NODES = 200
"""Nodes of a flush up to which all are shown; of a larger one those of one kernel."""

MOST_STAGE_STEPS = 500
"""Steps of an expression that are shown."""

MOST_SOURCES = 12
"""Values that an answer to "why this cell?" shows."""

MOST_GRADIENTS = 60
"""Gradients of one cell that are shown, by named tensors."""

MOST_MODULES = 300
"""Modules of networks that are listed."""

MOST_RECORDED_BYTES = 400_000
"""Bytes from which on a report records no more of the networks, of the causes of
cells, and of the films, each: files are sent by mail."""

MOST_RECORDED_STEPS = 30
"""Values of a line that a report records."""

MOST_EXPLAINED = 120
"""Cells that a report explains. Each takes some milliseconds on a GPU."""

MOST_EXPLAINED_CELLS = 32
"""Elements up to which each cell of a tensor is explained in a report, else the first
one."""

LONGEST_LABEL = 40
"""Characters of an expression that names a value without a name."""

MOST_RESTORED = 100_000
"""Objects that are restored before the end of a program runs again; some 50 ms."""

MOST_MISTAKES = 20
"""Races and the like that are listed of one workgroup."""

RESTORABLE_MODULES = frozenset(
    (
        *("tensorweb", "math", "cmath", "random", "time", "itertools", "functools"),
        *("operator", "collections", "dataclasses", "typing", "enum", "abc", "string"),
        *("re", "statistics", "fractions", "json", "textwrap", "copy", "types"),
        "contextlib",
    )
)
"""Modules that a program of which only the end runs again may import: they have no
state but that of random numbers."""
