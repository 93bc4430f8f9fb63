"""Optax's transformations: the pair of functions, and wrappers of whole optimisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, NamedTuple

from tensorweb import tree
from tensorweb.functions import asarray, zeros_like
from tensorweb.optim import combination
from tensorweb.optim.state import incremented, number
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.transforms.inputs import is_float


class GradientTransformation(NamedTuple):
    """A pair of functions that transforms gradients step by step.

    Attributes:
        init: a function from parameters to the state.
        update: a function from gradients, state and parameters, which may be omitted
            where a transformation does not use them, to `(updates, state)`.

    >>> double = tw.optim.optax.scale(2.0)
    >>> double.update(tw.ones(2), double.init(tw.zeros(2)))
    (tensor([2., 2.]), ())
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


def map_floats(function: Callable[..., Any], *trees: Any) -> Any:
    """Return a tree of results for the tensors of floats, and of its other leaves."""
    return tree.map(
        lambda leaf, *others: function(leaf, *others) if is_float(leaf) else leaf,
        *trees,
    )


def zero_steps(params: Any) -> Tensor:
    """Return a count of no steps, on the parameters' device."""
    return number(0, _first_float(params).device)


def _first_float(params: Any) -> Tensor:
    """Return the first tensor of floats in a tree."""
    leaves: list[Tensor] = [leaf for leaf in tree.leaves(params) if is_float(leaf)]
    return leaves[0]


class OfPart:
    """A transformation with the signature of `tw.optim`, for `combination`."""

    def __init__(self, inner: GradientTransformation) -> None:
        """Wrap a transformation."""
        self._inner, self.init = inner, inner.init

    def update(self, params: Any, grads: Any, state: Any) -> tuple[Any, Any]:
        """Return updates and state."""
        return self._inner.update(grads, state, params)


class MultiSteps:
    """A transformation of the mean of several gradients; zeros between its steps.

    >>> optax = tw.optim.optax
    >>> opt = optax.MultiSteps(optax.sgd(0.5), every_k_schedule=2)
    >>> state = opt.init(tw.zeros(1))
    >>> for value in (1.0, 3.0):
    ...     updates, state = opt.update(tw.asarray([value]), state)
    ...     print(updates)
    [0.]
    [-1.]
    """

    def __init__(self, opt: GradientTransformation, every_k_schedule: int) -> None:
        """Make a transformation.

        Args:
            opt: the transformation that takes the steps.
            every_k_schedule: count of gradients for each step.
        """
        self._steps = combination.MultiSteps(OfPart(opt), every_k_schedule)
        self.init = self._steps.init

    def update(self, updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        """Return updates and state after another gradient.

        Raises:
            TransformError: a gradient is None.

        >>> opt = tw.optim.optax.MultiSteps(tw.optim.optax.sgd(0.5), 2)
        >>> opt.update(tw.ones(1), opt.init(tw.ones(1)))[0]
        tensor([0.])
        """
        return self._steps._moved(
            params, updates, state, map_floats(zeros_like, updates)
        )

    def gradient_transformation(self) -> GradientTransformation:
        """Return the functions `init` and `update`.

        >>> optax = tw.optim.optax
        >>> opt = optax.MultiSteps(optax.sgd(0.5), 2).gradient_transformation()
        >>> optax.chain(optax.clip(1.0), opt).init(tw.ones(1))[1].mini_step
        tensor(0)
        """
        return GradientTransformation(self.init, self.update)


class _InjectedState(NamedTuple):
    """The state of `inject_hyperparams`.

    Attributes:
        step: count of the steps.
        hyperparams: tensors by name, which a program may replace.
        inner_state: of the transformation.
    """

    step: Tensor
    hyperparams: dict[str, Tensor]
    inner_state: Any


FIXED = {"b1", "b2", "decay", "eps", "momentum", "initial_scale"}
"""Options that are numbers of a transformation, never tensors of its state."""


def inject_hyperparams(
    inner_factory: Callable[..., GradientTransformation],
    static_args: str | Iterable[str] = (),
) -> Callable[..., GradientTransformation]:
    """Return a function like `inner_factory`, with a state that holds the rates.

    Numbers and schedules among the arguments, such as `learning_rate`, `weight_decay`
    and `max_norm`, become tensors of `state.hyperparams`: what a program writes there
    counts from the next step on, under `jit` too, and schedules are followed. Decays
    and momenta of averages (`b1`, `momentum`) and `eps` stay constants.

    Args:
        inner_factory: a function that returns a transformation, such as `sgd`.
        static_args: names of further arguments that stay constants.

    >>> optax = tw.optim.optax
    >>> opt = optax.inject_hyperparams(optax.sgd)(learning_rate=0.5)
    >>> state = opt.init(tw.ones(1))
    >>> state.hyperparams["learning_rate"] = tw.asarray(0.25)
    >>> opt.update(tw.ones(1), state)[0]
    tensor([-0.25])
    """
    names = {static_args} if isinstance(static_args, str) else {*static_args}

    def made(*args: Any, **kwargs: Any) -> GradientTransformation:
        bound = signature(inner_factory).bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        free = [name for name in given if name not in FIXED | names]

        def rates(step: Tensor, others: Mapping[str, Tensor]) -> dict[str, Tensor]:
            followed = {
                name: asarray(given[name](step.astype("float32")), device=step.device)
                for name in free
                if callable(given[name])
            }
            return {**others, **followed}

        def init(params: Any) -> _InjectedState:
            step, like = zero_steps(params), _first_float(params)
            fixed = {
                name: asarray(float(given[name]), like.dtype.part, device=like.device)
                for name in free
                if type(given[name]) in (int, float)
            }
            inner = inner_factory(**given).init(params)
            return _InjectedState(step, rates(step, fixed), inner)

        def update(
            updates: Any, state: _InjectedState, params: Any = None
        ) -> tuple[Any, _InjectedState]:
            now = rates(state.step, state.hyperparams)
            inner = inner_factory(**{**given, **now})
            updates, changed = inner.update(updates, state.inner_state, params)
            return updates, _InjectedState(incremented(state.step), now, changed)

        return GradientTransformation(init, update)

    return made


WRAPPERS = declare_public(__name__, hidden="OfPart map_floats zero_steps")
