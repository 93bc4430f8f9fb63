"""`Module`: a network as a tree of the tensors in its attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from tensorweb.advice import advise_on_keyword, module_method_advice
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ModeWarning, TensorwebError
from tensorweb.frames import warn_once
from tensorweb.graph.autograd import is_differentiating, reaches_leaf
from tensorweb.nn.arguments import as_float, operand
from tensorweb.nn.hooks import Hook, HookHandle, TakingKeywords
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.backward import no_grad
from tensorweb.trees import (
    CONSTANTS,
    UNNAMED,
    attributes,
    endless,
    holds_leaves,
    is_opened,
    register_module,
)

__all__ = [
    "Module",
    "Parameter",
]


T = TypeVar("T")


def Parameter(data: ArrayLike, requires_grad: bool = True) -> Tensor:  # PyTorch's name
    """Return a tensor of floats that requires a gradient: a leaf of its own.

    A module finds every tensor of floats among its attributes, also others than these.

    >>> class Scale(tw.nn.Module):
    ...     def __init__(self):
    ...         self.factor = tw.nn.Parameter(tw.ones(3))
    >>> [(name, x.requires_grad) for name, x in Scale().named_parameters()]
    [('factor', True)]
    """
    return as_float("Parameter", data).detach().requires_grad_(requires_grad)


class Module:
    """A part of a network: a class with tensors and modules as attributes.

    A module is a tree (`tw.tree`): its leaves are the tensors that its attributes hold,
    also in lists, dicts and modules; everything else is a setting. So `tw.grad`,
    `tw.jit`, `tw.vmap` and optimisers take it as one value. Tensors of floats are its
    parameters, except those of `register_buffer`. What it computes stands in `forward`,
    or in `__call__`.

    >>> class Affine(tw.nn.Module):
    ...     def __init__(self):
    ...         self.weight, self.bias = tw.ones((2, 3)), tw.zeros(2)
    ...
    ...     def forward(self, x):
    ...         return x @ self.weight.T + self.bias
    >>> model = Affine()
    >>> model(tw.ones(3))
    tensor([3., 3.])
    >>> tw.grad(lambda m: m(tw.ones(3)).sum())(model).bias
    tensor([1., 1.])
    """

    _unnamed: ClassVar[str | None] = None
    _constants: frozenset[str] = frozenset()
    _unsaved: frozenset[str] = frozenset()
    # A class attribute: modules whose mode nobody sets have one structure, as trees.
    training = False
    _is_lazy = False
    _forward_hooks: tuple[Hook, ...] = ()
    _forward_pre_hooks: tuple[Hook, ...] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Register the new class as a tree."""
        super().__init_subclass__(**keywords)
        register_module(cls)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what `forward` returns; `input=` is its first argument too."""
        if "input" in kwargs and "input" not in signature(self.forward).parameters:
            if args:
                raise TypeError(
                    f"{type(self).__name__}: the input is given twice, also as input=; "
                    "give it once."
                )
            args = (kwargs.pop("input"),)
        for hook in self._forward_pre_hooks:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        count = None if self._is_lazy else len(vars(self))
        try:
            result = self.forward(*args, **kwargs)
        except TypeError as error:
            advise_on_keyword(error, self.forward)
            raise
        if count is not None and len(vars(self)) > count:
            self._note_results([*vars(self)][count:])
        for hook in self._forward_hooks:
            takes_keywords = isinstance(hook, TakingKeywords)
            given = (args, kwargs, result) if takes_keywords else (args, result)
            changed = hook(self, *given)
            result = result if changed is None else changed
        return result

    def _note_results(self, names: Iterable[str]) -> None:
        """Exclude results that a call stored as attributes from the parameters.

        `forward` may create layers at its first call: attributes that contain modules
        or leaves that require a gradient stay parameters.
        """
        for name in names:
            value = vars(self)[name]
            if holds_leaves(value) and not any(_modules_in(name, value)):
                tensors = [each[1] for each in _tensors_in(value, name, False, True)]
                if not any(x.requires_grad and x.is_leaf for x in tensors):
                    self._constants = self._constants | {name}
                    self._unsaved = self._unsaved | {name}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; each class has its own.

        Raises:
            TensorwebError: the class defines neither `forward` nor `__call__`.

        >>> tw.nn.Linear(3, 2).forward(tw.ones((5, 3))).shape
        (5, 2)
        """
        name = type(self).__name__
        raise TensorwebError(
            f"{name}: the class says nowhere what it computes; give it a method "
            "forward(self, x)."
        )

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Register a tensor that is not trained, for example a mask or a table.

        It is a leaf of the tree, without a derivative, and one of `buffers()`. With
        `persistent=False` it is not in `state_dict()`.

        Raises:
            DataError: the name is no attribute name.
            DTypeError: the value is no tensor.

        >>> layer = tw.nn.Linear(3, 2)
        >>> layer.register_buffer("mask", tw.ones(2))
        >>> [name for name, _ in layer.named_buffers()]
        ['mask']
        """
        if not name.isidentifier():
            raise DataError(f"register_buffer: {name!r} is no name of an attribute.")
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise DTypeError(
                f"register_buffer: {name} is a {type(tensor).__name__}; give a tensor."
            )
        self._constants = self._constants | {name}
        if not persistent:
            self._unsaved = self._unsaved | {name}
        setattr(self, name, tensor)

    def register_forward_hook(
        self, hook: Hook, *, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook(module, args, output)` after each call of this module.

        What it returns replaces the output, unless it is None. Hooks are for
        looking: a class that overrides `__call__` does not call them. With
        `with_kwargs` it is `hook(module, args, kwargs, output)`.

        >>> model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.ReLU())
        >>> shapes = []
        >>> keep = lambda module, args, output: shapes.append(output.shape)
        >>> handle = model[0].register_forward_hook(keep)
        >>> _ = model(tw.ones((2, 3)))
        >>> shapes
        [(2, 4)]
        """
        added = TakingKeywords(hook) if with_kwargs else hook
        return HookHandle(self, "_forward_hooks", added)

    def register_forward_pre_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(module, args)` before each call of this module.

        What it returns replaces the positional arguments, unless it is None.

        >>> layer = tw.nn.ReLU()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: -args[0])
        >>> layer(tw.asarray([-1.0, 1.0]))
        tensor([1., 0.])
        """
        return HookHandle(self, "_forward_pre_hooks", hook)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Set an attribute to a parameter, as `setattr` does.

        >>> layer = tw.nn.ReLU()
        >>> layer.register_parameter("scale", tw.nn.Parameter(tw.ones(1)))
        >>> [name for name, _ in layer.named_parameters()]
        ['scale']
        """
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """Set an attribute to a module; a `Sequential` appends it.

        >>> model = tw.nn.Sequential()
        >>> model.add_module("act", tw.nn.ReLU())
        >>> model
        Sequential(
          (act): ReLU()
        )
        """
        setattr(self, name, module)

    register_module = add_module

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call a function with every submodule and this module, inner ones first.

        >>> model = tw.nn.Sequential(tw.nn.Linear(3, 2), tw.nn.ReLU())
        >>> model.apply(lambda module: print(type(module).__name__)) is model
        Linear
        ReLU
        Sequential
        True
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to 0.

        >>> layer = tw.nn.Linear(3, 2).requires_grad_()
        >>> layer(tw.ones(3)).sum().backward()
        >>> layer.zero_grad()
        >>> layer.bias.grad is None
        True
        """
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.zero_()

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Yield this module and all submodules, with their names by path.

        >>> model = tw.nn.Sequential(tw.nn.Linear(3, 2), tw.nn.ReLU())
        >>> [name for name, _ in model.named_modules()]
        ['', '0', '1']
        """
        yield from _to_its_ends(self, _modules(self, prefix))

    def modules(self) -> Iterator[Module]:
        """Yield this module and all submodules.

        >>> model = tw.nn.Sequential(tw.nn.Linear(3, 2), tw.nn.ReLU())
        >>> [type(module).__name__ for module in model.modules()]
        ['Sequential', 'Linear', 'ReLU']
        """
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the direct submodules by name, including those in lists and dicts.

        >>> model = tw.nn.Sequential(tw.nn.Linear(3, 2), tw.nn.ReLU())
        >>> [name for name, _ in model.named_children()]
        ['0', '1']
        """
        for name, value in self._parts():
            yield from _modules_in(name, value)

    def get_submodule(self, target: str) -> Any:
        """Return the module of a path, or the list or dict of modules.

        Raises:
            AttributeError: there is none.

        >>> model = tw.nn.Sequential(tw.nn.Sequential(tw.nn.ReLU()))
        >>> model.get_submodule("0.0")
        ReLU()
        """
        names = target.split(".") if target else []
        return functools.reduce(part_of, names, self)

    def children(self) -> Iterator[Module]:
        """Yield the direct submodules, including those in lists and dicts.

        >>> list(tw.nn.Sequential(tw.nn.ReLU(), tw.nn.Tanh()).children())
        [ReLU(), Tanh()]
        """
        return (module for _, module in self.named_children())

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Yield the trainable tensors by name: floats that are no buffers.

        A shared tensor is yielded once.

        >>> [(name, x.shape) for name, x in tw.nn.Linear(3, 2).named_parameters()]
        [('weight', (2, 3)), ('bias', (2,))]
        """
        seen: set[int] = set()
        for name, tensor, is_buffer, _ in _tensors(self, prefix):
            is_flowing = tensor.node.dtype.kind in FLOWING
            if is_flowing and not is_buffer and id(tensor) not in seen:
                seen.add(id(tensor))
                yield name, tensor

    def parameters(self) -> Iterator[Tensor]:
        """Yield the trainable tensors: floats that are no buffers.

        >>> sum(x.size for x in tw.nn.Linear(3, 2).parameters())
        8
        """
        return (tensor for _, tensor in self.named_parameters())

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Yield by name what is not trained: buffers, and tensors of other dtypes.

        >>> [name for name, _ in tw.nn.BatchNorm1d(3).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        for name, tensor, is_buffer, _ in _tensors(self, prefix):
            if is_buffer or tensor.node.dtype.kind not in FLOWING:
                yield name, tensor

    def buffers(self) -> Iterator[Tensor]:
        """Yield the tensors that are not trained.

        >>> [x.shape for x in tw.nn.BatchNorm1d(3).buffers()]
        [(3,), (3,), ()]
        """
        return (tensor for _, tensor in self.named_buffers())

    def state_dict(self) -> dict[str, Tensor]:
        """Return all tensors by their names, which are PyTorch's: `layers.0.weight`.

        They are detached, and further training does not change them.

        >>> {name: x.shape for name, x in tw.nn.Linear(3, 2).state_dict().items()}
        {'weight': (2, 3), 'bias': (2,)}
        """
        return {
            name: tensor.detach()
            for name, tensor, _, is_saved in _tensors(self)
            if is_saved
        }

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """Take over values by name, in this module's dtypes and on its devices.

        Args:
            state_dict: tensors, NumPy arrays or nested lists.
            strict: whether names that are missing or unknown are an error.

        Returns:
            `(missing, unexpected)` names.

        Raises:
            DataError: names or shapes do not fit; it lists all, and nothing is loaded.

        >>> first, second = tw.nn.Linear(3, 2), tw.nn.Linear(3, 2)
        >>> second.load_state_dict(first.state_dict())
        ([], [])
        >>> bool((first.weight == second.weight).all())
        True
        """
        named = {name: t for name, t, _, is_saved in _tensors(self) if is_saved}
        return load(type(self).__name__, named, state_dict, strict)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether `backward()` computes gradients of all parameters.

        >>> layer = tw.nn.Linear(3, 2).requires_grad_(False)
        >>> layer.weight.requires_grad
        False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set whether calls without `train=` and `key=` are those of training.

        Then normalisations use the statistics of the batch and update the running
        ones, and dropout draws its keys from the program's generator. A new module
        evaluates.

        Args:
            mode: whether calls are those of training.

        >>> model = tw.nn.Sequential(tw.nn.ReLU(), tw.nn.Dropout(1.0)).train()
        >>> model(tw.ones(2)), model.training
        (tensor([0., 0.]), True)
        """
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set that calls without `train=` and `key=` evaluate, as in a new module.

        >>> tw.nn.Dropout(1.0).train().eval()(tw.ones(2))
        tensor([1., 1.])
        """
        return self.train(False)

    def cpu(self) -> Self:
        """Move this module to the CPU; return it.

        >>> next(tw.nn.Linear(3, 2).cpu().parameters()).device
        'cpu'
        """
        return self.to("cpu")

    def to(self, device: object = None, dtype: object = None) -> Self:
        """Move this module to a device, and its floats to a dtype; return it.

        A dtype may come alone, as in `model.to(tw.float16)`.

        >>> tw.nn.Linear(3, 2).to("cpu", tw.float64).weight.dtype
        tensorweb.float64
        """
        if isinstance(device, DType):
            device, dtype = None, device
        for tensor in [tensor for _, tensor, _, _ in _tensors(self)]:
            value = tensor.detach()
            if dtype is not None and tensor.node.dtype.kind == "float":
                value = value.astype(dtype)
            if device is not None:
                value = value.to_device(device)
            become(tensor, value)
        return self

    def extra_repr(self) -> str:
        """Return the settings that the representation shows.

        >>> tw.nn.Linear(3, 2).extra_repr()
        'in_features=3, out_features=2, bias=True'
        """
        return ""

    def __repr__(self) -> str:
        """Return the submodules, one per line, as PyTorch shows them."""
        try:
            return described(
                type(self).__name__, self.extra_repr(), list(self.named_children())
            )
        except RecursionError:
            raise endless(self) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a name with dots replaces the module of that path."""
        if "." not in name:
            object.__setattr__(self, name, value)
            return
        path, _, last = name.rpartition(".")
        set_part(self.get_submodule(path), last, value)

    def __getattr__(self, name: str) -> NoReturn:
        """Raise; for a method of PyTorch the message has its replacement."""
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        advice = module_method_advice(name)
        if advice is not None:
            text += f"; {advice}"
        raise AttributeError(text, name=name, obj=self)

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values of attributes that contain tensors.

        The name of the attribute that paths omit, as `layers` of `Sequential`, is "".
        """
        for name, value in attributes(self).items():
            if not holds_leaves(value):
                continue
            yield "" if name == getattr(type(self), UNNAMED) else name, value


register_module(Module)


def part_of(holder: Any, name: str) -> Any:
    """Return the attribute of a module, or the item of a list or dict, of this name.

    Raises:
        AttributeError: there is none.
    """
    try:
        if isinstance(holder, list | tuple):
            return holder[int(name)]
        return holder[name] if isinstance(holder, dict) else getattr(holder, name)
    except (ValueError, LookupError):
        raise AttributeError(
            f"a {type(holder).__name__} of {len(holder)} has no part {name!r}"
        ) from None


def set_part(holder: Any, name: str, value: Any) -> None:
    """Replace the attribute of a module, or the item of a list or dict, of this name.

    Raises:
        AttributeError: there is none.
    """
    part_of(holder, name)
    if isinstance(holder, list | dict):
        holder[int(name) if isinstance(holder, list) else name] = value  # type: ignore[index]  # the kind of key that it has
    else:
        setattr(holder, name, value)


def warn_of_mode(layer: Module, x: Tensor, what: str) -> None:
    """Warn of a layer that evaluates, unasked, while gradients are computed."""
    if "training" not in vars(layer) and (is_differentiating() or reaches_leaf(x.node)):
        warn_once(
            ModeWarning,
            f"{type(layer).__name__} {what} while gradients are computed: a new module "
            "evaluates. Call model.train() to train it, model.eval() to evaluate "
            "without this warning.",
        )


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a container, with indices where they have no names."""
    if isinstance(value, dict):
        yield from ((str(name), part) for name, part in value.items())
    elif isinstance(value, tuple | list):
        yield from ((str(index), part) for index, part in enumerate(value))
    elif is_opened(value):
        yield from attributes(value).items()


def _to_its_ends(module: Module, walk: Iterator[T]) -> Iterator[T]:
    """Yield what a walk through a module yields.

    Raises:
        DataError: the module contains itself.
    """
    try:
        yield from walk
    except RecursionError:
        raise endless(module) from None


def _modules(module: Module, prefix: str) -> Iterator[tuple[str, Module]]:
    yield prefix, module
    for name, child in module.named_children():
        yield from _modules(child, _joined(prefix, name))


def _modules_in(name: str, value: Any) -> Iterator[tuple[str, Module]]:
    """Yield a value that is a module, or the outermost modules inside it."""
    if isinstance(value, Module):
        if name:
            yield name, value
        else:
            yield from value.named_children()
    elif not isinstance(value, TensorBase):
        for inner, part in _named(value):
            yield from _modules_in(_joined(name, inner), part)


def _joined(first: str, last: str) -> str:
    """Return a joined path; either part may be empty."""
    return f"{first}.{last}" if first and last else first or last


def _tensors(
    module: Module, prefix: str = ""
) -> Iterator[tuple[str, Tensor, bool, bool]]:
    """Yield each tensor with its name, whether it is a buffer, and is saved."""
    return _to_its_ends(module, _tensors_in(module, prefix, False, True))


def _tensors_in(
    value: Any, prefix: str, is_buffer: bool, is_saved: bool
) -> Iterator[tuple[str, Tensor, bool, bool]]:
    if isinstance(value, TensorBase):
        assert isinstance(value, Tensor), "internal: tensors are of one class"
        # A result, such as attention weights that forward has stored, is not trained.
        is_result = not value.is_leaf
        yield prefix, value, is_buffer or is_result, is_saved and not is_result
        return
    if isinstance(value, Module) and value._is_lazy:
        raise DataError(
            f"{type(value).__name__}: it has no parameters before its first call; call "
            "the model once on an example before."
        )
    constants = getattr(value, CONSTANTS, ()) if isinstance(value, Module) else ()
    unsaved = value._unsaved if isinstance(value, Module) else ()
    parts = list(value._parts() if isinstance(value, Module) else _named(value))
    if isinstance(value, Module):
        # As in PyTorch: own parameters, own buffers, then the parts.
        parts.sort(
            key=lambda part: (not isinstance(part[1], TensorBase), part[0] in constants)
        )
    for name, part in parts:
        inner = _joined(prefix, name)
        yield from _tensors_in(
            part,
            inner,
            is_buffer or name in constants,
            is_saved and name not in unsaved,
        )


def described(name: str, settings: str, children: Sequence[tuple[str, object]]) -> str:
    """Return a module's name and settings, and its submodules indented."""
    if not children:
        return f"{name}({settings})"
    lines = [settings] if settings else []
    for inner, child in children:
        text = child if isinstance(child, str) else repr(child)
        lines.append(f"({inner}): {text}")
    body = "\n".join(lines).replace("\n", "\n  ")
    return f"{name}(\n  {body}\n)"


MOST_LISTED = 50


def load(
    module: str, named: Mapping[str, Tensor], values: Mapping[str, Any], strict: bool
) -> tuple[list[str], list[str]]:
    """Assign values to tensors in place; return missing and unexpected names.

    Raises:
        DataError: shapes do not fit, or names do not and `strict` is set; nothing is
            loaded then.
    """
    missing = [name for name in named if name not in values]
    unexpected = [name for name in values if name not in named]
    problems: list[str] = []
    if strict:
        problems += [f"{name} is missing" for name in missing]
        problems += [f"{name} is unknown" for name in unexpected]
    loaded: dict[str, Tensor] = {}
    for name, tensor in named.items():
        if name not in values:
            continue
        try:
            value = _converted(values[name], tensor)
        except TensorwebError as error:
            problems.append(f"{name}: {error}")
            continue
        if value.shape != tensor.shape:
            problems.append(
                f"{name} has shape {value.shape}, the module's {tensor.shape}"
            )
        loaded[name] = value
    if problems:
        listed = [f"  {problem}" for problem in problems[:MOST_LISTED]]
        if len(problems) > MOST_LISTED:
            listed.append(f"  and {len(problems) - MOST_LISTED} more")
        raise DataError(
            f"load_state_dict: this does not fit {module}, and nothing was loaded:\n"
            + "\n".join(listed)
        )
    for name, value in loaded.items():
        replace(named[name], value)
    return missing, unexpected


def _converted(value: Any, like: Tensor) -> Tensor:
    """Return a value in another's dtype; PyTorch tensors are converted by NumPy."""
    if not isinstance(value, TensorBase) and hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return operand(like, value).detach().astype(like.dtype)


def replace(tensor: Tensor, value: Tensor) -> None:
    """Assign a value to a tensor object, in its dtype and on its device."""
    with no_grad():
        taken = value.detach().astype(tensor.dtype).to_device(tensor.device)
        tensor._replace(taken.node)


def become(tensor: Tensor, value: Tensor) -> None:
    """Assign a value to a tensor object, with another dtype or device."""
    with no_grad():
        tensor._replace(value.node)
    if tensor.grad is not None:
        tensor.grad = None
