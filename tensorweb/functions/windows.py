"""Windows that slide over axes, and what computes with them: pooling, convolution."""

from __future__ import annotations

from tensorweb.errors import ShapeError
from tensorweb.functions.creation import asarray
from tensorweb.nodes import convolution as build
from tensorweb.nodes.convolution import Padding, PerAxis
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.movement import Axes


def sliding_windows(
    x: ArrayLike,
    /,
    size: Axes,
    *,
    axis: Axes = -1,
    step: Axes = 1,
    dilation: Axes = 1,
) -> Tensor:
    """Return windows of `size` neighbours along axes, as a view that copies nothing.

    The axis counts the windows, which begin `step` apart; their elements, `dilation`
    apart, lie along a new last axis. With several axes each has its size and its new
    axis: `(n, h, w)` gives `(n, h - 2, w - 2, 3, 3)` for `size=3, axis=(-2, -1)`.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: an axis is shorter than a window, a number is not positive, or there
            are not as many numbers as axes.

    >>> tw.sliding_windows([0, 1, 2, 3, 4], 3, step=2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    >>> tw.sliding_windows([1, 2, 3, 4, 5], 2).mean(axis=-1)
    tensor([1.5, 2.5, 3.5, 4.5])
    """
    return asarray(x).sliding_windows(size, axis=axis, step=step, dilation=dilation)


def conv2d(
    x: ArrayLike,
    weight: ArrayLike,
    /,
    *,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of images `(n, c, h, w)` with `(o, c / groups, kh, kw)`.

    As in neural networks the window is not flipped: an output is the sum of window
    times weight, in one kernel that lays out no windows in memory. `padding` is a
    width, one or `(before, after)` for each axis, "valid" for none, or "same"
    for borders with which `h` becomes `ceil(h / stride)`. With `groups`, each group of
    outputs sees its own group of channels. The result is `(n, o, h', w')`.

    Raises:
        ShapeError: channels, groups or bias do not fit, or a window is larger than the
            image with its border.

    >>> image = tw.reshape(tw.arange(16, dtype=tw.float32), (1, 1, 4, 4))
    >>> tw.conv2d(image, tw.ones((1, 1, 3, 3)))
    tensor([[[[45., 54.],
              [81., 90.]]]])
    >>> tw.conv2d(image, tw.ones((8, 1, 3, 3)), stride=2, padding="same").shape
    (1, 8, 2, 2)
    """
    return _convolution(
        "conv2d", "h, w", (x, weight, bias), (stride, padding, dilation), groups
    )


def conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    /,
    *,
    bias: ArrayLike = None,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of rows `(n, c, length)` with `(o, c / groups, size)`.

    The arguments are those of `conv2d`; the window is not flipped.

    Raises:
        ShapeError: channels, groups or bias do not fit, or a window is longer than the
            row with its border.

    >>> tw.conv1d([[[1.0, 2.0, 4.0, 8.0]]], [[[-1.0, 1.0]]])
    tensor([[[1., 2., 4.]]])
    """
    return _convolution(
        "conv1d", "length", (x, weight, bias), (stride, padding, dilation), groups
    )


def max_pool2d(
    x: ArrayLike,
    /,
    size: PerAxis,
    *,
    stride: PerAxis | None = None,
    padding: Padding = 0,
    dilation: PerAxis = 1,
) -> Tensor:
    """Return the largest value of each window of images `(..., h, w)`.

    Windows of `size` begin `stride` apart, which is `size` unless given. The border is
    lower than every number; NaN wins.

    Raises:
        ShapeError: a window does not fit, or a border is as wide as a window.

    >>> tw.max_pool2d([[1, 5, 2, 0], [3, 4, 8, 6]], 2)
    tensor([[5, 8]])
    """
    windows = _pool("max_pool2d", x, size, stride, padding, dilation, is_lowest=True)
    return windows.max(axis=(-2, -1))


def avg_pool2d(
    x: ArrayLike,
    /,
    size: PerAxis,
    *,
    stride: PerAxis | None = None,
    padding: Padding = 0,
) -> Tensor:
    """Return the mean of each window of images `(..., h, w)`.

    Windows of `size` begin `stride` apart, which is `size` unless given. The border
    counts as zeros.

    Raises:
        ShapeError: a window does not fit, or a border is as wide as a window.

    >>> tw.avg_pool2d([[1, 5, 2, 0], [3, 4, 8, 6]], 2)
    tensor([[3.25, 4.  ]])
    """
    return _pool("avg_pool2d", x, size, stride, padding, 1).mean(axis=(-2, -1))


def _convolution(
    name: str,
    axes: str,
    operands: tuple[ArrayLike, ArrayLike, ArrayLike],
    numbers: tuple[PerAxis, Padding, PerAxis],
    groups: int,
) -> Tensor:
    operand_list = operands if operands[2] is not None else operands[:2]
    image, kernel, *biases = as_operands(*operand_list)
    bias = biases[0] if biases else None
    build.check_channels(name, axes, image, kernel, bias, groups)
    stride, padding, dilation = numbers
    sizes = kernel.shape[2:]
    how = build.windows(name, image.shape, len(sizes), sizes, stride, padding, dilation)
    result = build.convolve(image, kernel, how, groups)
    return Tensor(result if bias is None else build.add_bias(result, bias))


def _pool(
    name: str,
    x: ArrayLike,
    size: PerAxis,
    stride: PerAxis | None,
    padding: Padding,
    dilation: PerAxis,
    is_lowest: bool = False,
) -> Tensor:
    """Return windows of images; the border is the lowest number or 0."""
    node = asarray(x).node
    if len(node.shape) < 2:
        raise ShapeError(f"{name}: shape {node.shape}; x is (..., h, w).")
    step = size if stride is None else stride
    how = build.windows(name, node.shape, 2, size, step, padding, dilation)
    return Tensor(build.pooled(name, node, how, is_lowest))


declare_public(__name__)
