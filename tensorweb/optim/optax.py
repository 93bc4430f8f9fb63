"""Optax's names: transformations of gradients that are chained to an optimiser.

`import tensorweb.optim.optax as optax` runs programs that are written for Optax. The
update rules are those of `tw.optim`; here `update` takes gradients, state and
parameters, and returns what is added to the parameters.

>>> optax = tw.optim.optax
>>> opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.125))
>>> params = {"w": tw.asarray([3.0, -2.0])}
>>> state = opt.init(params)
>>> grads = tw.grad(lambda p: (p["w"] ** 2).sum())(params)
>>> updates, state = opt.update(grads, state, params)
>>> optax.apply_updates(params, updates)
{'w': tensor([ 2.875, -1.875])}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from functools import reduce
from typing import Any, TypeAlias

from tensorweb import tree
from tensorweb.errors import DataError
from tensorweb.functions import (
    asarray,
    full_like,
    maximum,
    sqrt,
    where,
    zeros_like,
)
from tensorweb.functions import clip as clip_elements
from tensorweb.optim import combination, optax_losses
from tensorweb.optim.combination import incremental_update as incremental_update
from tensorweb.optim.optax_losses import *
from tensorweb.optim.optax_losses import LOSSES
from tensorweb.optim.optax_schedules import *
from tensorweb.optim.optax_schedules import SCHEDULES
from tensorweb.optim.optax_wrappers import *
from tensorweb.optim.optax_wrappers import (
    WRAPPERS,
    GradientTransformation,
    OfPart,
    map_floats,
    zero_steps,
)
from tensorweb.optim.optimizers import SGD, Adam, Lion
from tensorweb.optim.schedules import Schedule
from tensorweb.optim.state import incremented
from tensorweb.public_names import answer_unknown, declare_public
from tensorweb.tensor import Tensor
from tensorweb.transforms.inputs import is_float

losses = optax_losses

Rate: TypeAlias = float | Schedule
"""A learning rate, or a function from the count of steps to it."""


def apply_updates(params: Any, updates: Any) -> Any:
    """Return the sums of parameters and updates, in the parameters' dtypes.

    >>> tw.optim.optax.apply_updates([tw.ones(2)], [tw.ones(2)])
    [tensor([2., 2.])]
    """

    def added(param: Any, update: Any) -> Any:
        return (param + update).astype(param.dtype) if is_float(update) else param

    return tree.map(added, params, updates)


def chain(*transforms: GradientTransformation) -> GradientTransformation:
    """Return the transformation by several, one after another.

    Its `update` ignores further keywords.

    Raises:
        DataError: by `update`, the state is that of another count of transformations.

    >>> optax = tw.optim.optax
    >>> opt = optax.chain(optax.clip(1.0), optax.scale(-0.5))
    >>> opt.update(tw.asarray([4.0, 0.5]), opt.init(tw.zeros(2)))[0]
    tensor([-0.5 , -0.25])
    """

    def init(params: Any) -> tuple[Any, ...]:
        return tuple(transform.init(params) for transform in transforms)

    # Some transformations of Optax read further values, such as the loss.
    def update(
        updates: Any, state: Any, params: Any = None, **extra_args: Any
    ) -> tuple[Any, Any]:
        if len(state) != len(transforms):
            raise DataError(
                f"update: a state of {len(state)} parts for {len(transforms)} "
                "transformations; give opt.init(params), and then what update returns."
            )
        states = []
        for transform, old in zip(transforms, state, strict=True):
            updates, new = transform.update(updates, old, params)
            states.append(new)
        return updates, tuple(states)

    return GradientTransformation(init, update)


def _stateless(function: Callable[[Any, Any], Any]) -> GradientTransformation:
    """Return the transformation by a function of gradients and parameters."""
    return GradientTransformation(
        lambda params: (),
        lambda updates, state, params=None: (function(updates, params), state),
    )


def _by_leaf(function: Callable[[Tensor], Tensor]) -> GradientTransformation:
    return _stateless(lambda updates, _: map_floats(function, updates))


def _along(optimizer: Any) -> GradientTransformation:
    """Return the direction of an optimiser that ascends at the rate 1."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        moved: tuple[Any, Any] = optimizer.update(
            map_floats(zeros_like, updates), updates, state
        )
        return moved

    return GradientTransformation(
        lambda params: optimizer.init(map_floats(zeros_like, params)), update
    )


def identity() -> GradientTransformation:
    """Return the transformation that changes nothing.

    >>> tw.optim.optax.identity().update(tw.ones(2), ())[0]
    tensor([1., 1.])
    """
    return _by_leaf(lambda leaf: leaf)


def set_to_zero() -> GradientTransformation:
    """Return the transformation to zeros, for frozen parameters.

    >>> tw.optim.optax.set_to_zero().update(tw.ones(2), ())[0]
    tensor([0., 0.])
    """
    return _by_leaf(zeros_like)


def scale(step_size: float) -> GradientTransformation:
    """Return the transformation that multiplies by a number.

    >>> tw.optim.optax.scale(-0.5).update(tw.ones(2), ())[0]
    tensor([-0.5, -0.5])
    """
    return _stateless(lambda updates, _: _times(updates, step_size))


def clip(max_delta: float) -> GradientTransformation:
    """Return the transformation that clips each element to `[-max_delta, max_delta]`.

    >>> tw.optim.optax.clip(1.0).update(tw.asarray([4.0, -0.5]), ())[0]
    tensor([ 1. , -0.5])
    """
    return _by_leaf(lambda leaf: clip_elements(leaf, -max_delta, max_delta))


def clip_by_global_norm(max_norm: float) -> GradientTransformation:
    """Return the transformation that scales to a global norm of at most `max_norm`.

    >>> opt = tw.optim.optax.clip_by_global_norm(1.0)
    >>> opt.update([tw.asarray([3.0]), tw.asarray([-4.0])], ())[0]
    [tensor([0.6]), tensor([-0.8])]
    """

    def clipped(updates: Any, _: Any) -> Any:
        norm = global_norm(updates)
        factor = where(norm < max_norm, 1.0, max_norm / norm)
        return _times(updates, factor)

    return _stateless(clipped)


def global_norm(updates: Any) -> Tensor:
    """Return the root of the sum of the squares of all elements, 0-d.

    >>> tw.optim.optax.global_norm([tw.asarray([3.0]), tw.asarray([4.0])])
    tensor(5.)
    """
    leaves = [leaf for leaf in tree.leaves(updates) if is_float(leaf)]
    squares = [(leaf * leaf.conj()).real.sum() for leaf in leaves]
    return sqrt(reduce(operator.add, squares)) if squares else asarray(0.0)


def add_decayed_weights(
    weight_decay: float = 0.0, mask: Any = None
) -> GradientTransformation:
    """Return the transformation that adds the parameters times `weight_decay`.

    Args:
        weight_decay: the factor.
        mask: a tree like the parameters of True and False, or a function from the
            parameters to it; None for all of them.

    Raises:
        DataError: `update` was given no parameters.

    >>> opt = tw.optim.optax.add_decayed_weights(0.5)
    >>> opt.update(tw.ones(2), (), tw.asarray([2.0, 4.0]))[0]
    tensor([2., 3.])
    """

    def decayed(updates: Any, params: Any) -> Any:
        if params is None:
            raise DataError(
                "add_decayed_weights: it needs the parameters; write "
                "opt.update(grads, state, params)."
            )
        chosen = mask(params) if callable(mask) else mask
        labels = combination.labels_of(
            "add_decayed_weights", True if chosen is None else chosen, params
        )
        chosen = tree.unflatten(tree.flatten(params)[1], labels)
        return map_floats(
            lambda leaf, param, is_decayed: leaf + param if is_decayed else leaf,
            *(updates, _times(params, weight_decay), chosen),
        )

    return _stateless(decayed)


def _times(updates: Any, factor: float | Tensor) -> Any:
    """Return updates times a number or a 0-d tensor, in their dtypes."""

    def scaled(leaf: Tensor) -> Tensor:
        if isinstance(factor, Tensor):
            return leaf * factor.astype(leaf.dtype.part)
        return leaf * factor

    return map_floats(scaled, updates)


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Return the transformation that multiplies by a function of the count of steps.

    >>> opt = tw.optim.optax.scale_by_schedule(lambda count: 0.5**count)
    >>> state = opt.init(tw.ones(1))
    >>> _, state = opt.update(tw.ones(1), state)
    >>> opt.update(tw.ones(1), state)[0]
    tensor([0.5])
    """

    def update(updates: Any, state: Tensor, params: Any = None) -> tuple[Any, Tensor]:
        factor = step_size_fn(state.astype("float32"))
        factor = asarray(factor, device=state.device)
        return _times(updates, factor), incremented(state)

    return GradientTransformation(zero_steps, update)


def scale_by_learning_rate(
    learning_rate: Rate, *, flip_sign: bool = True
) -> GradientTransformation:
    """Return the transformation that multiplies by the negative learning rate.

    Args:
        learning_rate: a number, or a function of the count of steps.
        flip_sign: False for the learning rate itself.

    >>> tw.optim.optax.scale_by_learning_rate(0.5).update(tw.ones(2), ())[0]
    tensor([-0.5, -0.5])
    """
    sign = -1.0 if flip_sign else 1.0
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)


def trace(decay: float, nesterov: bool = False) -> GradientTransformation:
    """Return the transformation to momentum, `b ← decay·b + g`.

    >>> opt = tw.optim.optax.trace(0.5)
    >>> _, state = opt.update(tw.ones(1), opt.init(tw.ones(1)))
    >>> opt.update(tw.ones(1), state)[0]
    tensor([1.5])
    """
    return _along(SGD(lr=1.0, momentum=decay, nesterov=nesterov, maximize=True))


def scale_by_adam(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Return the transformation to the direction of `tw.optim.Adam`.

    >>> opt = tw.optim.optax.scale_by_adam()
    >>> updates, state = opt.update(tw.asarray([4.0, -0.5]), opt.init(tw.zeros(2)))
    >>> [round(update, 6) for update in updates.tolist()]
    [1.0, -1.0]
    """
    return _along(Adam(lr=1.0, betas=(b1, b2), eps=eps, maximize=True))


def scale_by_lion(b1: float = 0.9, b2: float = 0.99) -> GradientTransformation:
    """Return the transformation to the direction of `tw.optim.Lion`.

    >>> opt = tw.optim.optax.scale_by_lion()
    >>> opt.update(tw.asarray([4.0, -0.5]), opt.init(tw.zeros(2)))[0]
    tensor([ 1., -1.])
    """
    return _along(Lion(lr=1.0, betas=(b1, b2), maximize=True))


def _by_squares(
    initial: float,
    new: Callable[[Tensor, Tensor], Tensor],
    scaled: Callable[[Tensor, Tensor], Tensor],
) -> GradientTransformation:
    """Return the transformation by sums of squares, which are the state."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        state = map_floats(new, state, updates)
        return map_floats(scaled, updates, state), state

    return GradientTransformation(
        lambda params: map_floats(lambda leaf: full_like(leaf, initial), params), update
    )


def scale_by_rms(
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
) -> GradientTransformation:
    """Return the transformation that divides by a moving root mean square.

    Args:
        decay: of the mean of squares.
        eps: keeps the divisor above 0.
        initial_scale: the mean at first.
        eps_in_sqrt: add `eps` before the root is taken, unlike `tw.optim.RMSprop`.

    >>> opt = tw.optim.optax.scale_by_rms(decay=0.75)
    >>> opt.update(tw.asarray([4.0, -0.5]), opt.init(tw.zeros(2)))[0]
    tensor([ 2., -2.])
    """
    return _by_squares(
        initial_scale,
        lambda mean, leaf: decay * mean + (1 - decay) * (leaf * leaf),
        lambda leaf, mean: (
            leaf / (sqrt(mean + eps) if eps_in_sqrt else sqrt(mean) + eps)
        ),
    )


def scale_by_rss(
    initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """Return the transformation that divides by the root of the sum of squares.

    Args:
        initial_accumulator_value: the sum at first.
        eps: keeps the divisor above 0.

    >>> opt = tw.optim.optax.scale_by_rss(initial_accumulator_value=9.0)
    >>> opt.update(tw.asarray([4.0]), opt.init(tw.zeros(1)))[0]
    tensor([0.8])
    """
    return _by_squares(
        initial_accumulator_value,
        lambda total, leaf: total + leaf * leaf,
        lambda leaf, total: where(total > 0, leaf / sqrt(total + eps), 0.0),
    )


# Parts of a tree.


def scale_by_trust_ratio(
    min_norm: float = 0.0, trust_coefficient: float = 1.0, eps: float = 0.0
) -> GradientTransformation:
    """Return the transformation that gives each tensor the norm of its parameter.

    You, Li, Reddi, Hseu and others, "Large batch optimization for deep learning:
    training BERT in 76 minutes", 2020.

    Args:
        min_norm: the least norm that a tensor counts with.
        trust_coefficient: a factor of the norms.
        eps: added to the norms of updates.

    Raises:
        DataError: `update` was given no parameters.

    >>> opt = tw.optim.optax.scale_by_trust_ratio()
    >>> opt.update(tw.asarray([3.0, 4.0]), (), tw.asarray([0.0, 1.0]))[0]
    tensor([0.6, 0.8])
    """

    def norm(x: Tensor) -> Tensor:
        return maximum(sqrt((x * x).sum()), min_norm)

    def scaled(update: Tensor, param: Tensor) -> Tensor:
        own, target = norm(update), norm(param)
        # A tensor of zeros has no direction, or no norm to take.
        is_zero = (own == 0) | (target == 0)
        ratio = trust_coefficient * target / (where(is_zero, 1.0, own) + eps)
        return update * where(is_zero, 1.0, ratio)

    def with_norms(updates: Any, params: Any) -> Any:
        if params is None:
            raise DataError(
                "scale_by_trust_ratio: it needs the parameters; write "
                "opt.update(grads, state, params)."
            )
        return map_floats(scaled, updates, params)

    return _stateless(with_norms)


def multi_transform(
    transforms: Mapping[Hashable, GradientTransformation], param_labels: Any
) -> GradientTransformation:
    """Return a transformation for each label of parameters.

    Args:
        transforms: transformations by label.
        param_labels: a tree like the parameters with a label for each leaf or subtree,
            or a function from the parameters to it.

    Raises:
        DataError: labels and parameters are different trees.

    >>> optax = tw.optim.optax
    >>> opt = optax.multi_transform(
    ...     {"fast": optax.sgd(1.0), "none": optax.set_to_zero()}, ["fast", "none"]
    ... )
    >>> params = [tw.ones(1), tw.ones(1)]
    >>> opt.update(params, opt.init(params), params)[0]
    [tensor([-1.]), tensor([0.])]
    """
    parts = combination.multi_transform(
        {label: OfPart(inner) for label, inner in transforms.items()}, param_labels
    )

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        params = updates if params is None else params
        moved, state = parts.update(params, updates, state)
        # A leaf of no label is the parameter itself.
        moved = tree.map(
            lambda new, param, old: old if new is param else new, moved, params, updates
        )
        return moved, state

    return GradientTransformation(parts.init, update)


def masked(inner: GradientTransformation, mask: Any) -> GradientTransformation:
    """Return the transformation of the leaves whose mask is true; others stay.

    Args:
        inner: the transformation.
        mask: a tree like the parameters of True and False, or a function from the
            parameters to it.

    >>> opt = tw.optim.optax.masked(tw.optim.optax.scale(2.0), [True, False])
    >>> opt.update([tw.ones(1), tw.ones(1)], opt.init([tw.ones(1), tw.ones(1)]))[0]
    [tensor([2.]), tensor([1.])]
    """
    return multi_transform({True: inner}, mask)


# Optimisers.


def _descent(
    learning_rate: Rate, *direction: GradientTransformation
) -> GradientTransformation:
    return chain(*direction, scale_by_learning_rate(learning_rate))


def sgd(
    learning_rate: Rate, momentum: float | None = None, nesterov: bool = False
) -> GradientTransformation:
    """Return `tw.optim.SGD` as a transformation.

    >>> opt = tw.optim.optax.sgd(0.5, momentum=0.9)
    >>> opt.update(tw.ones(1), opt.init(tw.ones(1)))[0]
    tensor([-0.5])
    """
    first = identity() if momentum is None else trace(momentum, nesterov)
    return _descent(learning_rate, first)


def adam(
    learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Return `tw.optim.Adam` as a transformation.

    >>> opt = tw.optim.optax.adam(0.5)
    >>> updates, state = opt.update(tw.asarray([4.0, -0.5]), opt.init(tw.zeros(2)))
    >>> [round(update, 6) for update in updates.tolist()]
    [-0.5, 0.5]
    """
    return _descent(learning_rate, scale_by_adam(b1, b2, eps))


def adamw(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-4,
    mask: Any = None,
) -> GradientTransformation:
    """Return `tw.optim.AdamW` as a transformation; Optax decays by 0.0001.

    >>> opt = tw.optim.optax.adamw(0.5, weight_decay=0.25)
    >>> updates, state = opt.update(tw.ones(1), opt.init(tw.ones(1)), tw.ones(1))
    >>> round(updates.item(), 6)
    -0.625
    """
    decay = add_decayed_weights(weight_decay, mask)
    return _descent(learning_rate, scale_by_adam(b1, b2, eps), decay)


def rmsprop(
    learning_rate: Rate,
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
    momentum: float | None = None,
    nesterov: bool = False,
) -> GradientTransformation:
    """Return RMSprop as Optax computes it, see `scale_by_rms`.

    >>> opt = tw.optim.optax.rmsprop(0.5, decay=0.75)
    >>> opt.update(tw.asarray([4.0, -0.5]), opt.init(tw.zeros(2)))[0]
    tensor([-1.,  1.])
    """
    direction = scale_by_rms(decay, eps, initial_scale, eps_in_sqrt)
    descent = _descent(learning_rate, direction)
    return descent if momentum is None else chain(descent, trace(momentum, nesterov))


def adagrad(
    learning_rate: Rate, initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """Return Adagrad as Optax computes it, see `scale_by_rss`.

    >>> opt = tw.optim.optax.adagrad(0.5, initial_accumulator_value=9.0)
    >>> opt.update(tw.asarray([4.0]), opt.init(tw.zeros(1)))[0]
    tensor([-0.4])
    """
    return _descent(learning_rate, scale_by_rss(initial_accumulator_value, eps))


def lion(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.99,
    weight_decay: float = 1e-3,
    mask: Any = None,
) -> GradientTransformation:
    """Return `tw.optim.Lion` as a transformation; Optax decays by 0.001.

    >>> opt = tw.optim.optax.lion(0.5, weight_decay=0.0)
    >>> opt.update(tw.ones(1), opt.init(tw.ones(1)), tw.ones(1))[0]
    tensor([-0.5])
    """
    decay = add_decayed_weights(weight_decay, mask)
    return _descent(learning_rate, scale_by_lion(b1, b2), decay)


def lamb(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    mask: Any = None,
) -> GradientTransformation:
    """Return LAMB: Adam whose steps have the norms of the parameters.

    See `scale_by_trust_ratio`.

    >>> opt = tw.optim.optax.lamb(0.5)
    >>> opt.update(tw.ones(4), opt.init(tw.ones(4)), tw.ones(4))[0]
    tensor([-0.5, -0.5, -0.5, -0.5])
    """
    decay = add_decayed_weights(weight_decay, mask)
    direction = chain(scale_by_adam(b1, b2, eps), decay)
    return _descent(learning_rate, direction, scale_by_trust_ratio())


declare_public(__name__, "incremental_update", "losses", *LOSSES, *SCHEDULES, *WRAPPERS)
answer_unknown(__name__)
