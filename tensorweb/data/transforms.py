"""Transforms of images, with the names of `torchvision.transforms`.

Images are tensors `(..., channels, h, w)`. Random transforms draw anew for each image
of a batch: from the key that they are given, else from the program's generator.

>>> transforms = tw.data.transforms
>>> augment = transforms.Compose(
...     [transforms.RandomCrop(24), transforms.Normalize([0.5], [0.25])]
... )
>>> augment(tw.ones((10, 1, 28, 28)), key=tw.random.key(0)).shape
(10, 1, 24, 24)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorweb import dtypes, random
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import arange, asarray, flip, moveaxis, pad, where
from tensorweb.nn import init, interpolate
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor


class _Random:
    """Base class of transforms that draw random numbers."""

    def __call__(self, x: Any, *, key: Tensor | None = None) -> Any:
        """Return the transformed images."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


class Compose(_Random):
    """Several transforms, one after another.

    >>> flip = tw.data.transforms.RandomHorizontalFlip(p=1.0)
    >>> tw.data.transforms.Compose([flip, lambda x: 2 * x])(tw.asarray([[[1.0, 2.0]]]))
    tensor([[[4., 2.]]])
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        """Make a transform.

        Args:
            transforms: functions of an image.
        """
        self.transforms = list(transforms)

    def __call__(self, x: Any, *, key: Tensor | None = None) -> Any:
        """Return the transformed image; each random transform gets a key of its own."""
        count = len(self.transforms)
        keys: Any = [None] * count if key is None else random.split(key, count)
        for transform, own in zip(self.transforms, keys, strict=True):
            x = (
                transform(x, key=own)
                if isinstance(transform, _Random)
                else transform(x)
            )
        return x


class ToTensor:
    """A picture as floats `(channels, h, w)`; bytes become 0 to 1.

    >>> picture = memoryview(bytes([255] * 6)).cast("B", (2, 3, 1))
    >>> x = tw.data.transforms.ToTensor()(picture)
    >>> x.shape, x.max()
    ((1, 2, 3), tensor(1.))
    """

    def __call__(self, x: Any) -> Tensor:
        """Return the tensor of an array or picture `(h, w)` or `(h, w, channels)`.

        Raises:
            ShapeError: it has other axes.
            DTypeError: it is a tensor, whose channels may be first already.
        """
        if isinstance(x, Tensor):
            raise DTypeError(
                "ToTensor: this is a tensor already; give a picture or an array, or "
                "write tw.moveaxis(x, -1, -3) and x / 255 yourself."
            )
        tensor = asarray(x)
        if tensor.ndim not in (2, 3):
            raise ShapeError(
                f"ToTensor: the picture has shape {tensor.shape}; give (h, w) or "
                "(h, w, channels)."
            )
        tensor = tensor[None] if tensor.ndim == 2 else moveaxis(tensor, -1, 0)
        is_bytes = tensor.dtype is dtypes.uint8
        return tensor.astype("float32") / 255 if is_bytes else tensor


class Normalize:
    """Each channel minus its mean, divided by its standard deviation.

    >>> tw.data.transforms.Normalize([0.5], [0.25])(tw.ones((1, 1, 2)))
    tensor([[[2., 2.]]])
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Make a transform.

        Args:
            mean: of each channel.
            std: of each channel.

        Raises:
            DataError: a standard deviation is 0.
        """
        if not all(std):
            raise DataError(f"Normalize: std={std!r} has a 0, which divides.")
        self.mean, self.std = list(mean), list(std)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the normalised images.

        Raises:
            DTypeError: the images are integers, which cannot hold mean and deviation.
        """
        if x.dtype.kind != "float":
            raise DTypeError(
                f"Normalize: the images are {x.dtype}; write "
                "x.astype(tw.float32) / 255 before, as ToTensor does for pictures."
            )
        mean, std = (
            asarray(values, x.dtype, device=x.device)[:, None, None]
            for values in (self.mean, self.std)
        )
        return (x - mean) / std


class Resize:
    """Images of another size, by bilinear interpolation without antialiasing.

    >>> tw.data.transforms.Resize(14)(tw.ones((3, 28, 56))).shape
    (3, 14, 28)
    """

    def __init__(self, size: int | Sequence[int], mode: str = "bilinear") -> None:
        """Make a transform.

        Args:
            size: height and width, or one number for the shorter of the two.
            mode: as in `tw.nn.interpolate`; `"area"` suits images made smaller.
        """
        self.size, self.mode = size, mode

    def __call__(self, x: Tensor) -> Tensor:
        """Return the resized images."""
        height, width = x.shape[-2:]
        if isinstance(self.size, int):
            short = min(height, width)
            size = [length * self.size // short for length in (height, width)]
        else:
            size = list(self.size)
        images = x.reshape((-1, 1, height, width))
        resized = interpolate(images, tuple(size), mode=self.mode)
        return resized.reshape((*x.shape[:-2], *size))


class CenterCrop:
    """The middle of images.

    >>> tw.data.transforms.CenterCrop(2)(tw.arange(16).reshape((1, 4, 4)))
    tensor([[[ 5,  6],
            [ 9, 10]]])
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        """Make a transform.

        Args:
            size: height and width, or one number for both.
        """
        self.size = _two(size)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the middle of the images.

        Raises:
            ShapeError: the images are smaller.
        """
        _check_size("CenterCrop", x, self.size)
        (height, width), (rows, columns) = self.size, x.shape[-2:]
        top, left = round((rows - height) / 2), round((columns - width) / 2)
        return x[..., top : top + height, left : left + width]


class RandomCrop(_Random):
    """A part of each image at a random position.

    >>> x = tw.arange(20.0).reshape((1, 4, 5))
    >>> tw.data.transforms.RandomCrop((2, 3))(x, key=tw.random.key(1)).shape
    (1, 2, 3)
    """

    def __init__(self, size: int | Sequence[int], padding: int = 0) -> None:
        """Make a transform.

        Args:
            size: height and width, or one number for both.
            padding: count of zeros on each side before.
        """
        self.size, self.padding = _two(size), padding

    def __call__(self, x: Tensor, *, key: Tensor | None = None) -> Tensor:
        """Return a part of each image.

        Raises:
            ShapeError: the images are smaller.
        """
        if self.padding:
            x = pad(x, [(0, 0)] * (x.ndim - 2) + [(self.padding, self.padding)] * 2)
        _check_size("RandomCrop", x, self.size)
        images = x.reshape((-1, *x.shape[-3:]))
        count, channels = images.shape[:2]
        generator = init.generator(key, x.device)
        # Indices of images, channels, rows and columns broadcast to the result.
        rows, columns = (
            generator.randint((count, 1), 0, length - part + 1)
            + arange(part, device=x.device)
            for length, part in zip(x.shape[-2:], self.size, strict=True)
        )
        cropped = images[
            arange(count, device=x.device)[:, None, None, None],
            arange(channels, device=x.device)[None, :, None, None],
            rows[:, None, :, None],
            columns[:, None, None, :],
        ]
        return cropped.reshape((*x.shape[:-2], *self.size))


class RandomHorizontalFlip(_Random):
    """Each image mirrored left to right with a probability.

    >>> tw.data.transforms.RandomHorizontalFlip(p=1.0)(tw.asarray([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        """Make a transform.

        Args:
            p: the probability.
        """
        self.p = p

    def __call__(self, x: Tensor, *, key: Tensor | None = None) -> Tensor:
        """Return the images, some of them mirrored."""
        shape = (*x.shape[:-3], *[1] * min(x.ndim, 3))
        is_mirrored = init.generator(key, x.device).bernoulli(self.p, shape)
        return where(is_mirrored, flip(x, axis=-1), x)


def _two(size: int | Sequence[int]) -> tuple[int, int]:
    height, width = (size, size) if isinstance(size, int) else size
    return height, width


def _check_size(name: str, x: Tensor, size: tuple[int, int]) -> None:
    """Raise unless a part of this size fits.

    Raises:
        ShapeError: it does not.
    """
    if x.ndim < 3 or x.shape[-2] < size[0] or x.shape[-1] < size[1]:
        raise ShapeError(
            f"{name}: images of shape {x.shape} have no part of {size}; give "
            "(..., channels, h, w) at least as large."
        )


declare_public(__name__)
