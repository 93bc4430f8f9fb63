"""The messages about one kernel of a run, which are sent when the page asks."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from .records import Most, Pair, Position, Span, Text


class KernelLine(TypedDict):
    """What neighbouring lines of a kernel's text compute, read or write."""

    first: Position
    """Index of the first line, and of the last one."""
    last: Position
    spans: Annotated[list[Span], Most(1000)]
    """The expressions of the program that built it; of a function all that call it."""
    buffers: list[int]
    """Indices of the buffers whose elements they read or write."""
    helper: bool
    """Whether they are of a function of the library, such as `tanh_f32`."""


class KernelBuffer(TypedDict):
    """A buffer that a kernel binds."""

    name: str
    """In the text."""
    value: str
    """Dtype and shape."""
    bytes: int
    written: bool
    span: Span | None
    """The expression of the program that built its value."""


class KernelSource(TypedDict):
    """The text of a kernel, or both ends of a text that is too long."""

    text: Text
    lines: list[KernelLine]
    """Those of WGSL that belong to an expression of the program, or to a buffer."""
    buffers: list[KernelBuffer]


class StageNode(TypedDict):
    """A node of the graph of a flush."""

    node: int
    """Its index there."""
    op: str
    value: str
    """Dtype and shape."""
    inputs: list[int]
    """Indices of its inputs among the nodes of the flush."""
    span: Span | None
    """The expression of the program that built it."""


class StageStep(TypedDict):
    """One value of an expression of a kernel, by its name in the kernel's text."""

    name: str
    text: str
    node: int | None
    """Index of the node that it computes or loads, null for none."""


class StageExpression(TypedDict):
    """An expression of a kernel over its own index space."""

    name: str
    axes: str
    """Its indices and their lengths, such as `i < 4, j < 3`."""
    steps: Annotated[list[StageStep], Most(1000)]


class StageLoss(TypedDict):
    """A node of a kernel that has no step."""

    node: int
    why: Literal["view", "copy", "equal"]
    """Its view is part of a load, its copy is read directly, or its step equals one."""


class StageKernel(TypedDict):
    """A kernel of a flush."""

    kernel: int
    """Its index among the kernels of the run."""
    nodes: list[int]
    """Indices of the nodes that it computes."""
    outputs: list[int]
    """Indices of the nodes that it stores."""
    expressions: Annotated[list[StageExpression], Most(100)]
    lost: list[StageLoss]


class Stages(TypedDict):
    """How a flush, or one kernel of a large one, became kernels."""

    nodes: Annotated[list[StageNode], Most(1000)]
    kernels: Annotated[list[StageKernel], Most(1000)]
    leftOut: int
    """Nodes of the flush that are not shown."""


class KernelSplit(TypedDict):
    """A value that one kernel writes and another one reads."""

    writer: int
    """Index of the kernel among those of the run, like `reader`."""
    reader: int
    value: str
    """Its dtype and shape."""
    written: int
    """Bytes that are written, and bytes that are read, each element once."""
    read: int
    why: str
    """A sentence: the rule by which one kernel does not do both."""


class ShaderProblem(TypedDict):
    """What a compiler said about a text; line and column begin at 1, 0 is unknown."""

    text: Text
    line: Position
    column: Position


class Attempt(TypedDict):
    """The results of a captured kernel by its own text and by another one."""

    problems: Annotated[list[ShaderProblem], Most(100)]
    """Why the other text did not run; empty if it did."""
    seconds: Annotated[list[float], Most(2)]
    """Device time of both; empty where the device cannot tell."""
    pairs: Annotated[list[Pair], Most(1)]
    """The first output that differs, else the first one."""


class KernelCode(TypedDict):
    """A statement that defines a kernel of the program's own."""

    text: Annotated[str, Most(1 << 20)]


class SharedArray(TypedDict):
    """An array that the invocations of a workgroup share."""

    name: str
    space: Literal["storage", "workgroup"]
    shape: Annotated[list[int], Most(64)]


class ThreadStep(TypedDict):
    """An access of one invocation to an array, or a barrier that it reaches."""

    thread: int
    kind: Literal["read", "write", "atomic", "barrier"]
    array: int
    """Index of the array; 0 at a barrier, like the address."""
    at: Position
    """Address of the element, in row-major order."""
    value: Annotated[str, Most(100)]
    line: Position
    """In the text, from 1 on."""


class ThreadMistake(TypedDict):
    """A race, an index beyond the end, or a barrier that some do not reach."""

    text: Annotated[str, Most(1000)]
    line: Position


class Threads(TypedDict):
    """What each invocation of a workgroup reads and writes."""

    source: Text
    problems: Annotated[list[ShaderProblem], Most(100)]
    """Why the text was not read; empty if it was."""
    workgroup: Annotated[list[int], Most(3)]
    """Invocations along x, y and z."""
    groups: Annotated[list[int], Most(3)]
    """Workgroups along x, y and z, and the index of this one."""
    group: Annotated[list[int], Most(3)]
    arrays: Annotated[list[SharedArray], Most(64)]
    steps: Annotated[list[ThreadStep], Most(40_000)]
    """In order, those of one invocation next to each other."""
    cut: bool
    """Whether there were more."""
    mistakes: Annotated[list[ThreadMistake], Most(100)]
