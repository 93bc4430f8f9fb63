"""Modules made of a function, and of other modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from inspect import Parameter as Option
from inspect import Signature, get_annotations, signature
from math import prod
from typing import Any, ClassVar, SupportsIndex, dataclass_transform, overload
from weakref import WeakKeyDictionary

from tensorweb.errors import DTypeError, ShapeError
from tensorweb.functions import asarray
from tensorweb.nn.module import Module, described, part_of, set_part
from tensorweb.public_names import declare_public
from tensorweb.random import fold_in
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.backward import no_grad

Layer = Callable[..., Any]


@dataclass_transform()
class FunctionModule(Module):
    """A function as a module: annotated attributes are its options, in their order.

    The constructor takes them by position or by name, as that of a dataclass.
    """

    _function: ClassVar[Callable[..., Any]]
    _parameters: ClassVar[tuple[Option, ...]] = ()
    _options: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Make the signature of the constructor."""
        super().__init_subclass__()
        cls._parameters += tuple(
            [
                Option(
                    name,
                    Option.POSITIONAL_OR_KEYWORD,
                    default=getattr(cls, name, Option.empty),
                    annotation=annotation,
                )
                for name, annotation in get_annotations(cls).items()
                if not name.startswith("_")
            ]
        )
        cls.__signature__ = Signature(cls._parameters)  # type: ignore[attr-defined]  # read by inspect
        names = [parameter.name for parameter in cls._parameters]
        # PyTorch's `inplace` changes nothing: values never change.
        cls._options = tuple([name for name in names if name != "inplace"])

    @answering_keywords
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Store the options."""
        bound = signature(type(self)).bind(*args, **kwargs)
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    def forward(self, x: ArrayLike) -> Any:
        """Return the function of `x`."""
        return self._apply(x)

    def _apply(self, *inputs: ArrayLike) -> Any:
        options = {name: getattr(self, name) for name in self._options}
        return type(self)._function(*inputs, **options)

    def extra_repr(self) -> str:
        """Return the options."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._options)


_taken: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()
"""Which of `key` and `train` calling a layer of a class takes."""


def _taken_by(function: Callable[..., Any]) -> frozenset[str]:
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(names) & {"key", "train"}


def _takes(layer: Layer) -> frozenset[str]:
    """Return which of `key` and `train` calling a layer takes.

    >>> sorted(_takes(tw.nn.Dropout(0.5)))
    ['key']
    """
    if not isinstance(layer, Module):
        return frozenset()
    kind = type(layer)
    found = _taken.get(kind)
    if found is None:
        is_own = kind.__call__ is not Module.__call__
        found = _taken[kind] = _taken_by(kind.__call__ if is_own else kind.forward)
    return found


class Sequential(Module):
    """Layers applied in order: modules, and functions of one tensor.

    Layers are named 0, 1, 2 … as in PyTorch, or by the keys of a dict. `key=` is split
    among the layers that take one, and `train=` is passed to layers that take it.

    >>> model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.relu, tw.nn.Linear(4, 2))
    >>> model(tw.ones((5, 3))).shape
    (5, 2)
    >>> list(model.state_dict())
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """

    _unnamed: ClassVar[str | None] = "layers"

    @overload
    def __init__(self, layers: Mapping[str, Layer], /) -> None: ...

    @overload
    def __init__(self, *layers: Layer) -> None: ...

    def __init__(self, *layers: Any) -> None:
        """Make a container of layers.

        Raises:
            DTypeError: one of them cannot be called.
        """
        self.layers: list[Layer] | dict[str, Layer]
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            self.layers = dict(layers[0])
        else:
            self.layers = list(layers)
        for name, layer in self._named():
            if not callable(layer):
                raise DTypeError(
                    f"Sequential: layer {name} is a {type(layer).__name__}; give "
                    "modules or functions, one argument each: Sequential(*layers) for "
                    "a list of them."
                )

    def _named(self) -> Iterable[tuple[str, Layer]]:
        if isinstance(self.layers, dict):
            return self.layers.items()
        return ((str(index), layer) for index, layer in enumerate(self.layers))

    def forward(
        self, x: Any, *, key: Tensor | None = None, train: bool | None = None
    ) -> Any:
        """Return the result of applying all layers in order."""
        for index, (name, layer) in enumerate(self._named()):
            accepted = _takes(layer)
            arguments: dict[str, Any] = {}
            if key is not None and "key" in accepted:
                arguments["key"] = fold_in(key, index)
            if train is not None and "train" in accepted:
                arguments["train"] = train
            is_told = "train" in accepted
            if train is not None and not is_told and isinstance(layer, Module):
                # Layers without `train=` have only their mode, also `Dropout`.
                with _naming(name), _in_mode(layer, train):
                    x = layer(x, **arguments)
            else:
                with _naming(name):
                    x = layer(x, **arguments)
        return x

    def __setattr__(self, name: str, value: Any) -> None:
        """Replace the layer of a name, as PyTorch's `setattr(model, "0", layer)`."""
        names = [key for key, _ in self._named()] if "layers" in vars(self) else []
        if name in names:
            self[names.index(name)] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Return the layer of a name, as PyTorch's `getattr(model, "0")`."""
        names = dict(self._named()) if "layers" in vars(self) else {}
        return names[name] if name in names else super().__getattr__(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Append a layer under a name, or replace the one of this name.

        >>> model = tw.nn.Sequential()
        >>> model.add_module("act", tw.nn.ReLU())
        >>> model[0]
        ReLU()
        """
        self.layers = {**dict(self._named()), name: module}  # type: ignore[dict-item]  # what is called is a layer here

    def append(self, layer: Layer) -> Sequential:
        """Append a layer.

        >>> tw.nn.Sequential(tw.nn.ReLU()).append(tw.nn.Tanh())
        Sequential(
          (0): ReLU()
          (1): Tanh()
        )
        """
        if isinstance(self.layers, dict):
            self.layers[str(len(self.layers))] = layer
        else:
            self.layers.append(layer)
        return self

    def __len__(self) -> int:
        """Return the count of layers."""
        return len(self.layers)

    def __setitem__(self, index: int, layer: Layer) -> None:
        """Replace a layer."""
        if isinstance(self.layers, dict):
            self.layers[list(self.layers)[index]] = layer
        else:
            self.layers[index] = layer

    def __delitem__(self, index: int | slice) -> None:
        """Remove layers; the others are named by their indices, as in PyTorch."""
        layers = list(self)
        del layers[index]
        self.layers = layers

    def insert(self, index: int, layer: Layer) -> Sequential:
        """Insert a layer; all are named by their indices, as in PyTorch.

        >>> tw.nn.Sequential(tw.nn.ReLU()).insert(0, tw.nn.Tanh())[0]
        Tanh()
        """
        layers = list(self)
        layers.insert(index, layer)
        self.layers = layers
        return self

    def extend(self, layers: Iterable[Layer]) -> Sequential:
        """Append layers.

        >>> len(tw.nn.Sequential().extend([tw.nn.ReLU(), tw.nn.Tanh()]))
        2
        """
        for layer in list(layers):
            self.append(layer)
        return self

    def pop(self, index: int) -> Layer:
        """Remove a layer and return it.

        >>> tw.nn.Sequential(tw.nn.ReLU(), tw.nn.Tanh()).pop(-1)
        Tanh()
        """
        layer: Layer = self[index]
        del self[index]
        return layer

    def __iter__(self) -> Iterator[Layer]:
        """Yield the layers."""
        return (layer for _, layer in self._named())

    def __getitem__(self, index: int | slice) -> Any:
        """Return a layer, or a Sequential of some."""
        named = list(self._named())
        if isinstance(index, slice):
            if isinstance(self.layers, dict):
                return Sequential(dict(named[index]))
            return Sequential(*[layer for _, layer in named[index]])
        return named[index][1]

    def __repr__(self) -> str:
        """Return the layers, one a line."""
        return described("Sequential", "", [(n, _shown(x)) for n, x in self._named()])


class _naming:  # a function would make a generator at each call
    """Lets errors of shapes begin with the layer's path inside a `with` block."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, ShapeError):
            inner = str(error)
            known = inner.startswith("layer ")
            rest = f".{inner[6:]}" if known else f": {inner}"
            error.args = (f"layer {self._name}{rest}",)


@contextmanager
def _in_mode(block: Module, train: bool) -> Iterator[None]:
    """Set the mode of a block and of its layers for one call."""
    changed = [module for module in block.modules() if module.training != train]
    for module in changed:
        module.training = not module.training
    try:
        yield
    finally:
        for module in changed:
            module.training = not module.training
            if module.training is Module.training:
                del module.training


def summary(model: Module, *inputs: Any) -> str:
    """Return the layers of a model as text, with the shapes of a call's results.

    The call evaluates, and it makes the parameters of lazy layers. Modules that have
    submodules are left out.

    >>> model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.ReLU(), tw.nn.Linear(4, 2))
    >>> print(tw.nn.summary(model, tw.ones((5, 3))))
    layer  class   result  parameters
    0      Linear  (5, 4)          16
    1      ReLU    (5, 4)           0
    2      Linear  (5, 2)          10
    total                          26
    """
    rows: list[tuple[str, str, str, int]] = []

    def add(name: str, layer: Module, args: Any, result: Any) -> None:
        count = sum(one.size for one in layer.parameters())
        shape = getattr(result, "shape", type(result).__name__)
        rows.append((name, type(layer).__name__, str(shape), count))

    leaves = [(n, m) for n, m in model.named_modules() if not any(m.children())]
    handles = [m.register_forward_hook(partial(add, name)) for name, m in leaves]
    try:
        with no_grad(), _in_mode(model, False):
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    total = sum(one.size for one in model.parameters())
    table = [
        ("layer", "class", "result", "parameters"),
        *rows,
        ("total", "", "", total),
    ]
    wide = [max(len(str(row[i])) for row in table) for i in range(4)]
    return "\n".join(
        f"{a:{wide[0]}}  {b:{wide[1]}}  {c:{wide[2]}}  {d!s:>{wide[3]}}"
        for a, b, c, d in table
    )


def _shown(layer: Layer) -> object:
    return layer if isinstance(layer, Module) else getattr(layer, "__name__", layer)


class _Held(Module):
    """Modules in a list or a dict, which has the methods of a module by this."""

    _unnamed: ClassVar[str | None] = "modules_held"

    def __init__(self, modules: Any) -> None:
        self.modules_held = modules


def _method(container: Any, name: str) -> Any:
    """Return a method of the module that a container would be.

    Raises:
        AttributeError: modules have none of that name.
    """
    if name.startswith("_") or not callable(getattr(Module, name, None)):
        raise AttributeError(f"{type(container).__name__!r} has no attribute {name!r}")
    held = _Held(container)
    method = getattr(held, name)

    @wraps(method)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        result = method(*args, **keywords)
        return container if result is held else result

    return wrapper


class ModuleList(list[Any]):
    """A list of modules; modules look into plain lists as well.

    It has the methods of a module: `parameters()`, `train()` and the like.

    >>> model = tw.nn.Sequential(*tw.nn.ModuleList([tw.nn.ReLU(), tw.nn.Tanh()]))
    >>> len(model)
    2
    """

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        """Make a list.

        Args:
            modules: the modules.
        """
        super().__init__(modules)

    def __getattr__(self, name: str) -> Any:
        """Return the module of an index, or a method of modules.

        Raises:
            AttributeError: there is none.
        """
        return part_of(self, name) if name.isdecimal() else _method(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Replace the module of an index, as PyTorch's `setattr(layers, "0", x)`."""
        if name.isdecimal():
            set_part(self, name, value)
        else:
            super().__setattr__(name, value)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """Return a module, or several as another list."""
        found = super().__getitem__(index)
        return ModuleList(found) if isinstance(index, slice) else found


class ModuleDict(dict[str, Any]):
    """A dict of modules; modules look into plain dicts as well.

    A key that is a name is an attribute too, as in PyTorch.

    >>> parts = tw.nn.ModuleDict({"relu": tw.nn.ReLU()})
    >>> parts["relu"], parts.relu
    (ReLU(), ReLU())
    """

    def __init__(self, modules: Any = ()) -> None:
        """Make a dict.

        Args:
            modules: a mapping, or pairs of a key and a module.
        """
        super().__init__(modules)

    def __getattr__(self, name: str) -> Any:
        """Return the module of a key, or a method of modules.

        Raises:
            AttributeError: there is none.
        """
        try:
            return self[name] if name in self else _method(self, name)
        except AttributeError:
            raise AttributeError(
                f"this ModuleDict has no module {name!r}, only {', '.join(self)}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Replace the module of a key."""
        if name in self:
            self[name] = value
        else:
            super().__setattr__(name, value)


class ParameterList(list[Any]):
    """A list of tensors; modules look into plain lists as well.

    >>> tw.nn.ParameterList([tw.ones(2)])[0]
    tensor([1., 1.])
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        """Make a list.

        Args:
            values: the tensors.
        """
        super().__init__(values)


class ParameterDict(dict[str, Any]):
    """A dict of tensors; modules look into plain dicts as well.

    >>> tw.nn.ParameterDict({"bias": tw.ones(2)})["bias"]
    tensor([1., 1.])
    """

    def __init__(self, parameters: Any = ()) -> None:
        """Make a dict.

        Args:
            parameters: a mapping, or pairs of a key and a tensor.
        """
        super().__init__(parameters)


def flatten(x: ArrayLike, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return a tensor with consecutive axes merged into one.

    Raises:
        AxisError: an axis does not exist.
        ShapeError: the first comes behind the last.

    >>> tw.nn.flatten(tw.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    tensor = asarray(x)
    if not tensor.ndim:
        return tensor.reshape(1)
    first = normalize_axis(start_dim, tensor.ndim)
    last = normalize_axis(end_dim, tensor.ndim)
    if first > last:
        raise ShapeError(
            f"flatten: start_dim {start_dim} comes behind end_dim {end_dim} of shape "
            f"{tensor.shape}; exchange them."
        )
    before, inside = tensor.shape[:first], tensor.shape[first : last + 1]
    return tensor.reshape(*before, prod(inside), *tensor.shape[last + 1 :])


class Flatten(FunctionModule):
    """Merges all axes but the first: `(n, ...)` gives `(n, features)`.

    >>> tw.nn.Flatten()(tw.ones((4, 2, 3))).shape
    (4, 6)
    """

    _function = staticmethod(flatten)
    start_dim: int = 1
    end_dim: int = -1


class Unflatten(Module):
    """Splits one axis into several.

    >>> tw.nn.Unflatten(1, (2, 3))(tw.ones((4, 6))).shape
    (4, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        """Make a layer.

        Args:
            dim: the axis to split.
            unflattened_size: lengths of the axes that it becomes; one may be -1.
        """
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, x: ArrayLike) -> Tensor:
        """Return the input with the axis split.

        Raises:
            ShapeError: the lengths do not fit.
        """
        tensor = asarray(x)
        axis = normalize_axis(self.dim, tensor.ndim)
        remaining = tensor.shape[axis + 1 :]
        return tensor.reshape(*tensor.shape[:axis], *self.unflattened_size, *remaining)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


declare_public(__name__, hidden="FunctionModule")
