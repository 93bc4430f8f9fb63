"""Update rules: parameter, gradient and moments to the new parameter and moments.

A rule works on tensors of any shape, element by element; `tensorweb/optim/optimizer.py`
passes many parameters as one flat tensor. In the formulas `p` is the parameter, `g` its
gradient, `η` the learning rate and `t` the index of this step, 1 for the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorweb.functions import expm1, maximum, sign, sqrt, where
from tensorweb.graph.complex_pairs import pair_of
from tensorweb.graph.node import complex_of
from tensorweb.tensor import Tensor

Options: TypeAlias = Mapping[str, Any]
Moments: TypeAlias = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class StepContext:
    """Values shared by all parameters in a step, 0-d tensors.

    Attributes:
        rate: the learning rate `η`.
        count: the index of the step `t`, from 1.
    """

    rate: Tensor
    count: Tensor


@dataclass(frozen=True, slots=True)
class Rule:
    """The update rule of one optimiser.

    Attributes:
        move: takes options, step, `p`, `g` and moments; returns the new `p` and
            moments.
        moments: takes options; returns the names of the moments of a parameter.
        start: takes options; returns the moments' initial value.
        is_decoupled: whether `weight_decay` shrinks `p` itself; otherwise it is added
            to `g`, as the gradient of an L2 penalty.
    """

    move: Callable[
        [Options, StepContext, Tensor, Tensor, Moments], tuple[Tensor, Moments]
    ]
    moments: Callable[[Options], tuple[str, ...]]
    start: Callable[[Options], float] = lambda options: 0.0
    is_decoupled: bool = False


def apply_rule(
    rule: Rule,
    options: Options,
    context: StepContext,
    p: Tensor,
    g: Tensor,
    moments: Moments,
) -> tuple[Tensor, Moments]:
    """Return a parameter and its moments after a step.

    Real and imaginary parts of a complex parameter are updated independently.
    """
    if p.dtype.kind == "complex":
        parts = {name: _parts(moment) for name, moment in moments.items()}
        p, parts = apply_rule(rule, options, context, _parts(p), _parts(g), parts)
        return _from_parts(p), {
            name: _from_parts(moment) for name, moment in parts.items()
        }
    decay = options["weight_decay"]
    if options["maximize"]:
        g = -g
    if decay and rule.is_decoupled:
        p = p * (1 - context.rate * decay)
    elif decay:
        g = g + p * decay
    return rule.move(options, context, p, g, moments)


def _parts(x: Tensor) -> Tensor:
    """Return complex numbers as pairs along one more axis."""
    return Tensor(pair_of(x.node))


def _from_parts(pairs: Tensor) -> Tensor:
    return Tensor(complex_of(pairs.node))


def _interpolated(old: Tensor, new: Tensor, share: float) -> Tensor:
    """Return `share · old + (1 - share) · new`."""
    return old + (new - old) * (1 - share)


def _bias_correction(share: float, count: Tensor) -> Tensor | float:
    """Return `1 - share^t`, accurate if it is small."""
    return -expm1(count * math.log(share)) if share else 1.0


# b ← g in the first step, else μb + (1 - τ)g;  p ← p - η(g + μb or b)
def _sgd(
    options: Options, context: StepContext, p: Tensor, g: Tensor, moments: Moments
) -> tuple[Tensor, Moments]:
    momentum, dampening = options["momentum"], options["dampening"]
    if not momentum:
        return p - context.rate * g, {}
    new = g
    if dampening:
        new = where(context.count == 1, g, g * (1 - dampening))
    velocity = momentum * moments["velocity"] + new
    step = g + momentum * velocity if options["nesterov"] else velocity
    return p - context.rate * step, {"velocity": velocity}


# m ← β₁m + (1 - β₁)g;  v ← β₂v + (1 - β₂)g²
# p ← p - η · m/(1 - β₁ᵗ) / (√(v/(1 - β₂ᵗ)) + ε); amsgrad: with the largest v so far
def _adam(
    options: Options, context: StepContext, p: Tensor, g: Tensor, moments: Moments
) -> tuple[Tensor, Moments]:
    first_share, second_share = options["betas"]
    first = _interpolated(moments["first"], g, first_share)
    second = second_share * moments["second"] + (1 - second_share) * (g * g)
    found = {"first": first, "second": second}
    if options["amsgrad"]:
        found["largest"] = second = maximum(moments["largest"], second)
    size = context.rate / _bias_correction(first_share, context.count)
    spread = (
        sqrt(second) / sqrt(_bias_correction(second_share, context.count))
        + options["eps"]
    )
    return p - size * first / spread, found


# v ← κv + (1 - κ)g²;  centred: m ← κm + (1 - κ)g, and v - m² in place of v
# p ← p - ηg/(√v + ε), with momentum b ← μb + g/(√v + ε), p ← p - ηb
def _rmsprop(
    options: Options, context: StepContext, p: Tensor, g: Tensor, moments: Moments
) -> tuple[Tensor, Moments]:
    share, momentum = options["alpha"], options["momentum"]
    square = share * moments["square"] + (1 - share) * (g * g)
    found = {"square": square}
    spread = square
    if options["centered"]:
        found["mean"] = mean = _interpolated(moments["mean"], g, share)
        spread = maximum(square - mean * mean, 0.0)
    step = g / (sqrt(spread) + options["eps"])
    if momentum:
        found["velocity"] = step = momentum * moments["velocity"] + step
    return p - context.rate * step, found


# v ← v + g²;  p ← p - η/(1 + (t - 1)δ) · g/(√v + ε)
def _adagrad(
    options: Options, context: StepContext, p: Tensor, g: Tensor, moments: Moments
) -> tuple[Tensor, Moments]:
    total = moments["total"] + g * g
    rate = context.rate
    if options["lr_decay"]:
        rate = rate / (1 + (context.count - 1) * options["lr_decay"])
    return p - rate * g / (sqrt(total) + options["eps"]), {"total": total}


# p ← p - η sign(β₁m + (1 - β₁)g);  m ← β₂m + (1 - β₂)g
def _lion(
    options: Options, context: StepContext, p: Tensor, g: Tensor, moments: Moments
) -> tuple[Tensor, Moments]:
    step_share, share = options["betas"]
    step = sign(_interpolated(moments["first"], g, step_share))
    return p - context.rate * step, {"first": _interpolated(moments["first"], g, share)}


def _of_adam(options: Options) -> tuple[str, ...]:
    return ("first", "second", *(("largest",) if options["amsgrad"] else ()))


def _of_rmsprop(options: Options) -> tuple[str, ...]:
    names = ("mean",) if options["centered"] else ()
    return ("square", *names, *(("velocity",) if options["momentum"] else ()))


RULES: dict[str, Rule] = {
    "SGD": Rule(_sgd, lambda options: ("velocity",) if options["momentum"] else ()),
    "Adam": Rule(_adam, _of_adam),
    "AdamW": Rule(_adam, _of_adam, is_decoupled=True),
    "RMSprop": Rule(_rmsprop, _of_rmsprop),
    "Adagrad": Rule(
        _adagrad,
        lambda options: ("total",),
        start=lambda options: options["initial_accumulator_value"],
    ),
    "Lion": Rule(_lion, lambda options: ("first",), is_decoupled=True),
}
"""The rules by class name in `tensorweb/optim/optimizers.py`."""
