"""The messages between Python and the page: the one description of their fields.

`python3 build.py docs` generates `web/src/page/protocol.ts` from it: the types, and the
checks by which the page refuses what a program has forged. The requests and their
responses are the signatures of the handlers in `session.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

from tensorweb.display.cells import Shown
from tensorweb.errors import Rule as ShapeRule


@dataclass(frozen=True)
class Most:
    """The greatest number, or the greatest length of a text, of bytes or of a list.

    Without it a text has at most 100,000 characters and a list at most 10,000 items.
    """

    limit: int


@dataclass(frozen=True)
class Matching:
    """A pattern that a text matches completely."""

    pattern: str


class Signed:
    """An integer that may be negative; others may not."""


MOST_CELLS = 1 << 20
MOST_CHANNELS = 4

Text = Annotated[str, Most(4_000_000)]
Position = Annotated[int, Most(1_000_000_000)]
Index = Annotated[list[int], Most(10_000)]
Names = Annotated[list[str], Most(100_000)]
Coordinates = Annotated[list[float | None], Most(4000)]

DeviceName = Literal["webgpu", "cpu"]
StreamName = Literal["stdout", "stderr"]
Encoding = Literal["float32", "int32", "uint32", "float64"]
PictureSize = Literal["full", "small"]
Extreme = Literal["max", "min", "nan", "inf"]
FileFormat = Literal["npy", "csv"]
StorageMaking = Literal["computed", "constant", "copy", "reshape"]
RichKind = Literal["html", "svg", "png", "jpeg", "text", "verdict"]
PlotKind = Literal["lines", "points", "histogram"]
MemberKind = Literal["function", "class", "module", "property", "variable"]


class ProgramFile(TypedDict):
    """A file of a program other than `main.py`: a module, or data as text."""

    name: str
    text: Text


class Frame(TypedDict):
    """A position in the user's program; columns count UTF-16 units from zero."""

    file: str
    """`main.py`, or another file of the program."""
    function: str
    line: Position
    column: Position | None
    endLine: Position
    endColumn: Position | None
    code: Text
    """The line without its indentation."""
    indent: Position
    """The count of removed columns."""


class Gap(TypedDict):
    """The count of omitted frames of a deep recursion."""

    skipped: int


class ClashOperand(TypedDict):
    """One operand of a rule about shapes."""

    text: str
    """Its expression in the program; empty if unknown."""
    shape: Annotated[list[Annotated[int, Signed()]], Most(10_000)]
    """A requested shape may contain -1."""
    axis: int | None
    """The axis that does not fit."""
    columns: NotRequired[Index]
    """Where axes are drawn; missing where the rule's name tells it."""


class Repair(TypedDict):
    """An edit of the program after which the shapes fit."""

    label: str
    shape: Index
    """The shape of the result; by the rules `aligned` and `expected` of the operand."""
    file: str
    line: Position
    column: Position
    endLine: Position
    endColumn: Position
    old: Text
    """The text that it replaces; columns count UTF-16 units from zero."""
    text: Text


class ShapeClash(TypedDict):
    """Shapes that do not fit, and edits that repair them."""

    rule: ShapeRule
    operands: Annotated[list[ClashOperand], Most(100)]
    joined: int | None
    """The axis that `concat` joins."""
    repairs: Annotated[list[Repair], Most(10)]


class Failure(TypedDict):
    """An exception with the user's frames."""

    type: str
    message: Text
    frames: Annotated[list[Gap | Frame], Most(1000)]
    text: Text
    hidden: int
    """The count of omitted frames of libraries."""
    clash: NotRequired[ShapeClash]
    """The shapes that do not fit, if that was the reason."""


class Span(TypedDict):
    """An expression of the program; columns count UTF-16 units from zero."""

    line: Position
    column: Position | None
    endLine: Position
    endColumn: Position | None
    file: NotRequired[str]
    """`main.py` where it is missing."""


class KernelLaunches(TypedDict):
    """Launches of a kernel whose results one line of the program built."""

    file: str
    line: Position
    count: int


class KernelRecord(TypedDict):
    """One kernel with one grid, and its launch count."""

    name: str
    kind: str
    formula: str
    """What it computes, such as `sum(x)`; empty if that is long."""
    copies: bool
    """Whether it also copies elements into another order."""
    device: str
    grid: Annotated[list[int], Most(3)]
    """Workgroups by axis; on the CPU units of work, and the count of parallel units."""
    buffers: int
    bytes: int
    flops: int
    """Floating-point operations of the kernel's first launch."""
    loaded: int
    """Bytes that a launch reads, each element once."""
    stored: int
    """Bytes that a launch writes, each element once."""
    line: int | None
    """Line of the program that built its result, counted from one."""
    file: NotRequired[str]
    """The file of the line; `main.py` where it is missing."""
    spans: Annotated[list[Span], Most(1000)]
    """The expressions of the program that it computes; their lines are those of a run.
    """
    count: int
    launches: NotRequired[Annotated[list[KernelLaunches], Most(1000)]]
    """Those of each line, if there are several; without the ones of unknown lines."""
    seconds: NotRequired[float]
    """Device time of all its launches, if the run was timed and the device can."""


class LineResult(TypedDict):
    """What a statement made: a tensor that it bound to a name, or returned."""

    file: str
    line: Position
    """The statement's first line, and its last one."""
    endLine: Position
    function: str
    """The function in which it is; empty at the top of a file."""
    name: str
    """`x`, `self.w`, `pair[0]`; empty for a value that is returned or shown."""
    shape: Index
    """As it ran last, like the facts that follow."""
    dtype: str
    device: str
    view: bool
    """Whether it shares the memory of another tensor."""
    count: int
    """How often it made a tensor."""
    varies: bool
    """Whether shape or dtype changed the last time."""
    copied: NotRequired[bool]
    """Whether the statement copied elements into another order."""


class NonfiniteLine(TypedDict):
    """A result of a line that is not finite, and that no name has any more."""

    line: int
    """Its index in `RunRecord.lines`."""
    kind: Literal["nan", "inf"]
    """NaN where there are both."""


class NonfiniteOrigin(TypedDict):
    """The operation that first produced a NaN or an infinity, and its source lines."""

    kind: Literal["nan", "inf"]
    op: str
    """`leaf` for data, `constant` for a literal, empty inside a fused kernel."""
    file: str
    lines: Annotated[list[Position], Most(100)]
    """Of a kernel, the lines of all its operations; empty outside of the program."""


Origins = Annotated[list[NonfiniteOrigin], Most(10)]


class NonfiniteSearch(TypedDict):
    """Origin and causes of NaNs and infinities in the values that a program read."""

    complete: bool
    """Whether Python could wait for the device."""
    origins: Origins


class RunRecord(TypedDict):
    """The result of a run."""

    seconds: float
    stopped: bool
    error: Failure | None
    lines: Annotated[list[LineResult], Most(1000)]
    """What its lines made, in the order in which they first did."""
    kernels: list[KernelRecord]
    kernelsLeftOut: int
    """The count of kernels that are not listed."""
    faults: Annotated[list[str], Most(100)]
    """What the GPU's adapter computes wrongly, in words; kernels avoid it."""
    search: NotRequired[NonfiniteSearch]
    """The result of a run that searched."""
    inside: NotRequired[bool]
    """Whether the provenance of its values was retained."""
    memory: NotRequired[bool]
    """Whether the buffers of devices were logged."""
    again: NotRequired[str]
    """Which lines ran after a number was dragged, and why, as part of a sentence."""
    captured: NotRequired[int | None]
    """The index in `kernels` of the kernel whose launch was captured; null for none."""


class Statistics(TypedDict):
    """Statistics of a tensor's values; fields that cannot be computed are missing."""

    min: NotRequired[float | None]
    """Of the finite values; null if there is none."""
    max: NotRequired[float | None]
    mean: NotRequired[float | None]
    nan: NotRequired[int]
    inf: NotRequired[int]
    origins: NotRequired[Origins]
    """The origin of the first NaN or infinity and its causes, after a search."""
    problem: NotRequired[Text]
    """Why the values cannot be computed."""


class StorageRecord(TypedDict):
    """The storage that a tensor reads."""

    id: int
    """Equal for all tensors of the run that share it."""
    size: int
    """In elements."""
    made: StorageMaking
    """`reshape` for a copy that a reshape needed, `constant` if nothing is stored."""
    line: int | None
    """The line of `main.py` that made it."""


class TensorRecord(Statistics):
    """One tensor of the run with its names and displays."""

    id: int
    name: str
    names: Names
    """Every name that refers to it."""
    lines: Annotated[list[int], Most(1000)]
    """Indices of `RunRecord.lines` whose last result it still is."""
    displays: Annotated[list[int], Most(100_000)]
    """Ids of the displays that showed it."""
    group: str | None
    """The list or dict in which it is one of several similar ones."""
    cuts: list[str]
    """What the list lacks after this tensor: `history: 50 of 91 shown`."""
    shape: Index
    dtype: str
    device: str
    strides: Annotated[list[Annotated[int, Signed()]], Most(10_000)]
    offset: Annotated[int, Signed()]
    contiguous: bool
    viewOf: str | None
    storage: NotRequired[StorageRecord]
    """Missing while a program runs and in recorded runs."""
    size: int
    channels: int | None
    """The axis of colour channels, null if no axis has three or four elements."""
    coloured: bool
    """Whether it is shown in colour before the reader chooses."""


class Heatmap(TypedDict):
    """The cells of one slice, each a block of elements."""

    channels: Annotated[int, Most(MOST_CHANNELS)]
    """Planes of values: three or four for a picture in colour."""
    rows: Annotated[int, Most(MOST_CELLS)]
    columns: Annotated[int, Most(MOST_CELLS)]
    blockRows: int
    blockColumns: int
    stepRows: int
    """The step between the sampled rows of a block."""
    stepColumns: int
    fullRows: int
    fullColumns: int
    how: Shown
    encoding: Encoding
    values: (
        Annotated[str, Most(12 * MOST_CELLS * MOST_CHANNELS)]
        | Annotated[bytes, Most(8 * MOST_CELLS * MOST_CHANNELS)]
    )
    """Values by channel, then by row: bytes sent next to the JSON, or base64."""


class Sample(TypedDict):
    """Every `step`-th value of a slice, in base64."""

    step: int
    encoding: Encoding
    values: Annotated[str, Most(12 * MOST_CELLS)]


class Found(TypedDict):
    """The index of a value, null if there is none."""

    index: Index | None


class Fingerprint(TypedDict):
    """The fingerprint of a run's result: a digest, or statistics of floats."""

    name: Annotated[str, Most(400)]
    shape: Annotated[list[int], Most(64)]
    dtype: Annotated[str, Matching(r"[a-z]{1,10}\d{0,3}")]
    digest: Annotated[str, Matching(r"[0-9a-f]{16}")] | None
    """Of the bytes of integers and booleans; null for floats."""
    numbers: Annotated[list[float | None], Most(7)]
    """Of floats: minimum, maximum, mean, mean of |x|, trend, counts of NaN and inf."""


Fingerprints = Annotated[list[Fingerprint], Most(40)]


class Pair(TypedDict):
    """Two tensors broadcast to one shape, their difference and its statistics."""

    first: TensorRecord
    second: TensorRecord
    difference: TensorRecord
    differing: int
    """The count of elements that differ; two NaNs do not."""
    largest: float | None
    """The largest finite distance; null if none is finite."""
    index: Index | None
    """The first index of the largest distance."""


class ValueDifference(TypedDict):
    """How a tensor differs from the one of the same name in the run before."""

    tensor: int
    name: str
    differing: int
    """The count of elements whose bits differ; two NaNs are equal."""
    size: int
    largest: float | None
    """The largest finite distance; null if none is finite."""
    ulps: float | None
    """How many floats lie between these two values; null for other dtypes."""
    index: Index
    """Of the largest distance, or of the first difference."""
    before: str
    now: str
    mask: int
    """The id of a tensor that is 1 where the two differ."""


class ValueComparison(TypedDict):
    """The values of a run, compared with those of a run before."""

    isRetained: bool
    """Whether the values of the run before were retained."""
    differences: list[ValueDifference]
    """In the order in which the lines of the program made them."""
    same: int
    """The count of tensors that are equal."""
    leftOut: Names
    """Tensors that were too large to be retained, or could not be read."""
    budget: int
    """Bytes of values that are retained."""


class Part(TypedDict):
    """A part of a file, in base64 or as text, and the start of the next part."""

    data: Annotated[str, Most(48_000_000)]
    next: int | None


class TensorText(TypedDict):
    """The digits of a tensor, cut if they are many."""

    text: Text


class Cells(TypedDict):
    """Exact values of a window of one slice, as text."""

    row: int
    column: int
    texts: list[list[str]]


class Member(TypedDict):
    """A completion, and a short description of it."""

    name: str
    kind: MemberKind
    detail: str


class Explanation(TypedDict):
    """Signature and documentation of a name; empty if unknown."""

    signature: str
    text: str


class Problem(TypedDict):
    """The position of a syntax error; columns count UTF-16 units from zero."""

    message: Text
    line: Position
    column: Position | None
    endLine: Position
    endColumn: Position | None


Problems = Annotated[list[Problem], Most(1000)]


class WarmUp(TypedDict):
    """Whether there is more to compile."""

    more: bool


class Bar(TypedDict):
    """One bar of a chart; its length is from 0 to 1."""

    label: str
    text: str
    length: float
    marked: bool


class Tick(TypedDict):
    """A label on the axis of a chart; its position is from 0 to 1."""

    text: str
    position: float


class BarChart(TypedDict):
    """Labelled bars."""

    heading: str
    unit: str
    bars: list[Bar]
    ticks: Annotated[list[Tick], Most(1000)]


class Output(TypedDict):
    """Text that the program printed."""

    stream: StreamName
    text: Text


class Tail(TypedDict):
    """The end of a long output, which replaces the previous tail."""

    stream: StreamName
    text: Text
    omitted: int


class Rich(TypedDict):
    """A rich representation: pictures are in base64, a puzzle's verdict is JSON."""

    kind: RichKind
    data: Text


class Display(TypedDict):
    """A value that the program showed."""

    display: int
    name: str | None
    text: Text
    """The value as text; empty for a tensor of many elements."""
    tensor: bool
    facts: str
    chart: BarChart | None
    rich: NotRequired[Rich]
    """The rich representation that replaces the text."""


class Prompt(TypedDict):
    """A request for a line that the reader types."""

    text: str


class PlotSeries(TypedDict):
    """Points of a plot, in order; null for a number that is not finite."""

    name: str
    x: Coordinates
    y: Coordinates
    count: int


class PlotRecord(TypedDict):
    """A plot that the program showed; it replaces the display's previous plot."""

    display: int
    title: str
    kind: PlotKind
    series: Annotated[list[PlotSeries], Most(100)]


class LivePicture(TypedDict):
    """The current picture of a displayed tensor: its first slice."""

    display: int
    step: int
    shape: Index
    dtype: str
    heatmap: Heatmap


class Notes(TypedDict):
    """The messages of a running program, by kind."""

    output: Output
    tail: Tail
    display: Display
    prompt: Prompt
    picture: LivePicture
    plot: PlotRecord
