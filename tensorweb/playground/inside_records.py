"""The messages about what lies inside a run: causes, gradients, films, networks."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from .records import DeviceName, Index, Most, Position, TensorRecord, Text


class WhyCell(TypedDict):
    """One cell and its value."""

    index: Index
    value: str


class WhySource(TypedDict):
    """A value that a line read, and which of its cells."""

    tensor: TensorRecord
    mask: int
    """Id of a tensor of its shape: 1 for the cells that were read, else 0."""
    line: int | None
    """Line of the program that made it."""
    file: str
    count: int
    """How many of its cells were read."""
    cells: Annotated[list[WhyCell], Most(10)]
    """The first of them, and the last."""


class WhyRow(TypedDict):
    """One operation of a line in numbers, for the first cell that was needed of it."""

    text: str
    op: str
    shape: Index
    index: Index
    count: int
    """How many of its cells were needed."""
    aligned: int | None
    """Its id if it broadcasts or multiplies matrices, to see its operands aligned."""


class Why(TypedDict):
    """Why a cell has its value."""

    tensor: TensorRecord
    index: Index
    value: str
    line: int | None
    """Line of the program that made it."""
    file: str
    code: str
    """The text of that line."""
    complete: bool
    """Whether the provenance of all values was retained."""
    rows: Annotated[list[WhyRow], Most(100)]
    """The operations of the line, the last one first."""
    sources: Annotated[list[WhySource], Most(100)]
    """The values from elsewhere that it read; empty for data."""
    sourcesLeftOut: int


class AlignedOperand(TypedDict):
    """An operand of a broadcast operation or of a product."""

    tensor: TensorRecord
    """As the program wrote it."""
    repeated: TensorRecord
    """Broadcast; in a product along the axes of the stack only."""


class Alignment(TypedDict):
    """How the operands of one operation align."""

    rule: Literal["broadcast", "matmul"]
    op: str
    infix: str
    """Its sign, such as ` + `; empty for a function."""
    result: TensorRecord
    operands: Annotated[list[AlignedOperand], Most(10)]
    """Those of a product are `(…, m, k)` and `(…, k, n)`."""


class CellGradient(TypedDict):
    """The gradient of a cell by a tensor that it was computed from."""

    tensor: TensorRecord
    gradient: TensorRecord
    """A tensor of its shape."""


class GradientCheck(TypedDict):
    """The largest element of a gradient, and the same derivative by differences."""

    index: Index
    gradient: Text
    quotient: Text
    step: Text
    """How far the value was changed, up and down."""


class ModuleRecord(TypedDict):
    """A module of a network, listed before its parts."""

    path: str
    """How the program reaches it."""
    name: str
    depth: Annotated[int, Most(1000)]
    kind: str
    """The name of its class."""
    settings: str
    parameters: Position
    """Count of the numbers in its parameters and in those of its parts."""
    buffers: Position
    """Count of the numbers in all buffers, which no optimizer changes."""
    bytes: int
    calls: int
    seconds: float | None
    """Time that a device took for what calls of it and of its parts built; null if that
    was not measured, or if there was no call."""
    shared: bool
    """Whether kernels computed operations of others as well: their time is divided by
    the bytes of the operations' values."""
    tensors: Annotated[list[TensorRecord], Most(1000)]
    """Its own parameters and buffers."""
    output: TensorRecord | None
    """What it returned last; null if it was not called, or returned no tensor."""


class FilmStep(TypedDict):
    """The value that a statement bound in one of its runs."""

    step: Position
    """The count of its runs before."""
    tensor: TensorRecord


class FilmRecord(TypedDict):
    """The values of a statement over the runs of its line."""

    steps: Annotated[list[FilmStep], Most(1000)]
    histogram: TensorRecord | None
    """Counts of finite values: a column for each step, the largest values in row 0;
    null for single values and for values that are all equal."""


class InsideResponses(TypedDict):
    """What Why?, Film and Model show of a run, for a report."""

    responses: Text
    """JSON: a list of responses as a report has them."""


class DeviceComparison(TypedDict):
    """The operations of a run, computed once more on another device."""

    device: DeviceName
    compared: int
    """How many operations agree within the bounds of their errors."""
    leftOut: int
    """How many could not be compared."""
    first: Why | None
    """The first cell that differs by more; null if none does."""
    other: str
    """What the other device computed for it."""
