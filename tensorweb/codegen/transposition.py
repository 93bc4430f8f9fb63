"""Programs of elementwise kernels over transposed inputs, staged through tiles."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    addresses,
    coordinates,
    function,
    read_element,
    storage_type,
    to_storage,
    to_value,
)
from tensorweb.codegen.launches import input_bindings, launch
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    count_in_vectors,
    is_vectorizable,
    read_vector,
    reads_whole_vectors,
    reorder_groups,
    vector_function,
    vector_of,
    without_accesses,
)
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step
from tensorweb.shapes import strides

TILE = 32
"""Rows and columns of a tile that is read element by element."""

TILE_STEP = 8
"""Rows of such a tile that a workgroup reads at once."""

VECTOR_TILE = 64
"""Rows and columns of a tile that is read in vectors of four."""


ARGUMENTS = ("layer", "down", "across")


@dataclass(frozen=True, slots=True)
class Transposed:
    """The contiguous axis of transposed inputs, and the steps that load them."""

    axis: int
    loads: tuple[int, ...]


def find_transposed(expression: Expression) -> Transposed | None:
    """Return the transposed inputs of an expression, None if there are none.

    The last of the merged axes is the contiguous axis of the result.
    """
    (sizes,) = expression.groups
    if len(sizes) < 2 or sizes[-1] < policy.LEAST_TRANSPOSED:
        return None
    by_axis: dict[int, list[int]] = {}
    for number, step in enumerate(expression.steps):
        if step.kind != "load" or step.guard >= 0:
            continue
        (steps,) = expression.accesses[step.access].strides
        if steps[-1] in (0, 1):
            continue
        along = [axis for axis in range(len(sizes) - 1) if steps[axis] == 1]
        if along and sizes[along[0]] >= policy.LEAST_TRANSPOSED:
            by_axis.setdefault(along[0], []).append(number)
    if not by_axis:
        return None
    axis = max(by_axis, key=lambda a: len(by_axis[a]))
    return Transposed(axis, tuple(by_axis[axis][: policy.MOST_TRANSPOSED]))


def split_axes(expression: Expression, axis: int) -> Expression:
    """Return the expression over (the other axes), (axis), (the last axis)."""
    (sizes,) = expression.groups
    last = len(sizes) - 1
    others = [a for a in range(last) if a != axis]

    def split(values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(values[a] for a in others), (values[axis],), (values[last],)

    return Expression(
        split(sizes),
        tuple(Access(a.offset, split(a.strides[0])) for a in expression.accesses),
        expression.steps,
        expression.result,
        expression.more,
    )


class _Transposition:
    """Generate the launch of one elementwise kernel with transposed inputs."""

    def __init__(self, kernel: Kernel, transposed: Transposed) -> None:
        self.kernel = kernel
        whole = kernel.expression("value")
        self.expression = split_axes(whole, transposed.axis)
        (sizes,) = whole.groups
        stored_ = Expression(whole.groups, (Access(0, (strides(sizes),)),), (), 0)
        self.result = split_axes(stored_, transposed.axis)
        others, (self.down,), (self.across,) = self.expression.groups
        self.layers = math.prod(others)
        self.loads = [
            (number, self.expression.steps[number]) for number in transposed.loads
        ]
        self.types = {n: VALUE_TYPES[step.dtype] for n, step in self.loads}
        self.element = storage_type(kernel.dtype)
        self.declarations = Declarations(kernel.scalar_dtypes)
        for name in ("down", "across", "layers"):
            self.declarations.parameter(name, "u32", getattr(self, name))
        self.vectors = self._vector_slots()

    def _vector_slots(self) -> set[int]:
        """Return the inputs to read in vectors, empty if some cannot be."""
        if self.across % WIDTH or len(set(self.types.values())) > 1:
            return set()
        swapped = [
            reorder_groups(self._access_of(step), (0, 2, 1)) for _, step in self.loads
        ]
        straight = without_accesses(self.expression, self.types)
        is_whole = reads_whole_vectors(straight) and all(map(is_vectorizable, swapped))
        if not is_whole:
            return set()
        vectors = {step.slot for _, step in self.loads}
        singles: set[int] = set()
        for number, step in enumerate(straight.steps):
            if step.kind == "load" and number not in self.types:
                moves = straight.accesses[step.access].strides[-1][-1]
                (vectors if moves else singles).add(step.slot)
        return set() if vectors & singles else vectors

    def _access_of(self, step: Step) -> Expression:
        """Return an expression with only the access of one load."""
        access = self.expression.accesses[step.access]
        return Expression(self.expression.groups, (access,), (), 0)

    def _load(self, number: int, step: Step) -> str:
        """Return the function that reads one transposed input."""
        name, names, one = f"load{number}", ARGUMENTS, self._access_of(step)
        dtype = self.kernel.input_dtypes[step.slot]
        value = _staging_type(VALUE_TYPES[dtype])
        element = f"input{step.slot}[address0]"  # a bool is staged as it is stored
        if dtype != "bool":
            element = read_element(step.slot, "address0", dtype)
        last = f"  return {element};\n"
        if self.vectors:
            names = (ARGUMENTS[0], ARGUMENTS[2], ARGUMENTS[1])
            one = count_in_vectors(reorder_groups(one, (0, 2, 1)))
            quad, form = read_vector(step.slot, "address0", dtype)
            form = "{0}" if dtype == "bool" else form
            parts = ", ".join(form.format(f"quad.{c}") for c in COMPONENTS)
            last = f"  let quad = {quad};\n  return vec4<{value}>({parts});\n"
            value = f"vec4<{value}>"
        lines = coordinates(self.declarations, name, names, one)
        lines += addresses(self.declarations, name, names, one)
        listed = ", ".join(f"{argument}: u32" for argument in names)
        return f"fn {name}({listed}) -> {value} {{\n{''.join(lines)}{last}}}\n"

    def _address(self) -> str:
        """Return the function of the address of an element of the result."""
        one = count_in_vectors(self.result) if self.vectors else self.result
        lines = coordinates(self.declarations, "result", ARGUMENTS, one)
        lines += addresses(self.declarations, "result", ARGUMENTS, one)
        listed = ", ".join(f"{argument}: u32" for argument in ARGUMENTS)
        body = "".join(lines)
        return f"fn address({listed}) -> u32 {{\n{body}  return u32(address0);\n}}\n"

    def _value(self) -> str:
        """Return the function that computes one element or vector of the result."""
        form = to_storage("{0}", self.kernel.dtype)
        signature = Signature("value", ARGUMENTS, self.element, form)
        inputs = self.kernel.input_dtypes
        if self.vectors:
            return vector_function(
                self.declarations,
                signature,
                self.expression,
                inputs,
                vector_of(f"vec4<{self.element}>"),
                tuple(self.types),
                calls=len(COMPONENTS),
            )
        more = ", ".join(f"v{n}: {kind}" for n, kind in self.types.items())
        given = {number: f"v{number}" for number in self.types}
        signature = replace(signature, more=more)
        return function(self.declarations, signature, self.expression, inputs, given)

    def program(self) -> Program:
        """Return the program, which is one launch."""
        text = "".join(self._load(number, step) for number, step in self.loads)
        text += self._address() + self._value()
        bindings = input_bindings(self.kernel, [self.expression], self.vectors)
        element = f"vec4<{self.element}>" if self.vectors else self.element
        bindings.append(("result", "w", element, OUTPUT))
        tile = VECTOR_TILE if self.vectors else TILE
        groups = self.layers * -(-self.down // tile) * -(-self.across // tile)
        if self.vectors:
            (value,) = set(self.types.values())
            template = "transpose_vectors"
            text = f"alias Value = {_staging_type(value)};\n{text}"
            slot_texts = {
                "shape": self._shape(-(-self.down // tile)),
                "stage": self._stage_vectors(),
                "finish": self._finish(),
            }
        else:
            template, slot_texts = "transpose", self._single_slots()
        return Program(
            (
                launch(
                    template,
                    self.declarations,
                    bindings,
                    text,
                    groups,
                    **slot_texts,
                ),
            )
        )

    def _shape(self, tiles_down: int) -> str:
        """Return the constants that avoid index divisions before the first load."""
        band = 1 if tiles_down % policy.TRANSPOSE_BAND else policy.TRANSPOSE_BAND
        is_one_layer = "true" if self.layers == 1 else "false"
        return (
            f"const BAND: u32 = {band}u;\nconst IS_ONE_LAYER: bool = {is_one_layer};\n"
        )

    def _stage_vectors(self) -> str:
        """Return the lines that read the inputs and transpose one after another."""
        text = ""
        for n in self.types:
            for row, name in enumerate("abcd"):
                text += (
                    f"  let {name}{n} = load{n}(from_layer, from{row}, from_down);\n"
                )
        for number, n in enumerate(self.types):
            text += "  workgroupBarrier();\n" if number else ""
            text += f"  stage(quick, slow, a{n}, b{n}, c{n}, d{n});\n"
            text += "  workgroupBarrier();\n"
            for part in range(4):
                text += f"  let v{n}_{part} = staged(quick, slow + {16 * part}u);\n"
        return text

    def _finish(self) -> str:
        """Return the lines that compute and store a thread's four vectors."""
        text = "    let down = first_down + slow;\n"
        for part in range(4):
            down = f"down + {16 * part}u"
            given = ", ".join(
                f"(v{n}_{part} != vec4<u32>())" if kind == "bool" else f"v{n}_{part}"
                for n, kind in self.types.items()
            )
            value = f"value(layer, {down}, across, {given})"
            text += (
                f"    if ({down} < parameters.down) {{\n"
                f"      result[address(layer, {down}, across)] = {value};\n    }}\n"
            )
        return text

    def _single_slots(self) -> dict[str, str]:
        """Return the slots of the template that reads element by element."""
        steps = range(0, TILE, TILE_STEP)
        stage = "".join(
            f"  let v{n}_{step} = load{n}(from_layer, from_down, "
            f"min(first_across + slow + {step}u, edge));\n"
            for n in self.types
            for step in steps
        )
        stage += "".join(
            f"  tile{n}[address0 + {step * (TILE + 1)}u] = v{n}_{step};\n"
            for n in self.types
            for step in steps
        )
        values = ", ".join(
            to_value(f"tile{n}[at]", kind) for n, kind in self.types.items()
        )
        return {
            "tiles": "".join(
                f"var<workgroup> tile{n}: array<{_staging_type(kind)}, "
                f"{TILE * (TILE + 1)}>;\n"
                for n, kind in self.types.items()
            ),
            "stage": stage,
            "finish": "      result[address(layer, down, across)] = "
            f"value(layer, down, across, {values});\n",
        }


def _staging_type(kind: str) -> str:
    """Return the type of values in workgroup memory.

    A bool is staged as u32: NVIDIA's Vulkan driver reads back other bools than were
    written (2026-11).
    """
    return "u32" if kind == "bool" else kind


def transposition(kernel: Kernel, transposed: Transposed) -> Program:
    """Return the program of an elementwise kernel with transposed inputs."""
    return _Transposition(kernel, transposed).program()
