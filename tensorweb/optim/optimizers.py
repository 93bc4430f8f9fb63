"""The optimisers and their options."""

from __future__ import annotations

from tensorweb.errors import DataError
from tensorweb.optim.checks import finite, positive, share, two_shares
from tensorweb.optim.optimizer import Optimizer
from tensorweb.optim.options import Rate


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
        *,
        lr: Rate = 1e-3,
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
        super().__init__(
            params,
            lr,
            momentum=positive("SGD", "momentum", momentum),
            dampening=finite("SGD", "dampening", dampening),
            nesterov=bool(nesterov),
            weight_decay=positive("SGD", "weight_decay", weight_decay),
            maximize=bool(maximize),
        )


class Adam(Optimizer):
    """Adam: steps of about the learning rate, regardless of the gradients' scale.

    `m` and `v` are exponential moving averages of gradients and of their squares, `m̂`
    and `v̂` their bias-corrected values: `p ← p - lr·m̂ / (√v̂ + eps)`. Kingma and Ba
    2014.

    >>> opt = tw.optim.Adam(lr=0.125)
    >>> params = {"w": tw.asarray([1.0, 2.0])}
    >>> grads = {"w": tw.asarray([0.5, -8.0])}
    >>> params, state = opt.update(params, grads, opt.init(params))
    >>> [round(number, 4) for number in params["w"].tolist()]
    [0.875, 2.125]
    """

    def __init__(
        self,
        params: object = None,
        *,
        lr: Rate = 1e-3,
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
        name = type(self).__name__
        super().__init__(
            params,
            lr,
            betas=two_shares(name, "betas", betas),
            eps=positive(name, "eps", eps),
            weight_decay=positive(name, "weight_decay", weight_decay),
            amsgrad=bool(amsgrad),
            maximize=bool(maximize),
        )


class AdamW(Adam):
    """Adam with decoupled weight decay.

    `p ← p·(1 - lr·weight_decay)` before the step. Loshchilov and Hutter 2017.

    >>> tw.optim.AdamW(lr=0.001).options["weight_decay"]
    0.01
    """

    def __init__(
        self,
        params: object = None,
        *,
        lr: Rate = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        maximize: bool = False,
    ) -> None:
        """Make an optimiser; see `Adam`."""
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
        )


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
        *,
        lr: Rate = 1e-2,
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
        super().__init__(
            params,
            lr,
            alpha=share("RMSprop", "alpha", alpha),
            eps=positive("RMSprop", "eps", eps),
            weight_decay=positive("RMSprop", "weight_decay", weight_decay),
            momentum=positive("RMSprop", "momentum", momentum),
            centered=bool(centered),
            maximize=bool(maximize),
        )


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
        *,
        lr: Rate = 1e-2,
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
        super().__init__(
            params,
            lr,
            lr_decay=positive("Adagrad", "lr_decay", lr_decay),
            weight_decay=positive("Adagrad", "weight_decay", weight_decay),
            initial_accumulator_value=positive(
                "Adagrad", "initial_accumulator_value", initial_accumulator_value
            ),
            eps=positive("Adagrad", "eps", eps),
            maximize=bool(maximize),
        )


class Lion(Optimizer):
    """Lion: steps of exactly the learning rate, along the sign of a moving average.

    `p ← p - lr·sign(β₁m + (1 - β₁)g)`, then `m ← β₂m + (1 - β₂)g`; weight decay is that
    of AdamW. Chen et al. 2023.

    >>> opt = tw.optim.Lion(lr=0.125)
    >>> params = tw.asarray([1.0, 2.0])
    >>> opt.update(params, tw.asarray([3.0, -0.1]), opt.init(params))[0]
    tensor([0.875, 2.125])
    """

    def __init__(
        self,
        params: object = None,
        *,
        lr: Rate = 1e-4,
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
        super().__init__(
            params,
            lr,
            betas=two_shares("Lion", "betas", betas),
            weight_decay=positive("Lion", "weight_decay", weight_decay),
            maximize=bool(maximize),
        )
