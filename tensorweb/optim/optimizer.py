"""The base class of optimisers: apply an update rule to a tree of parameters.

In the functional style, `init` and `update` take and return values; an optimiser that
was given parameters owns its state and changes them in `step`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from tensorweb import dtypes
from tensorweb.advice import keyword_entry
from tensorweb.errors import DataError, TraceError, TransformError
from tensorweb.functions import asarray, zeros_like
from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.node import complex_of, pair_of
from tensorweb.graph.tracing import is_tracing, open_trace
from tensorweb.optim.clipping import clip_grad_norm_
from tensorweb.optim.options import CHECKS, Check
from tensorweb.optim.param_groups import GroupSettings, NewGroup, ParamGroup, groups_in
from tensorweb.optim.schedules import (
    Rate,
    checked_rate,
    rate_tensor,
    schedule_of,
)
from tensorweb.optim.state import (
    Group,
    Parameters,
    State,
    check_gradients,
    check_one_device,
    check_state,
    finish_step,
    incremented,
    join_in_place,
    named_tensors,
    new_groups,
    number,
    state_from_named,
)
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.trees import holds_leaves, register

Options: TypeAlias = Mapping[str, Any]
Moments: TypeAlias = dict[str, Tensor]


class Update(NamedTuple):
    """What an update rule computes with.

    Attributes:
        options: of the parameter group.
        rate: the learning rate `η`, 0-d.
        t: the index of the step, from 1, 0-d.
        p: the parameter, or many as one flat tensor.
        g: its gradient.
        moments: by name.
    """

    options: Options
    rate: Tensor
    t: Tensor
    p: Tensor
    g: Tensor
    moments: Moments


class Optimizer:
    """Base class of all optimisers; `SGD`, `Adam` and the others define the options.

    Attributes:
        params: the tensors that `step` changes, in order; empty in the functional
            style.
        names: their names in messages and in `state_dict`.
        state: the state of these tensors, None in the functional style.

    >>> isinstance(tw.optim.SGD(lr=0.5), tw.optim.Optimizer)
    True
    """

    # Whether `weight_decay` shrinks the parameter itself; otherwise it is added to the
    # gradient, as the gradient of an L2 penalty.
    _has_decoupled_decay: ClassVar[bool] = False

    # Whether the rule is elementwise, and so updates parameters as one flat tensor.
    _is_elementwise: ClassVar[bool] = True

    _checks: ClassVar[Mapping[str, Check]] = CHECKS

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
                f"{cls.__name__}: there is no option {unknown[0]!r}; "
                + keyword_entry(unknown[0], f"the options are {', '.join(known)}")
                + "."
            )
        return super().__new__(cls)

    def __init__(self, params: object, lr: Rate, **options: Any) -> None:
        """Check the options, and take parameters, if there are any.

        Raises:
            DataError: an option or the learning rate is out of its range, or no
                parameter is a floating-point tensor.
        """
        name = type(self).__name__
        self._default_rate = checked_rate(name, lr)
        self._defaults = {
            key: self._checks[key](name, key, value) for key, value in options.items()
        }
        self._settings: tuple[GroupSettings, ...] = (
            GroupSettings(self._defaults, schedule_of(self._default_rate), 0),
        )
        self.params: list[Tensor] = []
        self.names: tuple[str, ...] = ()
        self.state: State | None = None
        if params is not None:
            self._take(params)

    def _begin(self, arguments: Mapping[str, Any]) -> None:
        """Do what `__init__` does, with the `locals()` of a subclass's `__init__`.

        Its parameters are the options; each is forwarded by its name.
        """
        own = {key: arguments[key] for key in arguments if key != "self"}
        Optimizer.__init__(self, **own)

    def __repr__(self) -> str:
        """Return the constructor call."""
        rate = self._default_rate
        options = {"lr": getattr(rate, "__qualname__", rate), **self._defaults}
        arguments = ", ".join(f"{key}={value}" for key, value in options.items())
        count = len(self._settings)
        groups = f"{count} groups, " if count > 1 else ""
        return f"{type(self).__name__}({groups}{arguments})"

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the rule by name, of the first parameter group."""
        return MappingProxyType(self._settings[0].options)

    # The update rule, which subclasses define.

    @staticmethod
    def _initial_moments(options: Options) -> dict[str, float]:
        """Return the names of a parameter's moments, and their initial values."""
        raise NotImplementedError

    @staticmethod
    def _update_rule(update: Update) -> tuple[Tensor, Moments]:
        """Return a parameter and its moments after a step, element by element."""
        raise NotImplementedError

    def _updated(self, update: Update) -> tuple[Tensor, Moments]:
        """Return a parameter and its moments after a step with weight decay.

        Real and imaginary parts of a complex parameter are updated independently.
        """
        options, rate, t, p, g, moments = update
        if p.dtype.kind == "complex":
            pairs = {name: _as_pairs(moment) for name, moment in moments.items()}
            p, pairs = self._updated(
                Update(options, rate, t, _as_pairs(p), _as_pairs(g), pairs)
            )
            return _from_pairs(p), {n: _from_pairs(m) for n, m in pairs.items()}
        decay = options["weight_decay"]
        if options.get("maximize"):
            g = -g
        if decay and options.get("decoupled_weight_decay", self._has_decoupled_decay):
            p = p * (1 - rate * decay)
        elif decay:
            g = g + p * decay
        return self._update_rule(Update(options, rate, t, p, g, moments))

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
        return [ParamGroup(self, n) for n in range(len(self._settings)) if self.params]

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
        self._checked_state("add_param_group")
        self._add_groups([self._new_group(len(self._settings), group)])

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
        parameters = Parameters(tree)
        names, leaves = parameters.names, parameters.leaves
        _check_leaves("init", names, leaves)
        groups = self._start_group(0, self._defaults, names, leaves)
        rate = rate_tensor(self._default_rate, leaves)
        return State(number(0, leaves[0].device), (rate,), groups)

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
        parameters = Parameters(tree)
        names, leaves = parameters.names, parameters.leaves
        if not isinstance(state, State):
            raise DataError(
                f"update: the state is {type(state).__name__}; give what init or the "
                "last update returned."
            )
        check_state("update", state, names, leaves)
        gradients = parameters.gradients(grads)
        with grad_disabled():
            moved, state = self._advance("update", names, leaves, gradients, state)
        finish_step(moved, state)
        return parameters.tree_with(moved), state

    # The stateful style.

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Update the parameters by their gradients.

        Parameters whose `grad` is None are unchanged.

        Args:
            closure: a function that computes the loss and its gradients, called first.

        Returns:
            What the closure returned.

        Raises:
            TransformError: there are no parameters, or none has a gradient.
            TraceError: `jit` is tracing, and `updates=` lacks this optimiser.
            DataError: `closure` is no function, such as gradients.

        >>> w = tw.asarray([1.0, 2.0])
        >>> opt = tw.optim.SGD([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> opt.step()
        >>> w
        tensor([0., 0.])
        """
        state = self._checked_state("step")
        # The gradients of a module are a module, which can be called too.
        given: object = closure
        if given is not None and (not callable(given) or holds_leaves(given)):
            raise DataError(
                f"step: it was given a {type(given).__name__}, and takes gradients "
                "from backward() alone. With those of tw.grad write "
                "params, state = opt.update(params, grads, state), after "
                "state = opt.init(params), by an optimiser made without parameters."
            )
        loss = None if closure is None else closure()
        grads = [param.grad for param in self.params]
        with grad_disabled():
            values = [Tensor.without_registering(param.node) for param in self.params]
            moved, new = self._advance("step", self.names, values, grads, state)
            self.state = state.replaced_by(new)
            for param, value in zip(self.params, moved, strict=True):
                if value.node is not param.node:
                    param._replace(value.node)
        finish_step(self.params, self.state)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None.

        Args:
            set_to_none: False sets existing gradients to zeros instead.

        >>> w = tw.ones(2)
        >>> opt = tw.optim.SGD([w], lr=0.5)
        >>> w.sum().backward()
        >>> opt.zero_grad()
        >>> w.grad is None
        True
        """
        self._checked_state("zero_grad")
        for param in self.params:
            if set_to_none or param.grad is None:
                param.grad = None
            else:
                param.grad = zeros_like(param.grad)

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
        self._checked_state("clip_by_global_norm")
        return clip_grad_norm_(self.params, limit)

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
        if len(self._settings) > 1:
            raise DataError(
                f"{name}: this optimiser has {len(self._settings)} parameter "
                "groups, each with its own learning rate; write "
                "opt.param_groups[0]['lr'], or go over all of opt.param_groups."
            )

    def _rate_of(self, index: int) -> Rate:
        """Return a group's learning rate: its schedule, or the tensor of the state."""
        schedule = self._settings[index].schedule
        if schedule is not None:
            return schedule
        rate = None if self.state is None else self.state.rates[index]
        return self._default_rate if rate is None else rate

    def _set_rate(self, index: int, value: Rate) -> None:
        state = self._checked_state("lr")
        rate = checked_rate(type(self).__name__, value)
        rates = list(state.rates)
        rates[index] = rate_tensor(rate, self.params)
        self._replace_settings(index, schedule=schedule_of(rate))
        self.state = replace(state, rates=tuple(rates)).copy()

    def _set_option(self, index: int, name: str, value: object) -> None:
        """Change an option of a group, and add the moments that it requires."""
        state = self._checked_state(f"param_groups[{index}][{name!r}]")
        options = self._checked_options({**self._settings[index].options, name: value})
        by_name = dict(zip(self.names, self.params, strict=True))
        moments = self._initial_moments(options)
        groups = [
            group.with_moments(moments, by_name[group.layout.names[0]])
            if group.settings == index
            else group
            for group in state.groups
        ]
        self._replace_settings(index, options=options)
        self.state = replace(state, groups=tuple(groups)).copy()

    def _replace_settings(self, index: int, **changes: Any) -> None:
        settings = list(self._settings)
        settings[index] = settings[index]._replace(**changes)
        self._settings = tuple(settings)

    def _checked_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return validated options, of an optimiser of this class without parameters.

        Raises:
            DataError: there is no such option, or it is out of its range.
        """
        return type(self)(**options)._defaults

    # Saving.

    def state_dict(self, state: State | None = None) -> dict[str, Tensor]:
        """Return a state as tensors by name: `step`, `learning_rate`, `w.first`.

        Args:
            state: a state of the functional style; None for the optimiser's own.

        >>> opt = tw.optim.SGD(lr=0.5, momentum=0.9)
        >>> sorted(opt.state_dict(opt.init({"w": tw.ones(2)})))
        ['learning_rate', 'step', 'w.velocity']
        """
        return named_tensors(
            self._checked_state("state_dict") if state is None else state
        )

    def load_state_dict(
        self, state_dict: Mapping[str, ArrayLike], state: State | None = None
    ) -> State:
        """Load a state that `state_dict` returned, and return it.

        Args:
            state_dict: tensors, arrays or lists by name.
            state: a state of the same parameters in the functional style, which is not
                changed; None for the optimiser's own.

        Raises:
            DataError: it is the state of other parameters or of another optimiser.
                Nothing has changed then.

        >>> first, second = tw.optim.Adam(tw.ones(2)), tw.optim.Adam(tw.ones(2))
        >>> second.load_state_dict(first.state_dict()).step
        tensor(0)
        """
        own = self._checked_state("load_state_dict") if state is None else state
        loaded = state_from_named(own, state_dict)
        if state is None:
            self.state = loaded.copy()
        return loaded

    # Inside.

    def _take(self, params: object) -> None:
        """Take the tensors to train: a tree of them, or a list of parameter groups."""
        if isinstance(params, Iterator):
            params = list(params)
        groups = groups_in(type(self).__name__, params)
        if groups:
            added = [self._new_group(n, group) for n, group in enumerate(groups)]
        else:
            names, leaves = Parameters(params).unique()
            added = [NewGroup(names, leaves, self._default_rate, self._defaults)]
        self._add_groups(added)

    def _new_group(self, index: int, group: Mapping[str, Any]) -> NewGroup:
        """Return a group with validated options, of PyTorch's dict."""
        where = f"{type(self).__name__}: parameter group {index}"
        if "params" not in group:
            raise DataError(
                f"{where} has no 'params'; write {{'params': [...], 'lr': ...}}."
            )
        options = {"lr": self._default_rate, **self._defaults, **group}
        params = options.pop("params")
        if isinstance(params, Iterator):
            params = list(params)
        names, leaves = Parameters(params).unique()
        if not leaves:
            raise DataError(f"{where} has no tensor of floats among its 'params'.")
        names = [f"{index}.{name}" for name in names]
        rate = checked_rate(type(self).__name__, options["lr"])
        return NewGroup(names, leaves, rate, self._checked_options(options))

    def _add_groups(self, added: Sequence[NewGroup]) -> None:
        """Add parameter groups, make their tensors leaves, and flatten the storages."""
        names = [*self.names, *(name for group in added for name in group.names)]
        leaves = [*self.params, *(leaf for group in added for leaf in group.leaves)]
        _check_leaves(type(self).__name__, names, leaves)
        _check_distinct(type(self).__name__, names, leaves)
        old = self.state
        settings = list(self._settings) if old else []
        groups = list(old.groups) if old else []
        rates = list(old.rates) if old else []
        for group in added:
            groups += self._start_group(
                len(settings), group.options, group.names, group.leaves
            )
            settings.append(
                GroupSettings(group.options, schedule_of(group.rate), len(group.leaves))
            )
            rates.append(rate_tensor(group.rate, leaves))
        self._settings = tuple(settings)
        self.names, self.params = tuple(names), leaves
        step = old.step if old else number(0, leaves[0].device)
        self.state = State(step, tuple(rates), tuple(groups)).copy()
        for leaf in leaves:
            if not leaf.is_frozen:
                leaf.requires_grad_()

    def _start_group(
        self,
        index: int,
        options: Options,
        names: Sequence[str],
        leaves: Sequence[Tensor],
    ) -> tuple[Group, ...]:
        """Return the initial moments of one parameter group."""
        groups = new_groups(names, leaves, self._initial_moments(options), index)
        if not is_tracing():
            join_in_place(groups, dict(zip(names, leaves, strict=True)))
        return groups

    def _check_functional(self, name: str) -> None:
        if len(self._settings) > 1:
            raise DataError(
                f"{name}: this optimiser has {len(self._settings)} parameter "
                "groups of its own parameters, for step(); in the functional style "
                "use one optimiser for each part of the tree."
            )

    def _checked_state(self, name: str) -> State:
        """Return the optimiser's own state.

        Raises:
            TransformError: it was given no parameters.
            TraceError: a function is being traced whose `updates=` lacks it.
        """
        if self.state is None:
            raise TransformError(
                f"{name}: this optimiser was given no parameters; write "
                f"{type(self).__name__}(model.parameters(), lr=...), or use init and "
                "update."
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
        check_gradients(name, names, leaves, grads)
        leaf_by_name = dict(zip(names, leaves, strict=True))
        grad_by_name = dict(zip(names, grads, strict=True))
        step = incremented(state.step)
        rates: dict[int, Tensor] = {}
        moved = dict(leaf_by_name)
        groups: list[Group] = []
        for whole in state.groups:
            has_gradient = [grad_by_name[n] is not None for n in whole.layout.names]
            for group in whole.split(has_gradient):
                paths = group.layout.names
                parts = [grad for n in paths if (grad := grad_by_name[n]) is not None]
                if not parts:
                    groups.append(group.after_skipped_step())
                    continue
                if group.settings not in rates:
                    rates[group.settings] = self._rate_at(state, group.settings)
                count = step if group.missed is None else step - group.missed
                rate = rates[group.settings]
                group_leaves = [leaf_by_name[n] for n in paths]
                values, group = self._move(group, group_leaves, parts, rate, count)
                groups.append(group)
                moved.update(zip(paths, values, strict=True))
        return list(moved.values()), State(step, state.rates, tuple(groups))

    def _move(
        self,
        group: Group,
        leaves: Sequence[Tensor],
        grads: Sequence[Tensor],
        rate: Tensor,
        count: Tensor,
    ) -> tuple[list[Tensor], Group]:
        """Return a group's parameters after a step, and the new group."""
        layout, dtype = group.layout, leaves[0].dtype
        wide = dtype.wide
        rate, count = rate.astype(wide.part), count.astype(wide.part)
        options = self._settings[group.settings].options
        grads = [grad.astype(dtype) for grad in grads]
        if self._is_elementwise:
            p, g = layout.join(leaves).astype(wide), layout.join(grads).astype(wide)
            p, moments = self._updated(
                Update(options, rate, count, p, g, group.moments)
            )
            return layout.parts(p.astype(dtype)), replace(group, moments=moments)
        updated = [
            self._updated(
                Update(options, rate, count, p.astype(wide), g.astype(wide), moments)
            )
            for p, g, moments in zip(leaves, grads, group.by_parameter(), strict=True)
        ]
        group = group.with_parts([moments for _, moments in updated])
        return [p.astype(dtype) for p, _ in updated], group

    def _rate_at(self, state: State, index: int) -> Tensor:
        """Return the learning rate of a group in the step that follows a state."""
        schedule, rate = self._settings[index].schedule, state.rates[index]
        if schedule is None:
            assert rate is not None, "internal: no learning rate"
            return rate
        value = schedule(state.step.astype(dtypes.float32))
        rate = asarray(value, device=state.step.device)
        if rate.shape:
            raise DataError(
                f"{type(self).__name__}: the schedule gave a tensor of shape "
                f"{rate.shape} for one step; it must give one number."
            )
        return rate


def _check_leaves(name: str, names: Sequence[str], leaves: Sequence[Tensor]) -> None:
    """Raise unless there are parameters, all on one device."""
    if not leaves:
        raise DataError(
            f"{name}: there is no tensor of floats among the parameters; give a "
            "tree of tensors, such as model.parameters() or a dict."
        )
    check_one_device(names, leaves)


def _check_distinct(name: str, names: Sequence[str], leaves: Sequence[Tensor]) -> None:
    """Raise if a tensor is in two parameter groups."""
    name_by_id: dict[int, str] = {}
    for leaf, path in zip(leaves, names, strict=True):
        first = name_by_id.setdefault(id(leaf), path)
        if first != path:
            raise DataError(
                f"{name}: {first!r} and {path!r} are one tensor in two parameter "
                "groups; a parameter belongs to one."
            )


def _as_pairs(x: Tensor) -> Tensor:
    """Return complex numbers as pairs along one more axis."""
    return Tensor(pair_of(x.node))


def _from_pairs(pairs: Tensor) -> Tensor:
    return Tensor(complex_of(pairs.node))
