"""`kernel`: a function of tensors whose kernel the program brings in WGSL."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from operator import index
from textwrap import dedent
from typing import Any
from weakref import WeakKeyDictionary

from tensorweb import dtypes
from tensorweb.devices import backend, default_device, require_dtype
from tensorweb.devices import device as default
from tensorweb.dtypes import DType, as_dtype
from tensorweb.errors import DeviceError, DTypeError, KernelError, ShapeError
from tensorweb.functions import asarray
from tensorweb.graph.attributes import IDS, Argument, Custom, Extent
from tensorweb.graph.node import Node, leaf
from tensorweb.graph.tracing import Placeholder
from tensorweb.nodes.custom import custom, is_value
from tensorweb.protocol import ShaderCompiler
from tensorweb.shapes import Shape, broadcast_shapes, size, unravel_index
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike, device_of
from tensorweb.transforms.custom import custom_vjp

Lengths = int | Sequence[int]
"""A shape or a grid; a number stands for one axis."""

LengthsRule = Lengths | Callable[..., Lengths]
"""Lengths, or a function that computes them from the shapes of the arguments it names.
"""

SUPPORTED = (dtypes.float32, dtypes.float16, dtypes.int32, dtypes.uint32)
"""The dtypes whose elements are the same in a storage and in WGSL."""

TAKEN = {*IDS, "main", "parameters", "Parameters", "dispatched", "dispatched_id"}
"""Names that the declarations around a text use."""

MOST_GROUPS = 2**31 - 1
"""Workgroups are counted with the positive numbers of 32 bits."""

CHECKED_KEPT = 1024
"""Descriptions of calls per device that are known to compile."""


def kernel(
    text: str,
    *,
    inputs: Mapping[str, DTypeLike],
    outputs: Mapping[str, DTypeLike],
    shape: LengthsRule | Mapping[str, LengthsRule] | None = None,
    grid: LengthsRule | None = None,
    workgroup_size: Lengths = 256,
    header: str = "",
    name: str = "kernel",
    vjp: Callable[[Any, Any, Any], Sequence[Any]] | None = None,
    reference: Callable[..., Any] | None = None,
    fallback: bool = False,
    clear: bool = True,
) -> Kernel:
    """Return a function of tensors that runs a kernel of your own, written in WGSL.

    Inputs of shape `(…)` are flat arrays `x[0]` … in row-major order, inputs without
    axes, such as numbers, are values `a`; outputs are arrays that start as zeros. An
    output passed to `atomicAdd(&count[i], 1u)` and the like is an array of atomics. The
    text may name `global_id`, `local_id`, `workgroup_id` and `num_workgroups`
    (`vec3u`), `local_index` (`u32`), and, as constants, `x_size` (`u32`) and `x_shape`
    (an array of `u32`) of every input and output `x`.

    Args:
        text: the statements of the kernel's `main` function.
        inputs: dtype by name: float32, float16, int32 or uint32. Tensors have that
            dtype; numbers, lists and NumPy arrays are converted.
        outputs: dtype by name.
        shape: the output's shape, or a function such as `lambda a, b: (a[0], b[1])`:
            its parameters are names of inputs, it receives their shapes. A dict by name
            for several outputs. By default the broadcast shape of the inputs.
        grid: count of invocations along x, y and z, rounded up to full workgroups; or a
            function as for `shape`, which may name outputs too. By default one
            invocation for each element of the first output.
        workgroup_size: invocations of a workgroup along x, y and z.
        header: functions, constants and `var<workgroup>` arrays for the text.
        name: the kernel's name in messages and in the list of kernels.
        vjp: the derivative, a function of the tuple of inputs, the result and its
            cotangent; returns a cotangent, or None, for each input.
        reference: computes the result with tensors or NumPy, for `Kernel.check`.
        fallback: whether the reference computes on device `cpu`, which runs a part of
            WGSL.
        clear: whether outputs start as zeros. Without, which saves a pass over them,
            elements that the text does not write have any value.

    Returns:
        A `Kernel`. Called, it returns the output, or a tuple of several. It works under
        `jit`, under `vmap` as one launch for each example, and under `grad` with a
        `vjp`.

    Raises:
        KernelError: the declaration contradicts itself.
        DTypeError: a dtype is none of the four.

    >>> double = tw.kernel(
    ...     "let i = global_id.x; if (i < y_size) { y[i] = 2.0 * x[i]; }",
    ...     inputs={"x": tw.float32},
    ...     outputs={"y": tw.float32},
    ...     reference=lambda x: 2 * x,
    ...     fallback=True,
    ... )
    >>> double(tw.arange(3.0))
    tensor([0., 2., 4.])
    """
    return Kernel(
        text,
        inputs,
        outputs,
        shape,
        grid,
        workgroup_size,
        header,
        name,
        vjp,
        reference,
        fallback,
        clear,
    )


class Kernel:
    """A function of tensors with a kernel of your own; `tensorweb.kernel` returns it.

    >>> f = tw.kernel("y[0] = x;", inputs={"x": "int32"}, outputs={"y": "int32"})
    >>> f
    <kernel 'kernel': (x: int32) -> (y: int32)>
    """

    def __init__(
        self,
        text: str,
        inputs: Mapping[str, DTypeLike],
        outputs: Mapping[str, DTypeLike],
        shape: LengthsRule | Mapping[str, LengthsRule] | None,
        grid: LengthsRule | None,
        workgroup_size: Lengths,
        header: str,
        name: str,
        vjp: Callable[[Any, Any, Any], Sequence[Any]] | None,
        reference: Callable[..., Any] | None,
        fallback: bool,
        clear: bool,
    ) -> None:
        """Check the declaration; programs call `tensorweb.kernel`."""
        self.__name__ = name
        self._text = dedent(text).strip("\n").rstrip()
        self._header = dedent(header).strip("\n").rstrip()
        self._inputs = self._declared(inputs)
        self._outputs = self._declared(outputs)
        self._shapes = self._shape_rules(shape)
        self._grid = grid
        self._workgroup = self._extent(workgroup_size, "workgroup_size")
        self._reference = reference
        self._fallback = fallback
        self._clear = clear
        self._checked: WeakKeyDictionary[object, set[object]] = WeakKeyDictionary()
        self._check_names()
        self._check_text()
        if fallback and reference is None:
            raise self._error("fallback=True needs a reference")

        def forward(*tensors: Any) -> tuple[Any, Any]:
            result = self._compute(*tensors)
            return result, (tensors, result)

        def backward(kept: Any, cotangent: Any) -> Sequence[Any]:
            assert vjp is not None, "internal: no rule"
            tensors, result = kept
            return vjp(tensors, result, cotangent)

        differentiable: Callable[..., Any] = self._compute
        if vjp is not None:
            differentiable = custom_vjp(differentiable, forward, backward)
        self._differentiable = differentiable

    def __repr__(self) -> str:
        """Return name, inputs and outputs."""
        sides = [
            ", ".join(f"{name}: {dtype.name}" for name, dtype in side.items())
            for side in (self._inputs, self._outputs)
        ]
        return f"<kernel {self.__name__!r}: ({sides[0]}) -> ({sides[1]})>"

    def __call__(self, *inputs: ArrayLike) -> Any:
        """Return the output for these inputs, a tuple if the kernel has several.

        Raises:
            KernelError: the count of inputs is another one, or the grid exceeds the
                device's limits.
            DTypeError: a tensor has another dtype than declared.
            DeviceError: the text has what only a GPU runs.
            ShaderError: the text is wrong.
        """
        tensors = self._tensors(inputs)
        return self._differentiable(*tensors)

    def wgsl(self, *inputs: ArrayLike) -> str:
        """Return the complete WGSL for these inputs, compiled but not run.

        Raises:
            DeviceError: the text has what only a GPU runs.
            ShaderError: the text is wrong.
        """
        tensors = self._tensors(inputs)
        compiler = self._compiler(tensors)
        description = self._description(tensors, compiler)
        return compiler.compile_custom(_stand_in(tensors, description)).rstrip()

    def check(self, *inputs: ArrayLike, rtol: float = 1e-5, atol: float = 1e-6) -> None:
        """Compare the results for these inputs with the reference, on device `cpu`.

        Args:
            inputs: as for a call.
            rtol: allowed difference relative to the reference.
            atol: allowed difference in addition.

        Raises:
            KernelError: an element differs, or a shape; the first one is named.
        """
        if self._reference is None:
            raise self._error("check needs a reference; pass reference= to tw.kernel")
        tensors = self._tensors(inputs)
        found = _several(self(*tensors))
        on_cpu = [asarray(each, device="cpu") for each in tensors]
        expected = self._from_reference(on_cpu)
        for name, got, own in zip(self._outputs, found, expected, strict=True):
            self._compare(name, asarray(got, device="cpu"), own, rtol, atol)

    # The declaration

    def _error(self, message: str) -> KernelError:
        return KernelError(f"{self.__name__}: {message}.")

    def _declared(self, arguments: Mapping[str, DTypeLike]) -> dict[str, DType]:
        """Return the dtypes of inputs or outputs."""
        if not hasattr(arguments, "items") or not arguments:
            raise self._error(
                "inputs and outputs are dicts from names to dtypes, for example "
                'inputs={"x": tw.float32}'
            )
        found = {name: as_dtype(dtype) for name, dtype in arguments.items()}
        for name, dtype in found.items():
            if dtype not in SUPPORTED:
                raise DTypeError(
                    f"{self.__name__}: {name!r} is declared {dtype.name}; a kernel in "
                    "WGSL takes float32, float16, int32 or uint32. Cast with astype, "
                    "a bool to uint32 for example."
                )
        return found

    def _check_names(self) -> None:
        """Check that arguments and their sizes and shapes have distinct names."""
        taken = set(TAKEN)
        for name in (*self._inputs, *self._outputs):
            if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
                raise self._error(
                    f"{name!r} is no name of WGSL; use letters, digits and underscores"
                )
            if name in taken:
                declared = [*self._inputs, *self._outputs].count(name) > 1
                what = f"two arguments are called {name!r}"
                raise self._error(
                    what if declared else f"{name!r} is declared already; rename it"
                )
            taken |= {name, f"{name}_size", f"{name}_shape", f"{name}_value"}

    def _check_text(self) -> None:
        """Raise if the text declares `main`, or counts elements by `arrayLength`."""
        both = f"{self._header}\n{self._text}"
        if re.search(r"@compute\b|\bfn\s+main\b", both):
            raise self._error(
                "the text is the body of main, which tw.kernel declares with its "
                "inputs and outputs; pass the statements alone, functions as header="
            )
        found = re.search(r"\barrayLength\s*\(\s*&?\s*(\w*)", both)
        if found:
            raise self._error(
                f"arrayLength counts the buffer, which may be longer than its tensor; "
                f"use {found[1] or 'x'}_size"
            )

    def _shape_rules(
        self, shape: LengthsRule | Mapping[str, LengthsRule] | None
    ) -> dict[str, LengthsRule | None]:
        """Return the rule of each output's shape, None for the broadcast shape."""
        rules: dict[str, LengthsRule | None] = dict.fromkeys(self._outputs)
        if isinstance(shape, Mapping):
            unknown = set(shape) - set(rules)
            if unknown:
                raise self._error(
                    f"shape names {sorted(unknown)}, and the outputs are {list(rules)}"
                )
            return {**rules, **shape}
        if shape is not None and len(rules) > 1:
            raise self._error(
                f"{len(rules)} outputs; pass shape= as a dict by their names"
            )
        return dict.fromkeys(rules, shape)

    # A call

    def _tensors(self, inputs: Sequence[ArrayLike]) -> list[Tensor]:
        """Return the inputs as tensors of the declared dtypes, on one device."""
        names = list(self._inputs)
        if len(inputs) != len(names):
            raise self._error(
                f"{len(inputs)} inputs for {len(names)}: it takes ({', '.join(names)})"
            )
        device = device_of(*inputs) or default_device()
        tensors = []
        for value, (name, dtype) in zip(inputs, self._inputs.items(), strict=True):
            if isinstance(value, TensorBase):
                own = value.node
                if own.device != device:
                    raise DeviceError(
                        f"{self.__name__}: {name!r} is on device {own.device!r}, and "
                        f"other inputs on {device!r}; move it with "
                        f"x.to_device({device!r})."
                    )
                if own.dtype is not dtype:
                    raise DTypeError(
                        f"{self.__name__}: {name!r} is {own.dtype.name} of shape "
                        f"{own.shape}, and declared {dtype.name}; pass "
                        f"{name}.astype(tw.{dtype.name}), or declare it so."
                    )
            tensors.append(asarray(value, dtype=dtype, device=device))
        for dtype in self._outputs.values():
            require_dtype(dtype, device)
        return tensors

    def _compiler(self, tensors: Sequence[Tensor]) -> ShaderCompiler:
        return backend(tensors[0].node.device).shader_compiler

    def _compute(self, *tensors: Tensor) -> Any:
        """Return the outputs, without a derivative."""
        compiler = self._compiler(tensors)
        if self._fallback and compiler.is_slow:
            return _alone(self._from_reference(tensors))
        description = self._description(tensors, compiler)
        nodes = [each.node for each in tensors]
        key = description, tuple(map(is_value, nodes))
        checked = self._checked.setdefault(compiler, set())
        if key not in checked:
            if len(checked) >= CHECKED_KEPT:
                checked.clear()
            compiler.compile_custom(_stand_in(tensors, description))
            checked.add(key)
        return _alone([Tensor(node) for node in custom(nodes, description)])

    def _from_reference(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return the reference's results, of the declared shapes and dtypes."""
        assert self._reference is not None, "internal: nothing to compute"
        device = tensors[0].node.device
        with default(device):  # also of tensors that the reference makes
            values = _several(self._reference(*tensors))
        shapes = self._output_shapes(tensors)
        if len(values) != len(shapes):
            raise self._error(
                f"the reference returned {len(values)} results, and the kernel has "
                f"{len(shapes)} outputs"
            )
        found = []
        for value, (name, shape) in zip(values, shapes.items(), strict=True):
            result = asarray(value, dtype=self._outputs[name], device=device)
            if result.node.shape != shape:
                raise self._error(
                    f"the reference's {name!r} has shape {result.node.shape}, and the "
                    f"kernel's has {shape}"
                )
            found.append(result)
        return found

    def _output_shapes(self, tensors: Sequence[Tensor]) -> dict[str, Shape]:
        """Return the shape of each output."""
        shapes = self._input_shapes(tensors)
        found = {}
        for name, rule in self._shapes.items():
            if rule is not None:
                found[name] = self._lengths(rule, shapes, "shape")
                continue
            try:
                found[name] = broadcast_shapes(*shapes.values())
            except ShapeError:
                listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
                raise self._error(
                    f"the inputs' shapes do not broadcast ({listed}); pass shape= with "
                    f"the shape of {name!r}"
                ) from None
        return found

    def _input_shapes(self, tensors: Sequence[Tensor]) -> dict[str, Shape]:
        return {
            name: each.node.shape
            for name, each in zip(self._inputs, tensors, strict=True)
        }

    def _description(self, tensors: Sequence[Tensor], on: ShaderCompiler) -> Custom:
        """Return the description of a call, checked against the device's limits."""
        outputs = self._output_shapes(tensors)
        shapes = {**self._input_shapes(tensors), **outputs}
        first = next(iter(outputs.values()))
        rule = size(first) if self._grid is None else self._grid
        grid = self._extent(self._lengths(rule, shapes, "grid"), "grid")
        x, y, z = (
            -(-count // width)
            for count, width in zip(grid, self._workgroup, strict=True)
        )
        groups = x, y, z
        self._check_limits(groups, len(tensors) + len(outputs), on.shader_limits)
        declared = {**self._inputs, **self._outputs}
        arguments = [
            Argument(name, declared[name].name, shape) for name, shape in shapes.items()
        ]
        return Custom(
            self.__name__,
            self._text,
            self._header,
            self._workgroup,
            groups,
            tuple(arguments[: len(tensors)]),
            tuple(arguments[len(tensors) :]),
            self._clear,
        )

    def _check_limits(
        self, groups: Extent, bindings: int, limits: Mapping[str, int]
    ) -> None:
        workgroup = self._workgroup
        most = limits["maxComputeInvocationsPerWorkgroup"]
        along = tuple(limits[f"maxComputeWorkgroupSize{axis}"] for axis in "XYZ")
        count = size(workgroup)
        if count > most or any(a > b for a, b in zip(workgroup, along, strict=True)):
            raise self._error(
                f"workgroup_size {workgroup} has {count} invocations; this device "
                f"allows {most}, and at most {along} along x, y and z"
            )
        if size(groups) > MOST_GROUPS:
            raise self._error(
                f"the grid has {size(groups):,} workgroups, and at most "
                f"{MOST_GROUPS:,} are counted; let an invocation compute more"
            )
        most = limits["maxStorageBuffersPerShaderStage"]
        if bindings > most:
            raise self._error(
                f"{bindings} inputs and outputs; this device binds {most} buffers. "
                "Stack some of them into one tensor"
            )

    def _lengths(
        self, rule: LengthsRule, shapes: Mapping[str, Shape], what: str
    ) -> Shape:
        """Return lengths; call a function with the shapes that its parameters name."""
        if callable(rule):
            names = list(inspect.signature(rule).parameters)
            unknown = [name for name in names if name not in shapes]
            if unknown:
                raise self._error(
                    f"the function for {what} has the parameter {unknown[0]!r}; its "
                    f"parameters are names out of {list(shapes)}, whose shapes it gets"
                )
            rule = rule(**{name: shapes[name] for name in names})
        return self._checked_lengths(rule, what)

    def _checked_lengths(self, value: object, what: str) -> Shape:
        items: Sequence[Any] = value if isinstance(value, Sequence) else (value,)
        try:
            lengths = tuple(index(each) for each in items)
        except TypeError:
            lengths = (-1,)
        if any(length < 0 for length in lengths):
            raise self._error(
                f"{what} is {value!r}; it is a number or a tuple of numbers from 0 on"
            )
        return lengths

    def _extent(self, value: object, what: str) -> Extent:
        """Return counts along x, y and z."""
        lengths = self._checked_lengths(value, what)
        if not 1 <= len(lengths) <= 3 or (what != "grid" and 0 in lengths):
            raise self._error(
                f"{what} is {value!r}; it has one to three numbers, along x, y and z"
            )
        x, y, z = (*lengths, 1, 1)[:3]
        return x, y, z

    def _compare(
        self, name: str, got: Tensor, expected: Tensor, rtol: float, atol: float
    ) -> None:
        """Raise `KernelError` if elements differ."""
        if not got.node.size:
            return
        kind = dtypes.float64 if got.dtype.kind == "float" else dtypes.int64
        a, b = got.astype(kind).reshape(-1), expected.astype(kind).reshape(-1)
        allowed = atol + rtol * abs(b) if kind is dtypes.float64 else 0
        is_equal = (a == b) | (abs(a - b) <= allowed) | ((a != a) & (b != b))
        if is_equal.all():
            return
        differ = (~is_equal).astype(dtypes.int32)
        at = int(differ.argmax())
        where = unravel_index(at, got.node.shape)
        raise self._error(
            f"{name}{list(map(int, where))} is {a[at].item():.9g}, and the reference "
            f"has {b[at].item():.9g}; {int(differ.sum()):,} of {got.node.size:,} "
            f"elements differ by more than rtol={rtol:g} and atol={atol:g} allow"
        )


def referred(
    kernel: Kernel, inputs: Sequence[ArrayLike], on: ShaderCompiler
) -> tuple[Node, Tensor]:
    """Return the first output of a call, not computed, and the reference's."""
    tensors = kernel._tensors(inputs)
    description = kernel._description(tensors, on)
    (node, *_) = custom([each.node for each in tensors], description)
    return node, kernel._from_reference(tensors)[0]


def _stand_in(tensors: Sequence[Tensor], description: Custom) -> Node:
    """Return the first output for inputs without values, to be compiled alone."""
    nodes = [
        each.node
        if is_value(each.node)
        else leaf(Placeholder(), each.node.shape, each.node.dtype, each.node.device)
        for each in tensors
    ]
    return custom(nodes, description)[0]


def _several(value: Any) -> list[Any]:
    """Return results as a list; one result stands alone."""
    return list(value) if isinstance(value, tuple | list) else [value]


def _alone(results: Sequence[Tensor]) -> Any:
    """Return one result alone, several as a tuple."""
    return results[0] if len(results) == 1 else tuple(results)
