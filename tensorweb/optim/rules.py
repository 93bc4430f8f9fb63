"""Rules: what each optimiser does with a parameter, its gradient and what it keeps.

A rule works on tensors of any shape, element by element; `tensorweb/optim/optimizer.py`
gives it many parameters as one. In the formulas `p` is the parameter, `g` its gradient,
`η` the learning rate and `t` the number of this step, 1 for the first.
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
class Now:
    """What is the same for every parameter in a step, 0-d tensors.

    Attributes:
        rate: the learning rate `η`.
        count: the number of the step `t`.
    """

    rate: Tensor
    count: Tensor


@dataclass(frozen=True, slots=True)
class Rule:
    """One optimiser.

    Attributes:
        move: from options, step, `p`, `g` and moments to `p` and moments after it.
        moments: the names of what is kept for a parameter, by the options.
        start: what those are before the first step.
        is_decoupled: whether `weight_decay` shrinks `p` itself; else it is added to
            `g`, as the gradient of half a sum of squares.
    """

    move: Callable[[Options, Now, Tensor, Tensor, Moments], tuple[Tensor, Moments]]
    moments: Callable[[Options], tuple[str, ...]]
    start: Callable[[Options], float] = lambda options: 0.0
    is_decoupled: bool = False


def moved(
    rule: Rule, options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    """Return a parameter and its moments after a step.

    A complex one is moved as its parts are, which are numbers of their own.
    """
    if p.dtype.kind == "complex":
        parts = {name: _parts(moment) for name, moment in kept.items()}
        p, parts = moved(rule, options, now, _parts(p), _parts(g), parts)
        return _joined(p), {name: _joined(moment) for name, moment in parts.items()}
    decay = options["weight_decay"]
    if options["maximize"]:
        g = -g
    if decay and rule.is_decoupled:
        p = p * (1 - now.rate * decay)
    elif decay:
        g = g + p * decay
    return rule.move(options, now, p, g, kept)


def _parts(x: Tensor) -> Tensor:
    """Return complex numbers as pairs, with one axis more."""
    return Tensor(pair_of(x.node))


def _joined(pairs: Tensor) -> Tensor:
    return Tensor(complex_of(pairs.node))


def _mixed(old: Tensor, new: Tensor, share: float) -> Tensor:
    """Return `share · old + (1 - share) · new`."""
    return old + (new - old) * (1 - share)


def _grown(share: float, count: Tensor) -> Tensor | float:
    """Return `1 - share^t`, exact also where that is small."""
    return -expm1(count * math.log(share)) if share else 1.0


# b ← g in the first step, else μb + (1 - τ)g;  p ← p - η(g + μb or b)
def _sgd(
    options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    momentum, dampening = options["momentum"], options["dampening"]
    if not momentum:
        return p - now.rate * g, {}
    new = g
    if dampening:
        new = where(now.count == 1, g, g * (1 - dampening))
    velocity = momentum * kept["velocity"] + new
    step = g + momentum * velocity if options["nesterov"] else velocity
    return p - now.rate * step, {"velocity": velocity}


# m ← β₁m + (1 - β₁)g;  v ← β₂v + (1 - β₂)g²
# p ← p - η · m/(1 - β₁ᵗ) / (√(v/(1 - β₂ᵗ)) + ε); amsgrad: with the largest v so far
def _adam(
    options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    first_share, second_share = options["betas"]
    first = _mixed(kept["first"], g, first_share)
    second = second_share * kept["second"] + (1 - second_share) * (g * g)
    found = {"first": first, "second": second}
    if options["amsgrad"]:
        found["largest"] = second = maximum(kept["largest"], second)
    size = now.rate / _grown(first_share, now.count)
    spread = sqrt(second) / sqrt(_grown(second_share, now.count)) + options["eps"]
    return p - size * first / spread, found


# v ← κv + (1 - κ)g²;  centred: m ← κm + (1 - κ)g, and v - m² in place of v
# p ← p - ηg/(√v + ε), with momentum b ← μb + g/(√v + ε), p ← p - ηb
def _rmsprop(
    options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    share, momentum = options["alpha"], options["momentum"]
    square = share * kept["square"] + (1 - share) * (g * g)
    found = {"square": square}
    spread = square
    if options["centered"]:
        found["mean"] = mean = _mixed(kept["mean"], g, share)
        spread = maximum(square - mean * mean, 0.0)
    step = g / (sqrt(spread) + options["eps"])
    if momentum:
        found["velocity"] = step = momentum * kept["velocity"] + step
    return p - now.rate * step, found


# v ← v + g²;  p ← p - η/(1 + (t - 1)δ) · g/(√v + ε)
def _adagrad(
    options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    total = kept["total"] + g * g
    rate = now.rate
    if options["lr_decay"]:
        rate = rate / (1 + (now.count - 1) * options["lr_decay"])
    return p - rate * g / (sqrt(total) + options["eps"]), {"total": total}


# p ← p - η sign(β₁m + (1 - β₁)g);  m ← β₂m + (1 - β₂)g
def _lion(
    options: Options, now: Now, p: Tensor, g: Tensor, kept: Moments
) -> tuple[Tensor, Moments]:
    step_share, share = options["betas"]
    step = sign(_mixed(kept["first"], g, step_share))
    return p - now.rate * step, {"first": _mixed(kept["first"], g, share)}


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
"""By the name of the class in `tensorweb/optim/optimizers.py`."""
