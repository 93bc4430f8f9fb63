"""Optimisers: a rule, its options, and how both reach the parameters of a tree.

The functional style is `init` and `update`, values in and values out; an optimiser that
was given parameters keeps a state of its own and changes them in `step`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from tensorweb import dtypes
from tensorweb.errors import DataError, TraceError, TransformError
from tensorweb.functions import asarray
from tensorweb.graph.leaves import not_following
from tensorweb.graph.tracing import is_tracing, open_trace
from tensorweb.optim.clipping import clip_by_global_norm
from tensorweb.optim.options import FixedOptions, Rate, checked_rate, number_of_rate
from tensorweb.optim.parameters import (
    check_gradient,
    gradients_of,
    join_in_place,
    parameters_of,
)
from tensorweb.optim.rules import RULES, Now, moved
from tensorweb.optim.state import (
    Group,
    State,
    as_flat,
    check_belongs,
    computing_dtype,
    counted,
    finish_step,
    from_flat,
    groups_of,
    number,
    of_its_own,
    taken_over,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


class Optimizer:
    """What all optimisers do; `SGD`, `Adam` and the others name their options.

    Attributes:
        options: of the rule, by name; the learning rate is part of the state.
        params: the tensors that `step` changes, in order; empty without parameters.
        names: what each is called in messages and in `state_dict`.
        state: of these tensors, None without.
    """

    def __init_subclass__(cls) -> None:
        """Let trees and `jit` see into optimisers of every class."""
        register(cls)

    def __new__(cls, *_: object, **options: object) -> Self:
        """Refuse options that the optimiser has not."""
        if cls is Optimizer:
            raise DataError(
                "Optimizer: it has no rule of its own; use SGD, Adam or another one "
                "of tw.optim."
            )
        known = list(inspect.signature(cls.__init__).parameters)[1:]
        unknown = [name for name in options if name not in known]
        if unknown:
            raise DataError(
                f"{cls.__name__}: there is no option {unknown[0]!r}; the options are "
                f"{', '.join(known)}."
            )
        return super().__new__(cls)

    def __init__(self, params: object, lr: Rate, **options: Any) -> None:
        """Take options that the class has checked, and parameters or None.

        Raises:
            DataError: the learning rate is negative or not finite, or there are no
                parameters of floats.
        """
        self._rule = type(self).__name__
        rate = checked_rate(self._rule, lr)
        self._schedule = rate if callable(rate) else None
        self._first_rate = None if callable(rate) else rate
        self.options = FixedOptions(options)
        self.params: list[Tensor] = []
        self.names: tuple[str, ...] = ()
        self.state: State | None = None
        if params is not None:
            self._take(params)

    def __repr__(self) -> str:
        """Return the optimiser as it would be written."""
        rate = self._schedule or self._first_rate
        given = {"lr": getattr(rate, "__qualname__", rate), **self.options}
        inside = ", ".join(f"{name}={value}" for name, value in given.items())
        return f"{self._rule}({inside})"

    # The functional style.

    def init(self, tree: object) -> State:
        """Return the state of new parameters: no step done, all moments at their start.

        Args:
            tree: of parameters. Tensors of floats are updated; what else is in it
                stays as it is.

        Raises:
            DataError: there is no tensor of floats in it.
            DeviceError: they lie on several devices.

        >>> opt = tw.optim.Adam(lr=0.1)
        >>> opt.init({"w": tw.ones(3)}).step
        tensor(0)
        """
        names, leaves, _ = parameters_of(tree)
        return self._start("init", names, leaves)

    def update(self, tree: Any, grads: object, state: State) -> tuple[Any, State]:
        """Return parameters and state after a step.

        Args:
            tree: of parameters.
            grads: the same tree with gradients in place of the parameters, as
                `tw.grad` gives it. A parameter for which it has None stays as it is.
            state: what `init` or the last `update` gave.

        Raises:
            DataError: the trees do not match, or the state is that of another model.
            TransformError: there is no gradient at all.

        >>> opt = tw.optim.SGD(lr=0.5)
        >>> params = {"w": tw.ones(2), "name": "slope"}
        >>> state = opt.init(params)
        >>> params, state = opt.update(params, {"w": tw.ones(2), "name": None}, state)
        >>> params
        {'w': tensor([0.5, 0.5]), 'name': 'slope'}
        """
        names, leaves, put = parameters_of(tree)
        if not isinstance(state, State):
            raise DataError(
                f"update: the state is {type(state).__name__}; give what init or the "
                "last update returned."
            )
        check_belongs("update", state, names, leaves)
        found = gradients_of(tree, grads)
        with not_following():
            moved, state = self._advance("update", names, leaves, found, state)
        finish_step(moved, state)
        return put(moved), state

    # The stateful style.

    def step(self) -> None:
        """Change the parameters by their gradients.

        Parameters whose `grad` is None stay as they are.

        Raises:
            TransformError: there are no parameters, or none has a gradient.
            TraceError: `jit` records, and was not told of this optimiser.

        >>> w = tw.asarray([1.0, 2.0])
        >>> opt = tw.optim.SGD([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> opt.step()
        >>> w
        tensor([0., 0.])
        """
        state = self._own("step")
        grads = [param.grad for param in self.params]
        with not_following():
            values = [Tensor.around(param.node) for param in self.params]
            moved, new = self._advance("step", self.names, values, grads, state)
            self.state = taken_over(state, new)
            for param, value in zip(self.params, moved, strict=True):
                if value.node is not param.node:
                    param._replace(value.node)
        finish_step(self.params, self.state)

    def zero_grad(self) -> None:
        """Let the gradients of all parameters go, so that the next ones are not added.

        >>> w = tw.ones(2)
        >>> opt = tw.optim.SGD([w], lr=0.5)
        >>> w.sum().backward()
        >>> opt.zero_grad()
        >>> w.grad is None
        True
        """
        self._own("zero_grad")
        for param in self.params:
            param.grad = None

    def clip_by_global_norm(self, limit: float) -> None:
        """Scale all gradients, so that together they are no longer than `limit`.

        See `tw.optim.clip_by_global_norm`.

        >>> w = tw.zeros(2)
        >>> opt = tw.optim.SGD([w], lr=1.0)
        >>> (w * tw.asarray([30.0, 40.0])).sum().backward()
        >>> opt.clip_by_global_norm(1.0)
        >>> round(float((w.grad**2).sum()), 3)
        1.0
        """
        self._own("clip_by_global_norm")
        with not_following():
            clipped = clip_by_global_norm([param.grad for param in self.params], limit)
        for param, grad in zip(self.params, clipped, strict=True):
            param.grad = grad

    @property
    def lr(self) -> Rate:
        """The learning rate: a 0-d tensor of the state, or the schedule.

        Assign a number for another one: what `jit` has recorded goes on with it.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> opt.lr = 0.25
        >>> opt.lr
        tensor(0.25)
        """
        kept = None if self.state is None else self.state.learning_rate
        found = self._schedule or kept
        if found is not None:
            return found
        assert self._first_rate is not None, "internal: no learning rate"
        return self._first_rate

    @lr.setter
    def lr(self, value: Rate) -> None:
        state = self._own("lr")
        rate = checked_rate(self._rule, value)
        self._schedule = rate if callable(rate) else None
        kept = None if callable(rate) else number_of_rate(rate, self.params)
        self.state = of_its_own(State(state.step, kept, state.groups))

    # Saving.

    def state_dict(self, state: State | None = None) -> dict[str, Tensor]:
        """Return a state as tensors by name: `step`, `learning_rate`, `w.first`.

        Args:
            state: of the functional style; the optimiser's own for None.

        >>> opt = tw.optim.SGD(lr=0.5, momentum=0.9)
        >>> sorted(opt.state_dict(opt.init({"w": tw.ones(2)})))
        ['learning_rate', 'step', 'w.velocity']
        """
        return as_flat(self._own("state_dict") if state is None else state)

    def load_state_dict(
        self, found: Mapping[str, ArrayLike], state: State | None = None
    ) -> State:
        """Take over, and return, the state that `state_dict` gave.

        Args:
            found: tensors, arrays or lists by name.
            state: one of the same parameters, of the functional style, which is not
                changed; the optimiser's own for None.

        Raises:
            DataError: it is that of other parameters or of another optimiser. Nothing
                has changed then.
        """
        own = self._own("load_state_dict") if state is None else state
        loaded = from_flat(own, found)
        if state is None:
            self.state = of_its_own(loaded)
        return loaded

    # Inside.

    def _take(self, params: object) -> None:
        """Keep the tensors to train, let them be leaves, and lay them side by side."""
        if isinstance(params, Iterator):
            params = list(params)
        names, leaves, _ = parameters_of(params)
        once: dict[int, tuple[str, Tensor]] = {}
        for name, leaf in zip(names, leaves, strict=True):
            once.setdefault(id(leaf), (name, leaf))
        self.names = tuple(name for name, _ in once.values())
        self.params = [leaf for _, leaf in once.values()]
        self.state = of_its_own(self._start(self._rule, self.names, self.params))
        for param in self.params:
            param.requires_grad_()

    def _start(
        self, name: str, names: Sequence[str], leaves: Sequence[Tensor]
    ) -> State:
        """Return the first state of leaves, which are joined from now on."""
        if not leaves:
            raise DataError(
                f"{name}: there is no tensor of floats among the parameters; give a "
                "tree of tensors, such as model.parameters() or a dict."
            )
        rule = RULES[self._rule]
        start = rule.start(self.options)
        groups = groups_of(names, leaves, rule.moments(self.options), start)
        if not is_tracing():
            join_in_place(groups, dict(zip(names, leaves, strict=True)))
        first = self._first_rate
        rate = None if first is None else number_of_rate(first, leaves)
        return State(number(0, leaves[0].device), rate, groups)

    def _own(self, name: str) -> State:
        """Return the state of the parameters that the optimiser was given.

        Raises:
            TransformError: it was given none.
            TraceError: a function is traced that was not told of it.
        """
        if self.state is None:
            raise TransformError(
                f"{name}: this optimiser was given no parameters; write "
                f"{self._rule}(model.parameters(), lr=...), or use init and update."
            )
        trace = open_trace()
        if is_tracing() and trace is not None and not trace.is_updated(self):
            raise TraceError(
                f"{trace.transform}: {name}() of an optimiser changes it inside of "
                f"{trace.name}, which would happen once only; write "
                "@tw.jit(updates=(model, opt)), or use opt.update, which returns what "
                "is new."
            )
        return self.state

    def _advance(
        self,
        name: str,
        names: Sequence[str],
        leaves: Sequence[Tensor],
        grads: Sequence[Tensor | None],
        state: State,
    ) -> tuple[list[Tensor], State]:
        """Return leaves and state after a step."""
        by_name = {
            path: (leaf, grad)
            for path, leaf, grad in zip(names, leaves, grads, strict=True)
        }
        for path, (leaf, grad) in by_name.items():
            check_gradient(name, path, leaf, grad)
        if all(grad is None for grad in grads):
            raise TransformError(
                f"{name}: no parameter has a gradient; call loss.backward() before, of "
                "a loss that was computed from these parameters."
            )
        done = counted(state.step)
        rate = self._rate_at(state)
        found: dict[str, Tensor] = {}
        groups: list[Group] = []
        for group in state.groups:
            has = [by_name[path][1] is not None for path in group.layout.names]
            for part in [group] if len(set(has)) == 1 else group.split(has):
                if by_name[part.layout.names[0]][1] is None:
                    groups.append(part.without_gradients())
                    continue
                count = done if part.missed is None else done - part.missed
                found |= self._move(part, by_name, rate, count, groups)
        moved = [found.get(path, by_name[path][0]) for path in names]
        return moved, State(done, state.learning_rate, tuple(groups))

    def _move(
        self,
        group: Group,
        by_name: Mapping[str, tuple[Tensor, Tensor | None]],
        rate: Tensor,
        count: Tensor,
        groups: list[Group],
    ) -> dict[str, Tensor]:
        """Return a group's leaves after a step, and add the group after it."""
        layout = group.layout
        pairs = [by_name[path] for path in layout.names]
        dtype = pairs[0][0].dtype
        wide = computing_dtype(dtype)
        p = layout.join([leaf for leaf, _ in pairs]).astype(wide)
        parts = [grad.astype(dtype) for _, grad in pairs if grad is not None]
        g = layout.join(parts).astype(wide)
        now = Now(rate.astype(wide.part), count.astype(wide.part))
        p, moments = moved(RULES[self._rule], self.options, now, p, g, group.moments)
        groups.append(Group(layout, moments, group.missed))
        return dict(zip(layout.names, layout.parts(p.astype(dtype)), strict=True))

    def _rate_at(self, state: State) -> Tensor:
        """Return the learning rate of the step after a state."""
        if self._schedule is None:
            assert state.learning_rate is not None, "internal: no learning rate"
            return state.learning_rate
        found = self._schedule(state.step.astype(dtypes.float32))
        rate = asarray(found, device=state.step.device)
        if rate.shape:
            raise DataError(
                f"{self._rule}: the schedule gave a tensor of shape {rate.shape} for "
                "one step; it must give one number."
            )
        return rate
