"""PyTorch's `autograd.grad` and `autograd.Function`.

`tw.grad` differentiates functions. `grad` differentiates a tensor by tensors that
require a gradient: it follows their graph, as `backward()` does, and its results can be
differentiated again. `Function` is `tw.custom_vjp` as a class.

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
    """The `ctx` of a `Function`: values that `forward` retains for `backward`.

    Both may set and read any attributes of it.

    Attributes:
        saved_tensors: the arguments of `save_for_backward`.
        needs_input_grad: for each argument, whether it is a tensor of floats.
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Retain tensors as `saved_tensors`; each may be None."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Do nothing: results that are integers or bool have no derivative anyway.

        Raises:
            TransformError: a result is a float; detach it where it is used instead.
        """
        if any(is_float(tensor) for tensor in tensors):
            raise TransformError(
                "mark_non_differentiable: a result is a float; return it from another "
                "function, or write .detach() where it is used."
            )

    def set_materialize_grads(self, value: bool) -> None:
        """Do nothing: missing gradients are always passed to `backward` as zeros."""


class Function:
    """Base class of operations with a derivative of their own, as in PyTorch.

    A subclass defines static methods: `forward(ctx, *arguments)`, or
    `forward(*arguments)` with `setup_context(ctx, inputs, output)`; and
    `backward(ctx, *gradients)`, which takes a gradient for each result and returns one
    for each argument, None for an argument without a gradient. `tw.custom_vjp` takes
    the same two functions without a class.

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

        def forward(*values: Any) -> tuple[Any, Context]:
            context = Context()
            context.needs_input_grad = tuple(map(is_float, values))
            if cls.setup_context is None:
                return cls.forward(context, *values), context
            result = cls.forward(*values)
            cls.setup_context(context, values, result)
            return result, context

        def backward(context: Context, cotangents: Any) -> Sequence[Any]:
            of_results = cotangents if isinstance(cotangents, tuple) else (cotangents,)
            returned = cls.backward(context, *of_results)
            is_several = isinstance(returned, tuple | list)
            gradients = list(returned) if is_several else [returned]
            # PyTorch's rules also return None for arguments that a call left out.
            while len(gradients) > len(arguments) and gradients[-1] is None:
                gradients.pop()
            return gradients

        function = custom_vjp(lambda *values: forward(*values)[0], forward, backward)
        return function(*arguments)


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
