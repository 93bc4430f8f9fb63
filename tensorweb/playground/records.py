"""What Python tells the page, as records: their fields are those of `protocol.ts`.

A class here has the name and the fields of an interface in `web/src/page/protocol.ts`;
`tests/playground/test_protocol.py` compares the two, and both with real answers.
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
    """A place in the user's program; columns count UTF-16 units from zero."""

    file: str
    function: str
    line: int
    column: int | None
    endLine: int
    endColumn: int | None
    code: str
    indent: int


class ProgramFile(TypedDict):
    """A file of a program beside `main.py`: a module, or data as text."""

    name: str
    text: str


class Gap(TypedDict):
    """How many frames of a deep recursion are left out in this place."""

    skipped: int


class Failure(TypedDict):
    """An exception with the user's frames; `hidden` counts those of libraries."""

    type: str
    message: str
    frames: list[Frame | Gap]
    text: str
    hidden: int


class KernelRecord(TypedDict):
    """One kernel with one grid, and how often it was launched."""

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
    """The complete text of a kernel, or the ends of one too long to be read."""

    text: str


class NonfiniteOrigin(TypedDict):
    """What first made a NaN or an infinity: an operation, and its lines in a file.

    The operation is `leaf` of data and `constant` of a written number; of one of a
    kernel's operations it is empty, and the lines are those of all.
    """

    kind: Literal["nan", "inf"]
    op: str
    file: str
    lines: list[int]


class NonfiniteSearch(TypedDict):
    """What a search has found in values that its program has read: origin and causes.

    It is not complete where Python could not wait for the device.
    """

    complete: bool
    origins: list[NonfiniteOrigin]


class RunRecord(TypedDict):
    """What a run came to."""

    seconds: float
    stopped: bool
    error: Failure | None
    kernels: list[KernelRecord]
    kernelsLeftOut: int
    faults: list[str]
    search: NotRequired[NonfiniteSearch]


class Statistics(TypedDict):
    """What is computed from a tensor's values; fields are missing where nothing is."""

    min: NotRequired[float | None]
    max: NotRequired[float | None]
    mean: NotRequired[float | None]
    nan: NotRequired[int]
    inf: NotRequired[int]
    origins: NotRequired[list[NonfiniteOrigin]]
    problem: NotRequired[str]


class TensorRecord(Statistics):
    """One tensor of the run with the names and displays that reach it."""

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
    """The cells of one slice, each of a block of elements.

    Values are bytes that travel beside the JSON, or else in base64.
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
    """One in `step` values of a slice."""

    step: int
    encoding: Encoding
    values: str


class Place(TypedDict):
    """Where a value is, null where there is none."""

    index: list[int] | None


class Fingerprint(TypedDict):
    """What a run's result is compared by: a digest, or numbers of floats."""

    name: str
    shape: list[int]
    dtype: str
    digest: str | None
    numbers: list[float | None]


class Pair(TypedDict):
    """Two tensors in their common shape, the first less the second, how they differ."""

    first: TensorRecord
    second: TensorRecord
    difference: TensorRecord
    differing: int
    largest: float | None
    index: list[int] | None


class Part(TypedDict):
    """A part of a file, in base64 or as text, and where the next one starts."""

    data: str
    next: int | None


class TensorText(TypedDict):
    """The digits of a tensor, cut where they are many."""

    text: str


class Cells(TypedDict):
    """Exact values of a window of one slice, as text."""

    row: int
    column: int
    texts: list[list[str]]


class Member(TypedDict):
    """A name that can stand in some place, and what it is in a few words."""

    name: str
    kind: Literal["function", "class", "module", "property", "variable"]
    detail: str


class Explanation(TypedDict):
    """Signature and documentation of a name; empty where nothing is known."""

    signature: str
    text: str


class Problem(TypedDict):
    """A place where the compiler stops; columns count UTF-16 units from zero."""

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
    """A text on the axis of a chart; its position is from 0 to 1."""

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
    """The end of a long output, in the place of the tail before."""

    stream: StreamName
    text: str
    omitted: int


RichKind = Literal["html", "svg", "png", "jpeg", "text", "verdict"]


class Rich(TypedDict):
    """What is drawn instead of text: pictures are in base64, a verdict is JSON."""

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
    """The program waits for a line that the reader types."""

    text: str


PlotKind = Literal["lines", "points", "histogram"]


class PlotSeries(TypedDict):
    """Points of a plot, in order; null where a number is not finite."""

    name: str
    x: list[float | None]
    y: list[float | None]
    count: int


class PlotRecord(TypedDict):
    """A plot that the program showed, in the place of the one before."""

    display: int
    title: str
    kind: PlotKind
    series: list[PlotSeries]


class LivePicture(TypedDict):
    """What a displayed tensor has become: a picture of its first slice."""

    display: int
    step: int
    shape: list[int]
    dtype: str
    heatmap: Heatmap


class Notes(TypedDict):
    """What leaves a running program, by kind."""

    prompt: Prompt

    output: Output
    tail: Tail
    display: Display
    picture: LivePicture
    plot: PlotRecord
