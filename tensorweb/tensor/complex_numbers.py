"""Parts of complex tensors; a real tensor is its own real part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node
from tensorweb.nodes.complex_parts import (
    conjugate,
    imaginary_part,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import expand
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.views import IMAGINARY, REAL

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class ComplexMethods(TensorBase):
    """Real and imaginary part, and the conjugate; `tensorweb.real` documents them."""

    __slots__ = ()

    @property
    def real(self) -> Tensor:
        """The real parts; of a real tensor itself."""
        part = real_part(self.node)
        return self if part is self.node else self._view(part, REAL, None)  # type: ignore[return-value]  # all tensors are Tensor

    @real.setter
    def real(self, value: ArrayLike) -> None:
        node = self.node
        part = self._written(value, real_part(node))
        self._replace(
            part
            if node.dtype.kind != "complex"
            else join_parts(part, imaginary_part(node))
        )

    @property
    def imag(self) -> Tensor:
        """The imaginary parts; zeros for a real tensor."""
        part = imaginary_part(self.node)
        if self.node.dtype.kind != "complex":
            return self._wrap(part)
        return self._view(part, IMAGINARY, None)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        if self.node.dtype.kind != "complex":
            raise DTypeError(
                f"x.imag = v: x is {self.node.dtype} and has no imaginary part; "
                "write x = x + v * 1j."
            )
        real = real_part(self.node)
        self._replace(join_parts(real, self._written(value, real)))

    def _written(self, value: ArrayLike, part: Node) -> Node:
        """Return a value cast to the dtype of a part and broadcast to its shape."""
        (node,) = as_operands(value, device=part.device)
        return expand(cast(node, part.dtype), part.shape)

    def conj(self) -> Tensor:
        """Return the complex conjugate; of a real tensor itself.

        >>> tw.tensor([1 + 2j, 3 - 4j]).conj()
        tensor([1.-2.j, 3.+4.j], dtype=complex64)
        """
        if self.node.dtype.kind != "complex":
            return self  # type: ignore[return-value]  # all tensors are Tensor
        negative = OPS["negative"]
        return self._wrap(conjugate(self.node, lambda n: elementwise(negative, n)))
