"""The records that Python sends to the page, with the fields of `protocol.ts`.

A class here has the name and the fields of an interface in `web/src/page/protocol.ts`;
`tests/playground/test_protocol.py` compares both with each other and with real
responses.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tensorweb.display.cells import Shown

StreamName = Literal["stdout", "stderr"]
Encoding = Literal["float32", "int32", "uint32", "float64"]
PictureSize = Literal["full", "small"]
Wanted = Literal["max", "min", "nan"]
FileFormat = Literal["npy", "csv"]


class Frame(TypedDict):
    """A position in the user's program; columns count UTF-16 units from zero."""

    file: str
    function: str
    line: int
    column: int | None
    endLine: int
    endColumn: int | None
    code: str
    indent: int


class ProgramFile(TypedDict):
    """A file of a program other than `main.py`: a module, or data as text."""

    name: str
    text: str


class Gap(TypedDict):
    """Count of omitted frames of a deep recursion."""

    skipped: int


class Failure(TypedDict):
    """An exception with the user's frames; `hidden` counts those of libraries."""

    type: str
    message: str
    frames: list[Frame | Gap]
    text: str
    hidden: int


class KernelRecord(TypedDict):
    """One kernel with one grid, and its launch count."""

    name: str
    kind: str
    formula: str
    copies: bool
    device: str
    grid: list[int]
    buffers: int
    bytes: int
    flops: int
    loaded: int
    stored: int
    line: int | None
    count: int
    seconds: NotRequired[float]


class KernelSource(TypedDict):
    """The text of a kernel, or both ends of a text that is too long."""

    text: str


class NonfiniteOrigin(TypedDict):
    """The operation that first produced a NaN or an infinity, and its source lines.

    `op` is `leaf` for data and `constant` for a literal; it is empty if the operation
    inside a kernel is not known, and the lines are then those of the kernel.
    """

    kind: Literal["nan", "inf"]
    op: str
    file: str
    lines: list[int]


class NonfiniteSearch(TypedDict):
    """What a search found in the values that its program has read: origin and causes.

    It is not complete if Python could not wait for the device.
    """

    complete: bool
    origins: list[NonfiniteOrigin]


class RunRecord(TypedDict):
    """The result of a run."""

    seconds: float
    stopped: bool
    error: Failure | None
    kernels: list[KernelRecord]
    kernelsLeftOut: int
    faults: list[str]
    search: NotRequired[NonfiniteSearch]


class Statistics(TypedDict):
    """Statistics of a tensor's values; fields that cannot be computed are missing."""

    min: NotRequired[float | None]
    max: NotRequired[float | None]
    mean: NotRequired[float | None]
    nan: NotRequired[int]
    inf: NotRequired[int]
    origins: NotRequired[list[NonfiniteOrigin]]
    problem: NotRequired[str]


class TensorRecord(Statistics):
    """One tensor of the run with its names and displays."""

    id: int
    name: str
    names: list[str]
    displays: list[int]
    group: str | None
    cuts: list[str]
    shape: list[int]
    dtype: str
    device: str
    strides: list[int]
    offset: int
    contiguous: bool
    viewOf: str | None
    size: int
    channels: int | None
    coloured: bool


class Heatmap(TypedDict):
    """The cells of one slice, each a block of elements.

    Values are bytes, sent next to the JSON, or base64.
    """

    channels: int
    rows: int
    columns: int
    blockRows: int
    blockColumns: int
    stepRows: int
    stepColumns: int
    fullRows: int
    fullColumns: int
    how: Shown
    encoding: Encoding
    values: str | bytes


class Sample(TypedDict):
    """Every `step`-th value of a slice."""

    step: int
    encoding: Encoding
    values: str


class Place(TypedDict):
    """The index of a value, null if there is none."""

    index: list[int] | None


class Fingerprint(TypedDict):
    """The fingerprint of a run's result: a digest, or statistics of floats."""

    name: str
    shape: list[int]
    dtype: str
    digest: str | None
    numbers: list[float | None]


class Pair(TypedDict):
    """Two tensors broadcast to one shape, their difference and its statistics."""

    first: TensorRecord
    second: TensorRecord
    difference: TensorRecord
    differing: int
    largest: float | None
    index: list[int] | None


class Part(TypedDict):
    """A part of a file, in base64 or as text, and the start of the next part."""

    data: str
    next: int | None


class TensorText(TypedDict):
    """The digits of a tensor, cut if they are many."""

    text: str


class Cells(TypedDict):
    """Exact values of a window of one slice, as text."""

    row: int
    column: int
    texts: list[list[str]]


class Member(TypedDict):
    """A completion, and a short description of it."""

    name: str
    kind: Literal["function", "class", "module", "property", "variable"]
    detail: str


class Explanation(TypedDict):
    """Signature and documentation of a name; empty if unknown."""

    signature: str
    text: str


class Problem(TypedDict):
    """The position of a syntax error; columns count UTF-16 units from zero."""

    message: str
    line: int
    column: int | None
    endLine: int
    endColumn: int | None


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
    ticks: list[Tick]


class Output(TypedDict):
    """Text that the program printed."""

    stream: StreamName
    text: str


class Tail(TypedDict):
    """The end of a long output, which replaces the previous tail."""

    stream: StreamName
    text: str
    omitted: int


RichKind = Literal["html", "svg", "png", "jpeg", "text", "verdict"]


class Rich(TypedDict):
    """A rich representation: pictures are in base64, a verdict is JSON."""

    kind: RichKind
    data: str


class Display(TypedDict):
    """A value that the program showed."""

    display: int
    name: str | None
    text: str
    tensor: bool
    facts: str
    chart: BarChart | None
    rich: NotRequired[Rich]


class Prompt(TypedDict):
    """A request for a line that the reader types."""

    text: str


PlotKind = Literal["lines", "points", "histogram"]


class PlotSeries(TypedDict):
    """Points of a plot, in order; null for a number that is not finite."""

    name: str
    x: list[float | None]
    y: list[float | None]
    count: int


class PlotRecord(TypedDict):
    """A plot that the program showed; it replaces the display's previous plot."""

    display: int
    title: str
    kind: PlotKind
    series: list[PlotSeries]


class LivePicture(TypedDict):
    """The current picture of a displayed tensor: its first slice."""

    display: int
    step: int
    shape: list[int]
    dtype: str
    heatmap: Heatmap


class Notes(TypedDict):
    """The messages of a running program, by kind."""

    prompt: Prompt

    output: Output
    tail: Tail
    display: Display
    picture: LivePicture
    plot: PlotRecord
