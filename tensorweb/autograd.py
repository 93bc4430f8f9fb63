"""PyTorch's `autograd.grad` and `autograd.Function`.

`tw.grad` differentiates functions. `grad` follows the graph of tensors that require a
gradient, as `backward()` does, for programs that need derivatives of derivatives so.
`Function` is `tw.custom_vjp` as a class.

>>> x = tw.tensor(3.0, requires_grad=True)
>>> grad(x * x, x)
(tensor(6.),)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

from tensorweb.errors import TransformError
from tensorweb.graph.autograd import depends_on_leaf, grad_disabled, inputs_of
from tensorweb.graph.node import like, pair_of
from tensorweb.nodes.complex_parts import is_joined
from tensorweb.nodes.selection import concat
from tensorweb.public_names import answer_unknown
from tensorweb.tensor import Tensor
from tensorweb.transforms.backward import LeafBackwardPass
from tensorweb.transforms.custom import custom_vjp
from tensorweb.transforms.inputs import is_float, matching
from tensorweb.transforms.rules.rule import ones

__all__ = ["Function", "grad"]


class Context:
    """What `forward` of a `Function` keeps for `backward`, in any attributes.

    Attributes:
        saved_tensors: what `save_for_backward` was given.
        needs_input_grad: for each argument whether it is a float tensor.
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, or None in place of one."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Accept results that are integers or bool, which have no derivative.

        Raises:
            TransformError: one is a float; detach it where it is used instead.
        """
        if any(is_float(tensor) for tensor in tensors):
            raise TransformError(
                "mark_non_differentiable: a result is a float; return it from another "
                "function, or write .detach() where it is used."
            )

    def set_materialize_grads(self, value: bool) -> None:
        """Accept that missing gradients are zeros, as they are here always."""


class Function:
    """An operation with a derivative of its own, as `tw.custom_vjp` makes one.

    A class has `forward(ctx, *arguments)`, or `forward(*arguments)` with
    `setup_context(ctx, inputs, output)`, and `backward(ctx, *gradients)`, which returns
    a gradient for each argument, None where there is none; all are static methods.

    >>> class Doubled(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return 4 * x * gradient
    >>> tw.grad(Doubled.apply)(3.0)
    tensor(12.)
    """

    forward: ClassVar[Any]
    backward: ClassVar[Any]
    setup_context: ClassVar[Any] = None

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Return the result of `forward`, whose derivative is `backward`.

        Raises:
            TransformError: `backward` returned another number of gradients.
        """

        def kept(*values: Any) -> tuple[Any, Context]:
            context = Context()
            context.needs_input_grad = tuple(map(is_float, values))
            if cls.setup_context is None:
                return cls.forward(context, *values), context
            result = cls.forward(*values)
            cls.setup_context(context, values, result)
            return result, context

        def pulled(context: Context, cotangents: Any) -> Sequence[Any]:
            given = cotangents if isinstance(cotangents, tuple) else (cotangents,)
            found = cls.backward(context, *given)
            parts = list(found) if isinstance(found, tuple | list) else [found]
            while len(parts) > len(arguments) and parts[-1] is None:
                parts.pop()  # of arguments that were left to their defaults
            return parts

        return custom_vjp(lambda *values: kept(*values)[0], kept, pulled)(*arguments)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor, ...]:
    """Return the derivatives of the sum of results by tensors that they depend on.

    `grad` of the tensors stays as it is. Inside of `tw.jit` and `tw.grad` use `tw.grad`
    of a function.

    Args:
        outputs: a result, or several.
        inputs: a tensor that requires a gradient, or several; also other results.
        grad_outputs: the weight of each element of the results, of their shapes;
            needed where a result is not 0-d.
        retain_graph: accepted as in PyTorch; the graph is retained as long as results.
        create_graph: whether the derivatives can be differentiated again.
        allow_unused: accepted as in PyTorch; where nothing depends on an input, its
            derivative is 0.

    Returns:
        One tensor for each input, of its shape.

    Raises:
        TransformError: a result depends on nothing that requires a gradient, is not 0-d
            and has no weights, or its graph was freed by `backward()`.

    >>> x = tw.tensor([1.0, 2.0], requires_grad=True)
    >>> (first,) = tw.autograd.grad((x**3).sum(), x, create_graph=True)
    >>> first, tw.autograd.grad(first.sum(), x)[0]
    (tensor([ 3., 12.]), tensor([ 6., 12.]))
    """
    results = [outputs] if isinstance(outputs, Tensor) else [*outputs]
    sources = [inputs] if isinstance(inputs, Tensor) else [*inputs]
    weights: Sequence[Tensor | None]
    if grad_outputs is None or isinstance(grad_outputs, Tensor):
        weights = [grad_outputs] * len(results)
    else:
        weights = grad_outputs
    nodes, cotangents = [], []
    for result, weight in zip(results, weights, strict=True):
        node = pair_of(result.node)
        if not depends_on_leaf(node):
            raise TransformError(
                "autograd.grad: a result was computed from none that requires a "
                "gradient; call requires_grad_() on the inputs before."
            )
        if weight is None and (node.shape or node is not result.node):
            raise TransformError(
                f"autograd.grad: a result has shape {result.shape}; take sum() of it, "
                "or pass grad_outputs, tensors of the results' shapes."
            )
        nodes.append(node)
        cotangents.append(
            ones(node)
            if weight is None
            else matching("autograd.grad", weight, result.node)
        )
    backward_pass = LeafBackwardPass(*nodes)
    leaves = backward_pass.variables
    asked = [pair_of(source.node) for source in sources]
    # What reads one part of joined complex numbers may not read their pair.
    read = {
        node: inputs_of(node) if is_joined(node) else (node,)
        for node in asked
        if node not in leaves
    }
    between = [part for parts in read.values() for part in parts]
    with nullcontext() if create_graph else grad_disabled():
        cotangents = backward_pass.vjp(nodes, cotangents, between)
        found = dict(zip((*leaves, *between), cotangents, strict=True))
        for node, parts in read.items():
            if parts != (node,):
                last = len(node.shape) - 1
                found[node] = concat([found[part] for part in parts], last)
        return tuple(
            [
                Tensor(like(source.node, found[node]))
                for source, node in zip(sources, asked, strict=True)
            ]
        )


answer_unknown(__name__)
