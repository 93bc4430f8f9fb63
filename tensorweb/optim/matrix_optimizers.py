"""Optimisers whose rule needs the shape of a parameter: Adafactor and Muon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from tensorweb.dtypes import finfo
from tensorweb.errors import DataError
from tensorweb.functions import maximum, minimum, sqrt
from tensorweb.optim.optimizer import Moments, Optimizer, Options, Update
from tensorweb.optim.options import CHECKS, Check, epsilons
from tensorweb.optim.schedules import Rate
from tensorweb.optim.state import Group
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor


class Adafactor(Optimizer):
    """Adafactor: `v` of a matrix as the product of a column and a row.

    The decay of the averages is `1 - t^beta2_decay`, and the step
    `min(lr, 1/√t)·max(eps[1], rms(p))·u / max(1, rms(u) / d)` with `u = g / √v`. So
    `lr` is an upper limit, relative to the parameter's size. Shazeer and Stern 2018.

    >>> opt = tw.optim.Adafactor(lr=0.125)
    >>> params = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> state = opt.init(params)
    >>> state.groups[0].moments["row"].shape
    (2,)
    >>> params, state = opt.update(params, tw.ones((2, 2)), state)
    >>> [round(number, 3) for number in params[0].tolist()]
    [0.658, 1.658]
    """

    _is_elementwise = False
    _checks: ClassVar[Mapping[str, Check]] = {**CHECKS, "eps": epsilons}

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-2,
        *,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            beta2_decay: the decay rate of step t is 1 - t to this power.
            eps: the smallest root of `v`, None for that of the dtype; and the smallest
                size of a parameter that a step is relative to.
            d: the largest root mean square of a step before its scaling.
            weight_decay: decay rate of the parameter, times the learning rate.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range, or a parameter is complex.
        """
        self._begin(locals())

    def _start_group(
        self,
        index: int,
        options: Options,
        names: Sequence[str],
        leaves: Sequence[Tensor],
    ) -> tuple[Group, ...]:
        _check_real("Adafactor", names, leaves)
        return super()._start_group(index, options, names, leaves)

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"row": 0.0, "column": 0.0}

    def _updated(self, update: Update) -> tuple[Tensor, Moments]:
        """Return a parameter after a step whose size is that before weight decay."""
        options, rate, t, p, g, moments = update
        if options["maximize"]:
            g = -g
        smallest, smallest_size = options["eps"]
        if smallest is None:
            smallest = float(finfo(p.dtype).eps)
        weight = t ** options["beta2_decay"]
        size = maximum(_root_mean_square(p), smallest_size)
        if options["weight_decay"]:
            p = p * (1 - rate * options["weight_decay"])
        row, column = moments["row"], moments["column"]
        if p.ndim > 1:
            square = g * g
            row = row + (square.mean(axis=-1, keepdims=True) - row) * weight
            column = column + (square.mean(axis=-2, keepdims=True) - column) * weight
            mean = maximum(row.mean(axis=-2, keepdims=True), smallest)
            variance = row * column / mean
        else:
            variance = row = row + (g * g - row) * weight
        step = g / sqrt(maximum(variance, smallest * smallest))
        limit = maximum(_root_mean_square(step) / options["d"], 1.0)
        scale = minimum(rate, 1 / sqrt(t)) * size / limit
        return p - scale * step, {"row": row, "column": column}


class Muon(Optimizer):
    """Muon: matrices move along the orthogonal matrix next to their momentum.

    `b ← momentum·b + (1 - momentum)g`; the orthogonal factor of `b`, or with `nesterov`
    of `g + momentum·(b - g)`, by `ns_steps` iterations of Newton and Schulz. PyTorch
    rounds them to bfloat16; here they have the parameter's precision. For matrices of
    hidden layers: give other parameters to `AdamW`. Jordan et al. 2024.

    >>> opt = tw.optim.Muon(lr=0.125, weight_decay=0.0)
    >>> params = tw.zeros((2, 2))
    >>> grads = tw.asarray([[2.0, 0.0], [0.0, -2.0]])
    >>> params, state = opt.update(params, grads, opt.init(params))
    >>> [round(number, 2) for number in params[0].tolist()]
    [-0.14, 0.0]
    """

    _has_decoupled_decay = True
    _is_elementwise = False

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-3,
        *,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            weight_decay: decay rate of the parameter, times the learning rate.
            momentum: decay rate of the moving average.
            nesterov: Nesterov momentum.
            ns_coefficients: of the odd polynomial of an iteration.
            eps: the smallest norm by which the momentum is divided.
            ns_steps: count of iterations.
            adjust_lr_fn: how the rate follows the shape: `"original"`, which is None,
                `"match_rms_adamw"` or `"spectral_unclamped"`.

        Raises:
            DataError: an option is out of its range, or a parameter is no real matrix.
        """
        self._begin(locals())

    def _start_group(
        self,
        index: int,
        options: Options,
        names: Sequence[str],
        leaves: Sequence[Tensor],
    ) -> tuple[Group, ...]:
        _check_real("Muon", names, leaves)
        for name, leaf in zip(names, leaves, strict=True):
            if leaf.ndim != 2:
                raise DataError(
                    f"Muon: {name!r} has shape {leaf.shape}, and only matrices are "
                    "moved; give the others to tw.optim.AdamW."
                )
        return super()._start_group(index, options, names, leaves)

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"velocity": 0.0}

    # b ← μb + (1 - μ)g;  p ← p - η·scale·orthogonal(b, or g + μ(b - g))
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, _, p, g, moments = update
        momentum, velocity = options["momentum"], moments["velocity"]
        velocity = velocity + (g - velocity) * (1 - momentum)
        step = g + (velocity - g) * momentum if options["nesterov"] else velocity
        step = _orthogonal(step, options) * _scale(p.shape, options["adjust_lr_fn"])
        return p - rate * step, {"velocity": velocity}


def _orthogonal(matrix: Tensor, options: Options) -> Tensor:
    """Return about the orthogonal factor: singular values between 0.5 and 1.5."""
    first, second, third = options["ns_coefficients"]
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if is_tall else matrix
    x = x / maximum(sqrt((x * x).sum()), options["eps"])
    for _ in range(options["ns_steps"]):
        gram = x @ x.T
        x = first * x + (second * gram + third * (gram @ gram)) @ x
    return x.T if is_tall else x


def _scale(shape: tuple[int, ...], kind: str | None) -> float:
    """Return the factor of the learning rate for a shape."""
    rows, columns = shape
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    ratio = rows / max(columns, 1)
    return math.sqrt(ratio if kind == "spectral_unclamped" else max(1.0, ratio))


def _root_mean_square(x: Tensor) -> Tensor:
    return sqrt((x * x).mean())


def _check_real(name: str, names: Sequence[str], leaves: Sequence[Tensor]) -> None:
    for path, leaf in zip(names, leaves, strict=True):
        if leaf.dtype.kind == "complex":
            raise DataError(f"{name}: {path!r} is complex; it moves real parameters.")


declare_public(__name__)
