"""The base class of optimisers: apply a rule with its options to a tree of parameters.

In the functional style, `init` and `update` take and return values; an optimiser that
was given parameters owns its state and changes them in `step`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Self

from tensorweb import dtypes
from tensorweb.errors import DataError, TraceError, TransformError
from tensorweb.functions import asarray
from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.tracing import is_tracing, open_trace
from tensorweb.optim.clipping import clipped_and_norm
from tensorweb.optim.options import (
    FixedOptions,
    Rate,
    as_schedule,
    checked_rate,
    number_of_rate,
)
from tensorweb.optim.rules import RULES, StepContext, apply_rule
from tensorweb.optim.schedules import Schedule
from tensorweb.optim.state import (
    Group,
    State,
    as_flat,
    check_belongs,
    check_gradient,
    check_one_device,
    computing_dtype,
    counted,
    finish_step,
    from_flat,
    gradients_of,
    groups_in,
    groups_of,
    join_in_place,
    number,
    of_its_own,
    parameters_of,
    taken_over,
    with_moments,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import register


class Optimizer:
    """Base class of all optimisers; `SGD`, `Adam` and the others define the options.

    Attributes:
        params: the tensors that `step` changes, in order; empty in the functional
            style.
        names: their names in messages and in `state_dict`.
        state: the state of these tensors, None in the functional style.
    """

    def __init_subclass__(cls) -> None:
        """Register every subclass as a tree, for `jit`."""
        register(cls)

    def __new__(cls, *_: object, **options: object) -> Self:
        """Raise for unknown options."""
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
        """Store options that the class has validated, and parameters or None.

        Raises:
            DataError: the learning rate is negative or not finite, or no parameter is a
                floating-point tensor.
        """
        self._rule = type(self).__name__
        rate = checked_rate(self._rule, lr)
        self._default_rate = rate
        self._defaults = FixedOptions(options)
        # Of each parameter group; one that has no parameters yet is the default.
        self._schedules: tuple[Schedule | None, ...] = (as_schedule(rate),)
        self._options: tuple[FixedOptions, ...] = (self._defaults,)
        self._group_sizes: tuple[int, ...] = ()
        self.params: list[Tensor] = []
        self.names: tuple[str, ...] = ()
        self.state: State | None = None
        if params is not None:
            self._take(params)

    def __repr__(self) -> str:
        """Return the constructor call."""
        rate = self._default_rate
        given = {"lr": getattr(rate, "__qualname__", rate), **self._defaults}
        inside = ", ".join(f"{name}={value}" for name, value in given.items())
        count = len(self._group_sizes)
        return f"{self._rule}({f'{count} groups, ' if count > 1 else ''}{inside})"

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the rule by name, of the first parameter group."""
        return self._options[0]

    # Parameter groups.

    @property
    def param_groups(self) -> list[ParamGroup]:
        """The parameter groups, each a mapping with `params`, `lr` and options.

        Assigning an option changes it from the next step on, as in PyTorch.

        >>> a, b = tw.ones(2), tw.ones(2)
        >>> groups = [{"params": [a], "lr": 1.0}, {"params": [b]}]
        >>> opt = tw.optim.SGD(groups, lr=0.5)
        >>> opt.param_groups[1]["lr"] = 0.25
        >>> [float(group["lr"]) for group in opt.param_groups]
        [1.0, 0.25]
        """
        return [ParamGroup(self, index) for index in range(len(self._group_sizes))]

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add parameters to train, for example after unfreezing a layer.

        Args:
            group: `params`, and options that differ from the optimiser's own.

        Raises:
            DataError: an option is unknown, or a parameter is in another group.

        >>> a, b = tw.ones(2), tw.ones(2)
        >>> opt = tw.optim.SGD([a], lr=0.5)
        >>> opt.add_param_group({"params": [b], "lr": 0.1})
        >>> len(opt.param_groups)
        2
        """
        state = self._own("add_param_group")
        index = len(self._group_sizes)
        names, leaves, member = self._opened_group(index, group)
        first_names, first_leaves = list(self.names), list(self.params)
        self._check_apart([*first_leaves, *leaves], [*first_names, *names])
        check_one_device([*first_names, *names], [*first_leaves, *leaves])
        self._schedules += member._schedules
        self._options += member._options
        self._group_sizes += (len(leaves),)
        self.names += tuple(names)
        self.params = [*first_leaves, *leaves]
        added = self._start_group(index, names, leaves)
        rates = (*state.rates, self._first_rate(member._default_rate, leaves))
        self.state = of_its_own(State(state.step, rates, (*state.groups, *added)))
        _make_leaves(leaves)

    # The functional style.

    def init(self, tree: object) -> State:
        """Return the initial state of a tree of parameters.

        Args:
            tree: parameters. Floating-point tensors are updated; other leaves are
                unchanged.

        Raises:
            DataError: there is no floating-point tensor in it.
            DeviceError: they lie on several devices.

        >>> opt = tw.optim.Adam(lr=0.1)
        >>> opt.init({"w": tw.ones(3)}).step
        tensor(0)
        """
        self._check_functional("init")
        names, leaves, _ = parameters_of(tree)
        return self._start("init", [(names, leaves)], [self._default_rate])

    def update(self, tree: Any, grads: object, state: State) -> tuple[Any, State]:
        """Return parameters and state after a step.

        Args:
            tree: the parameters.
            grads: a tree like `tree` with gradients, as `tw.grad` returns. A parameter
                whose gradient is None is unchanged.
            state: the state that `init` or the previous `update` returned.

        Raises:
            DataError: the trees do not match, or the state is that of another model.
            TransformError: all gradients are None.

        >>> opt = tw.optim.SGD(lr=0.5)
        >>> params = {"w": tw.ones(2), "name": "gradient"}
        >>> state = opt.init(params)
        >>> params, state = opt.update(params, {"w": tw.ones(2), "name": None}, state)
        >>> params
        {'w': tensor([0.5, 0.5]), 'name': 'gradient'}
        """
        self._check_functional("update")
        names, leaves, put = parameters_of(tree)
        if not isinstance(state, State):
            raise DataError(
                f"update: the state is {type(state).__name__}; give what init or the "
                "last update returned."
            )
        check_belongs("update", state, names, leaves)
        found = gradients_of(tree, grads)
        with grad_disabled():
            moved, state = self._advance("update", names, leaves, found, state)
        finish_step(moved, state)
        return put(moved), state

    # The stateful style.

    def step(self) -> None:
        """Update the parameters by their gradients.

        Parameters whose `grad` is None are unchanged.

        Raises:
            TransformError: there are no parameters, or none has a gradient.
            TraceError: `jit` is tracing, and `updates=` lacks this optimiser.

        >>> w = tw.asarray([1.0, 2.0])
        >>> opt = tw.optim.SGD([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> opt.step()
        >>> w
        tensor([0., 0.])
        """
        state = self._own("step")
        grads = [param.grad for param in self.params]
        with grad_disabled():
            values = [Tensor.around(param.node) for param in self.params]
            moved, new = self._advance("step", self.names, values, grads, state)
            self.state = taken_over(state, new)
            for param, value in zip(self.params, moved, strict=True):
                if value.node is not param.node:
                    param._replace(value.node)
        finish_step(self.params, self.state)

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to None.

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

    def clip_by_global_norm(self, limit: float) -> Tensor:
        """Scale all gradients by one factor to a global norm of at most `limit`.

        See `tw.optim.clip_by_global_norm`.

        Returns:
            The norm before, a 0-d tensor.

        >>> w = tw.zeros(2)
        >>> opt = tw.optim.SGD([w], lr=1.0)
        >>> (w * tw.asarray([30.0, 40.0])).sum().backward()
        >>> opt.clip_by_global_norm(1.0)
        tensor(50.)
        >>> round(float((w.grad**2).sum()), 3)
        1.0
        """
        self._own("clip_by_global_norm")
        with grad_disabled():
            grads = [param.grad for param in self.params]
            clipped, norm = clipped_and_norm(grads, limit)
        for param, grad in zip(self.params, clipped, strict=True):
            param.grad = grad
        return norm

    @property
    def lr(self) -> Rate:
        """The learning rate: a 0-d tensor of the state, or the schedule.

        Assign a number to change it; functions recorded by `jit` use the new one.

        Raises:
            DataError: there are several parameter groups, each with its own.

        >>> opt = tw.optim.SGD([tw.ones(2)], lr=0.5)
        >>> opt.lr = 0.25
        >>> opt.lr
        tensor(0.25)
        """
        self._check_one_group("opt.lr")
        return self._rate_of(0)

    @lr.setter
    def lr(self, value: Rate) -> None:
        self._check_one_group("opt.lr = value")
        self._set_rate(0, value)

    def _check_one_group(self, name: str) -> None:
        if len(self._group_sizes) > 1:
            raise DataError(
                f"{name}: this optimiser has {len(self._group_sizes)} parameter "
                "groups, each with its own learning rate; write "
                "opt.param_groups[0]['lr'], or go over all of opt.param_groups."
            )

    def _rate_of(self, index: int) -> Rate:
        """Return a group's learning rate: its schedule, or the tensor of the state."""
        schedule = self._schedules[index]
        if schedule is not None:
            return schedule
        rate = None if self.state is None else self.state.rates[index]
        return self._default_rate if rate is None else rate

    def _set_rate(self, index: int, value: Rate) -> None:
        state = self._own("lr")
        rate = checked_rate(self._rule, value)
        schedules, rates = list(self._schedules), list(state.rates)
        schedules[index] = as_schedule(rate)
        rates[index] = self._first_rate(rate, self.params)
        self._schedules = tuple(schedules)
        self.state = of_its_own(State(state.step, tuple(rates), state.groups))

    def _set_option(self, index: int, name: str, value: object) -> None:
        """Change an option of a group, and add the moments that it requires."""
        state = self._own(f"param_groups[{index}][{name!r}]")
        options = self._checked({**self._options[index], name: value})._options[0]
        rule = RULES[self._rule]
        by_name = dict(zip(self.names, self.params, strict=True))
        groups = [
            with_moments(
                group,
                by_name[group.layout.names[0]],
                rule.moments(options),
                rule.start(options),
            )
            if self._index_of(group.layout.names[0]) == index
            else group
            for group in state.groups
        ]
        changed = list(self._options)
        changed[index] = options
        self._options = tuple(changed)
        self.state = of_its_own(State(state.step, state.rates, tuple(groups)))

    def _checked(self, options: Mapping[str, Any]) -> Optimizer:
        """Return an optimiser of this class without parameters, to validate options.

        Raises:
            DataError: there is no such option, or it is out of its range.
        """
        return type(self)(**options)

    # Saving.

    def state_dict(self, state: State | None = None) -> dict[str, Tensor]:
        """Return a state as tensors by name: `step`, `learning_rate`, `w.first`.

        Args:
            state: a state of the functional style; None for the optimiser's own.

        >>> opt = tw.optim.SGD(lr=0.5, momentum=0.9)
        >>> sorted(opt.state_dict(opt.init({"w": tw.ones(2)})))
        ['learning_rate', 'step', 'w.velocity']
        """
        return as_flat(self._own("state_dict") if state is None else state)

    def load_state_dict(
        self, found: Mapping[str, ArrayLike], state: State | None = None
    ) -> State:
        """Load a state that `state_dict` returned, and return it.

        Args:
            found: tensors, arrays or lists by name.
            state: a state of the same parameters in the functional style, which is not
                changed; None for the optimiser's own.

        Raises:
            DataError: it is the state of other parameters or of another optimiser.
                Nothing has changed then.
        """
        own = self._own("load_state_dict") if state is None else state
        loaded = from_flat(own, found)
        if state is None:
            self.state = of_its_own(loaded)
        return loaded

    # Inside.

    def _take(self, params: object) -> None:
        """Store the tensors to train, make them leaves, and flatten their storages."""
        if isinstance(params, Iterator):
            params = list(params)
        rates = [self._default_rate]
        given = groups_in(self._rule, params)
        if given:
            opened = [self._opened_group(n, group) for n, group in enumerate(given)]
            parts = [(names, leaves) for names, leaves, _ in opened]
            members = [member for _, _, member in opened]
            self._schedules = tuple(each._schedules[0] for each in members)
            self._options = tuple(each._options[0] for each in members)
            rates = [member._default_rate for member in members]
        else:
            parts = [_once(*parameters_of(params)[:2])]
        names = [name for part, _ in parts for name in part]
        leaves = [leaf for _, part in parts for leaf in part]
        self._check_apart(leaves, names)
        self.names, self.params = tuple(names), leaves
        self._group_sizes = tuple(len(part) for _, part in parts)
        self.state = of_its_own(self._start(self._rule, parts, rates))
        _make_leaves(self.params)

    def _opened_group(
        self, index: int, group: Mapping[str, Any]
    ) -> tuple[list[str], list[Tensor], Optimizer]:
        """Return names and tensors of a group, and an optimiser of its options."""
        where = f"{self._rule}: parameter group {index}"
        if "params" not in group:
            raise DataError(
                f"{where} has no 'params'; write {{'params': [...], 'lr': ...}}."
            )
        params = group["params"]
        names, leaves = _once(
            *parameters_of(list(params) if isinstance(params, Iterator) else params)[:2]
        )
        if not leaves:
            raise DataError(f"{where} has no tensor of floats among its 'params'.")
        own = {name: value for name, value in group.items() if name != "params"}
        member = self._checked({"lr": self._default_rate, **self._defaults, **own})
        return [f"{index}.{name}" for name in names], leaves, member

    def _check_apart(self, leaves: Sequence[Tensor], names: Sequence[str]) -> None:
        seen: dict[int, str] = {}
        for leaf, name in zip(leaves, names, strict=True):
            if seen.setdefault(id(leaf), name) != name:
                raise DataError(
                    f"{self._rule}: {seen[id(leaf)]!r} and {name!r} are one tensor in "
                    "two parameter groups; a parameter belongs to one."
                )

    def _check_functional(self, name: str) -> None:
        if len(self._group_sizes) > 1:
            raise DataError(
                f"{name}: this optimiser has {len(self._group_sizes)} parameter "
                "groups of its own parameters, for step(); in the functional style "
                "use one optimiser for each part of the tree."
            )

    def _index_of(self, name: str) -> int:
        """Return the index of the parameter group of a name; 0 for a single group."""
        if len(self._group_sizes) < 2:
            return 0
        end = 0
        at = self.names.index(name)
        for index, size in enumerate(self._group_sizes):
            end += size
            if at < end:
                return index
        raise AssertionError("internal: a parameter of no group")

    def _start(
        self,
        name: str,
        parts: Sequence[tuple[Sequence[str], Sequence[Tensor]]],
        rates: Sequence[Rate],
    ) -> State:
        """Return the initial state of parameter groups; make their storages flat."""
        leaves = [leaf for _, part in parts for leaf in part]
        if not leaves:
            raise DataError(
                f"{name}: there is no tensor of floats among the parameters; give a "
                "tree of tensors, such as model.parameters() or a dict."
            )
        check_one_device([name for part, _ in parts for name in part], leaves)
        groups = [
            group
            for index, (names, part) in enumerate(parts)
            for group in self._start_group(index, names, part)
        ]
        first = tuple(self._first_rate(rate, leaves) for rate in rates)
        return State(number(0, leaves[0].device), first, tuple(groups))

    def _start_group(
        self, index: int, names: Sequence[str], leaves: Sequence[Tensor]
    ) -> tuple[Group, ...]:
        """Return the initial moments of one parameter group."""
        rule, options = RULES[self._rule], self._options[index]
        found = groups_of(names, leaves, rule.moments(options), rule.start(options))
        if not is_tracing():
            join_in_place(found, dict(zip(names, leaves, strict=True)))
        return found

    @staticmethod
    def _first_rate(rate: Rate, leaves: Sequence[Tensor]) -> Tensor | None:
        """Return a learning rate as a tensor of the state; None for a schedule."""
        return None if callable(rate) else number_of_rate(rate, leaves)

    def _own(self, name: str) -> State:
        """Return the optimiser's own state.

        Raises:
            TransformError: it was given no parameters.
            TraceError: a function is being traced whose `updates=` lacks it.
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
        """Return parameters and state after a step."""
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
        rates: dict[int, Tensor] = {}
        found: dict[str, Tensor] = {}
        groups: list[Group] = []
        for group in state.groups:
            has = [by_name[path][1] is not None for path in group.layout.names]
            for part in [group] if len(set(has)) == 1 else group.split(has):
                if by_name[part.layout.names[0]][1] is None:
                    groups.append(part.without_gradients())
                    continue
                count = done if part.missed is None else done - part.missed
                index = self._index_of(part.layout.names[0])
                if index not in rates:
                    rates[index] = self._rate_at(state, index)
                found |= self._move(
                    part, by_name, self._options[index], rates[index], count, groups
                )
        moved = [found.get(path, by_name[path][0]) for path in names]
        return moved, State(done, state.rates, tuple(groups))

    def _move(
        self,
        group: Group,
        by_name: Mapping[str, tuple[Tensor, Tensor | None]],
        options: FixedOptions,
        rate: Tensor,
        count: Tensor,
        groups: list[Group],
    ) -> dict[str, Tensor]:
        """Return a group's parameters after a step; append its new group."""
        layout = group.layout
        pairs = [by_name[path] for path in layout.names]
        dtype = pairs[0][0].dtype
        wide = computing_dtype(dtype)
        p = layout.join([leaf for leaf, _ in pairs]).astype(wide)
        parts = [grad.astype(dtype) for _, grad in pairs if grad is not None]
        g = layout.join(parts).astype(wide)
        context = StepContext(rate.astype(wide.part), count.astype(wide.part))
        p, moments = apply_rule(
            RULES[self._rule], options, context, p, g, group.moments
        )
        groups.append(Group(layout, moments, group.missed))
        return dict(zip(layout.names, layout.parts(p.astype(dtype)), strict=True))

    def _rate_at(self, state: State, index: int) -> Tensor:
        """Return the learning rate of a group in the step that follows a state."""
        schedule, rate = self._schedules[index], state.rates[index]
        if schedule is None:
            assert rate is not None, "internal: no learning rate"
            return rate
        found = schedule(state.step.astype(dtypes.float32))
        rate = asarray(found, device=state.step.device)
        if rate.shape:
            raise DataError(
                f"{self._rule}: the schedule gave a tensor of shape {rate.shape} for "
                "one step; it must give one number."
            )
        return rate


class ParamGroup(MutableMapping[str, Any]):
    """Parameters of an optimiser with common options, read and written as a dict."""

    def __init__(self, optimizer: Optimizer, index: int) -> None:
        """Make a view of one group of an optimiser."""
        self._optimizer = optimizer
        self._index = index

    def __getitem__(self, name: str) -> Any:
        """Return an option; `lr` is a 0-d tensor or a schedule, `params` a list."""
        optimizer, index = self._optimizer, self._index
        if name == "params":
            sizes = optimizer._group_sizes
            begin = sum(sizes[:index])
            return optimizer.params[begin : begin + sizes[index]]
        if name == "lr":
            return optimizer._rate_of(index)
        return optimizer._options[index][name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Change an option from the next step on.

        Raises:
            DataError: there is no such option, or it is out of its range.
        """
        if name == "params":
            raise DataError(
                "param_groups: the parameters of a group stay; add others with "
                "opt.add_param_group({'params': [...]}), or make a new optimiser."
            )
        if name == "lr":
            self._optimizer._set_rate(self._index, value)
        else:
            self._optimizer._set_option(self._index, name, value)

    def __delitem__(self, name: str) -> None:
        """Raise: a group has all options.

        Raises:
            DataError: always.
        """
        raise DataError(f"param_groups: {name!r} cannot be removed; assign another.")

    def __iter__(self) -> Iterator[str]:
        """Yield the names, `params` and `lr` first."""
        yield from ("params", "lr", *self._optimizer._options[self._index])

    def __len__(self) -> int:
        """Return the count of names."""
        return 2 + len(self._optimizer._options[self._index])

    def __repr__(self) -> str:
        """Return the group as a dict, with the count of its parameters."""
        shown = {name: value for name, value in self.items() if name != "params"}
        return f"<group of {len(self['params'])} parameters, {shown}>"


def _once(
    names: Sequence[str], leaves: Sequence[Tensor]
) -> tuple[list[str], list[Tensor]]:
    """Return every tensor once, by its first name: tied weights are one parameter."""
    found: dict[int, tuple[str, Tensor]] = {}
    for name, leaf in zip(names, leaves, strict=True):
        found.setdefault(id(leaf), (name, leaf))
    return [name for name, _ in found.values()], [leaf for _, leaf in found.values()]


def _make_leaves(params: Sequence[Tensor]) -> None:
    """Make parameters require gradients, except frozen ones."""
    for param in params:
        if not param.is_frozen:
            param.requires_grad_()
