"""The optimisers: their options and update rules.

In the formulas `p` is the parameter, `g` its gradient, `η` the learning rate and `t`
the index of this step, 1 for the first.
"""

from __future__ import annotations

import math

from tensorweb.errors import DataError
from tensorweb.functions import abs, exp, expm1, maximum, sign, sqrt, where
from tensorweb.optim.optimizer import Moments, Optimizer, Options, Update
from tensorweb.optim.schedules import Rate
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor


def _moving_average(old: Tensor, new: Tensor, decay: float) -> Tensor:
    """Return `decay · old + (1 - decay) · new`."""
    return old + (new - old) * (1 - decay)


def _bias_correction(decay: float, count: Tensor) -> Tensor | float:
    """Return `1 - decay^t`, accurate if it is small."""
    return -expm1(count * math.log(decay)) if decay else 1.0


def _adam_moments(update: Update) -> tuple[Tensor, Tensor]:
    """Return the moving averages of gradients and of their squares after a step."""
    first_decay, second_decay = update.options["betas"]
    g, moments = update.g, update.moments
    first = _moving_average(moments["first"], g, first_decay)
    return first, second_decay * moments["second"] + (1 - second_decay) * (g * g)


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    `b ← momentum·b + (1 - dampening)·g`, `p ← p - lr·b`; with `nesterov` against
    `g + momentum·b`. Sutskever et al. 2013.

    >>> opt = tw.optim.SGD(lr=0.1, momentum=0.9)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.ones(2), opt.init(params))
    >>> params
    tensor([0.9, 1.9])
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-3,
        *,
        momentum: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            momentum: factor of the previous step, at least 0.
            dampening: fraction of the gradient omitted from the momentum.
            nesterov: Nesterov momentum; requires momentum and no dampening.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        if nesterov and (not momentum or dampening):
            raise DataError(
                "SGD: nesterov=True needs momentum above 0 and dampening=0, and they "
                f"are {momentum} and {dampening}."
            )
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"velocity": 0.0} if options["momentum"] else {}

    # b ← g in the first step, else μb + (1 - τ)g;  p ← p - η(g + μb or b)
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, g, moments = update
        momentum, dampening = options["momentum"], options["dampening"]
        if not momentum:
            return p - rate * g, {}
        new = g
        if dampening:
            new = where(t == 1, g, g * (1 - dampening))
        velocity = momentum * moments["velocity"] + new
        step = g + momentum * velocity if options["nesterov"] else velocity
        return p - rate * step, {"velocity": velocity}


class Adam(Optimizer):
    """Adam: steps of about the learning rate, regardless of the gradients' scale.

    `m` and `v` are exponential moving averages of gradients and of their squares, `m̂`
    and `v̂` their bias-corrected values: `p ← p - lr·m̂ / (√v̂ + eps)`. Kingma and Ba
    2014.

    With a model, `step` changes its parameters by their gradients:

    >>> x = tw.linspace(-1.0, 1.0, 20)[:, None]
    >>> model = tw.nn.Linear(1, 1)
    >>> opt = tw.optim.Adam(model.parameters(), lr=0.1)
    >>> for _ in range(300):
    ...     loss = ((model(x) - (3 * x + 1)) ** 2).mean()
    ...     opt.zero_grad()
    ...     loss.backward()
    ...     opt.step()
    >>> [round(number.item(), 2) for number in model.parameters()]
    [3.0, 1.0]

    Without one, `update` is a function of parameters, gradients and state:

    >>> opt = tw.optim.Adam(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.asarray([0.5, -8.0]), opt.init(params))
    >>> [round(number, 4) for number in params.tolist()]
    [0.875, 2.125]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: decay rates of both moving averages, below 1.
            eps: added to the denominator.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            amsgrad: use the maximum of all past `v`. Reddi, Kale and Kumar 2018.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        names = ("first", "second", *(("largest",) if options["amsgrad"] else ()))
        return dict.fromkeys(names, 0.0)

    # m ← β₁m + (1 - β₁)g;  v ← β₂v + (1 - β₂)g²
    # p ← p - η · m/(1 - β₁ᵗ) / (√(v/(1 - β₂ᵗ)) + ε); amsgrad: the largest v so far
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, _, moments = update
        first_decay, second_decay = options["betas"]
        first, second = _adam_moments(update)
        updated = {"first": first, "second": second}
        if options["amsgrad"]:
            updated["largest"] = second = maximum(moments["largest"], second)
        rate = rate / _bias_correction(first_decay, t)
        correction = _bias_correction(second_decay, t)
        deviation = sqrt(second) / sqrt(correction) + options["eps"]
        return p - rate * first / deviation, updated


class AdamW(Adam):
    """Adam with decoupled weight decay.

    `p ← p·(1 - lr·weight_decay)` before the step. Loshchilov and Hutter 2017.

    >>> tw.optim.AdamW(lr=0.001).options["weight_decay"]
    0.01
    """

    _has_decoupled_decay = True

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: decay rates of both moving averages, below 1.
            eps: added to the denominator.
            weight_decay: decay rate of the parameter, times the learning rate.
            amsgrad: use the maximum of all past `v`. Reddi, Kale and Kumar 2018.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())


class NAdam(Optimizer):
    """Adam with Nesterov momentum, which grows from half of `betas[0]`.

    With `μₜ = β₁(1 - 0.96^(t·momentum_decay) / 2)`, `πₜ` the product of `μ₁` to `μₜ`:
    `p ← p - lr·((1 - μₜ)g / (1 - πₜ) + μₜ₊₁m / (1 - πₜ₊₁)) / (√v̂ + eps)`. Dozat 2016.

    >>> opt = tw.optim.NAdam(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.asarray([0.5, -8.0]), opt.init(params))
    >>> [round(number, 3) for number in params.tolist()]
    [0.868, 2.132]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 2e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: decay rates of both moving averages, below 1.
            eps: added to the denominator.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            momentum_decay: how fast the momentum grows to its last value.
            decoupled_weight_decay: shrink the parameter instead, as in AdamW.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        # The product is one number; a moment of full size keeps it with its group.
        return {"first": 0.0, "second": 0.0, "product": 1.0}

    # π ← πμₜ;  p ← p - η((1 - μₜ)g/(1 - π) + μₜ₊₁m/(1 - πμₜ₊₁)) / (√v̂ + ε)
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, g, moments = update
        growth = options["momentum_decay"] * math.log(0.96)
        first_decay, second_decay = options["betas"]
        mu, next_mu = (
            first_decay * (1 - 0.5 * exp(count * growth)) for count in (t, t + 1)
        )
        first, second = _adam_moments(update)
        product = moments["product"] * mu
        deviation = sqrt(second / _bias_correction(second_decay, t)) + options["eps"]
        step = g * ((1 - mu) / (1 - product))
        step = step + first * (next_mu / (1 - product * next_mu))
        updated = {"first": first, "second": second, "product": product}
        return p - rate * step / deviation, updated


class RAdam(Optimizer):
    """Adam that takes plain steps until the variance of `v` is small enough.

    With `n = 2 / (1 - β₂) - 1` and `nₜ = n - 2tβ₂ᵗ / (1 - β₂ᵗ)`, the step is `lr·m̂` up
    to `nₜ = 5`, then `lr·r·m̂ / ((√v + eps) / √(1 - β₂ᵗ))` with the rectification `r`.
    Liu et al. 2019.

    >>> opt = tw.optim.RAdam(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.asarray([0.5, -8.0]), opt.init(params))
    >>> [round(number, 4) for number in params.tolist()]
    [0.9375, 3.0]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: decay rates of both moving averages, below 1.
            eps: added to the denominator.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            decoupled_weight_decay: shrink the parameter instead, as in AdamW.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"first": 0.0, "second": 0.0}

    # r = √((nₜ - 4)(nₜ - 2)n / ((n - 4)(n - 2)nₜ))
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, *_ = update
        first_decay, second_decay = options["betas"]
        first, second = _adam_moments(update)
        correction = _bias_correction(second_decay, t)
        limit = 2 / (1 - second_decay) - 1
        length = limit - 2 * t * (1 - correction) / correction
        ratio = (length - 4) * (length - 2) * limit
        ratio = ratio / ((limit - 4) * (limit - 2) * length)
        is_long = length > 5
        # The other branch stays finite, so that a derivative through it does as well.
        factor = sqrt(where(is_long, ratio * correction, 1.0))
        factor = where(is_long, factor / (sqrt(second) + options["eps"]), 1.0)
        step = first / _bias_correction(first_decay, t) * factor
        return p - rate * step, {"first": first, "second": second}


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the root of squares.

    `u ← max(β₂u, |g| + eps)`, `p ← p - lr·m̂ / u`. Kingma and Ba 2014.

    >>> opt = tw.optim.Adamax(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.asarray([0.5, -8.0]), opt.init(params))
    >>> [round(number, 4) for number in params.tolist()]
    [0.875, 2.125]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 2e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: decay rates of both moving averages, below 1.
            eps: added to the magnitude of the gradient.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"first": 0.0, "largest": 0.0}

    # m ← β₁m + (1 - β₁)g;  u ← max(β₂u, |g| + ε);  p ← p - η · m/(1 - β₁ᵗ) / u
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, g, moments = update
        first_decay, decay = options["betas"]
        first = _moving_average(moments["first"], g, first_decay)
        largest = maximum(decay * moments["largest"], abs(g) + options["eps"])
        rate = rate / _bias_correction(first_decay, t)
        return p - rate * first / largest, {"first": first, "largest": largest}


class Adadelta(Optimizer):
    """Adadelta: steps in the units of the parameter, without a rate to choose.

    `v ← rho·v + (1 - rho)g²`, `d = g·√(u + eps) / √(v + eps)`,
    `u ← rho·u + (1 - rho)d²`, `p ← p - lr·d`. Zeiler 2012.

    >>> opt = tw.optim.Adadelta(eps=0.01)
    >>> params = tw.asarray([1.0, 2.0])
    >>> params, state = opt.update(params, tw.asarray([0.5, -8.0]), opt.init(params))
    >>> [round(number, 3) for number in params.tolist()]
    [0.733, 2.316]
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1.0,
        *,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            rho: decay rate of both moving averages, below 1.
            eps: added under both roots.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"square": 0.0, "step_square": 0.0}

    # v ← κv + (1 - κ)g²;  d = g√(u + ε)/√(v + ε);  u ← κu + (1 - κ)d²;  p ← p - ηd
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, _, p, g, moments = update
        rho, eps = options["rho"], options["eps"]
        square = rho * moments["square"] + (1 - rho) * (g * g)
        step = sqrt(moments["step_square"] + eps) / sqrt(square + eps) * g
        step_square = rho * moments["step_square"] + (1 - rho) * (step * step)
        return p - rate * step, {"square": square, "step_square": step_square}


class RMSprop(Optimizer):
    """RMSprop: gradients divided by the root of the moving average of their squares.

    `v ← alpha·v + (1 - alpha)·g²`, `p ← p - lr·g / (√v + eps)`. Tieleman and Hinton
    2012.

    >>> opt = tw.optim.RMSprop(lr=0.1, alpha=0.75)
    >>> params = tw.asarray([1.0, 2.0])
    >>> opt.update(params, tw.ones(2), opt.init(params))[0]
    tensor([0.8, 1.8])
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-2,
        *,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            alpha: decay rate of the moving average, below 1.
            eps: added to the denominator.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            momentum: factor of the previous step, at least 0.
            centered: divide by the standard deviation. Graves 2013.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        moments = {"square": 0.0}
        if options["centered"]:
            moments["mean"] = 0.0
        if options["momentum"]:
            moments["velocity"] = 0.0
        return moments

    # v ← κv + (1 - κ)g²;  centred: m ← κm + (1 - κ)g, and v - m² in place of v
    # p ← p - ηg/(√v + ε), with momentum b ← μb + g/(√v + ε), p ← p - ηb
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, _, p, g, moments = update
        decay, momentum = options["alpha"], options["momentum"]
        square = decay * moments["square"] + (1 - decay) * (g * g)
        updated = {"square": square}
        variance = square
        if options["centered"]:
            updated["mean"] = mean = _moving_average(moments["mean"], g, decay)
            variance = maximum(square - mean * mean, 0.0)
        step = g / (sqrt(variance) + options["eps"])
        if momentum:
            updated["velocity"] = step = momentum * moments["velocity"] + step
        return p - rate * step, updated


class Adagrad(Optimizer):
    """Adagrad: gradients divided by the root of the sum of all their squares.

    `v ← v + g²`, `p ← p - lr·g / (√v + eps)`. Duchi, Hazan and Singer 2011.

    >>> opt = tw.optim.Adagrad(lr=0.5)
    >>> params = tw.asarray([1.0, 2.0])
    >>> opt.update(params, tw.asarray([3.0, -3.0]), opt.init(params))[0]
    tensor([0.5, 2.5])
    """

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-2,
        *,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            lr_decay: the rate is divided by 1 + lr_decay times the step count.
            weight_decay: L2 penalty; times the parameter, added to its gradient.
            initial_accumulator_value: initial value of the sums.
            eps: added to the denominator.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"total": options["initial_accumulator_value"]}

    # v ← v + g²;  p ← p - η/(1 + (t - 1)δ) · g/(√v + ε)
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, t, p, g, moments = update
        total = moments["total"] + g * g
        if options["lr_decay"]:
            rate = rate / (1 + (t - 1) * options["lr_decay"])
        return p - rate * g / (sqrt(total) + options["eps"]), {"total": total}


class Lion(Optimizer):
    """Lion: steps of exactly the learning rate, along the sign of a moving average.

    `p ← p - lr·sign(β₁m + (1 - β₁)g)`, then `m ← β₂m + (1 - β₂)g`; weight decay is that
    of AdamW. Chen et al. 2023.

    >>> opt = tw.optim.Lion(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> opt.update(params, tw.asarray([3.0, -0.1]), opt.init(params))[0]
    tensor([0.875, 2.125])
    """

    _has_decoupled_decay = True

    def __init__(
        self,
        params: object = None,
        lr: Rate = 1e-4,
        *,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; with `params` it owns their state.

        Args:
            params: a model, a tree of tensors or several tensors, for `step`.
            lr: the learning rate, a number or a function of the step count.
            betas: weight of the average in a step, and its decay rate.
            weight_decay: decay rate of the parameter, times the learning rate.
            maximize: ascend the gradient instead of descending.

        Raises:
            DataError: an option is out of its range.
        """
        self._begin(locals())

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        return {"first": 0.0}

    # p ← p - η sign(β₁m + (1 - β₁)g);  m ← β₂m + (1 - β₂)g
    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        options, rate, _, p, g, moments = update
        step_decay, decay = options["betas"]
        step = sign(_moving_average(moments["first"], g, step_decay))
        first = _moving_average(moments["first"], g, decay)
        return p - rate * step, {"first": first}


declare_public(__name__)
