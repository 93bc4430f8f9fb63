"""Run a captured kernel with an edited text, and write it as code of a program."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod

import tensorweb as tw
from tensorweb.backends.custom_kernels import Binding, Capture, bindings_of
from tensorweb.dtypes import BY_NAME
from tensorweb.errors import BackendError, ShaderError
from tensorweb.graph.node import leaf
from tensorweb.graph.storage import HostData
from tensorweb.waits import run_async, run_blocking

from . import kernel_records
from .kernel_records import ShaderProblem
from .kernels import Output
from .thread_puzzles import step_threads

BUILTINS = {
    "global_invocation_id": "global_id",
    "local_invocation_id": "local_id",
    "local_invocation_index": "local_index",
    "num_workgroups": "num_workgroups",
    "workgroup_id": "workgroup_id",
}
"""What `tw.kernel` calls the values that WGSL names so."""

NUMBERS = {"f32": ("float32", "f"), "i32": ("int32", "i"), "u32": ("uint32", "I")}
"""By type of a parameter: its dtype, and its format in memory."""

DEEPEST = 8
"""Constants in a row of which each is defined by the next."""

NAME = r"\b[A-Za-z_]\w*"

FORMS = re.compile(r"array<(?:vec([234])<)?(?:atomic<)?\w+>*")


class Attempts:
    """A captured launch whose text the reader edits.

    Attributes:
        capture: captures the launch.
        outputs: what the kernel stores, once the launch was found.
        values: what its storages have; None for scratch storage.
    """

    def __init__(self, capture: Capture) -> None:
        """Take what captures the launch."""
        self.capture = capture
        self.outputs: Sequence[Output] = ()
        self.values: Sequence[Output | None] = ()

    async def run(
        self, source: str, blocking: bool
    ) -> tuple[list[ShaderProblem], list[tuple[tw.Tensor, tw.Tensor]], list[float]]:
        """Return problems, each output by both texts, and the seconds of both."""
        steps = self.capture.attempt_steps(source)
        try:
            found = run_blocking(steps) if blocking else await run_async(steps)
        except ShaderError as error:
            skipped = error.source.removesuffix(source).count("\n")
            problems = [_problem(skipped, *report) for report in error.reports]
            return problems, [], []
        except BackendError as error:
            return [{"text": str(error), "line": 0, "column": 0}], [], []
        shapes = self._shapes([binding for binding, *_ in found.outputs])
        pairs = [
            (_tensor(binding, before, shape), _tensor(binding, after, shape))
            for (binding, before, after), shape in zip(
                found.outputs, shapes, strict=True
            )
        ]
        return [], pairs, list(found.seconds or ())

    async def threads(
        self, source: str, group: Sequence[int], blocking: bool
    ) -> kernel_records.Threads:
        """Return what the invocations of a workgroup do by a text."""
        steps = self.capture.storages_steps()
        found = run_blocking(steps) if blocking else await run_async(steps)
        storages, shapes = {}, {}
        for binding, data, value in zip(
            bindings_of(source), found, self.values, strict=False
        ):
            storages[binding.name] = data
            if value is None:
                continue
            shape, dtype = value
            storages[binding.name] = data[: prod(shape) * BY_NAME[dtype].itemsize]
            if "array<vec" not in binding.kind:
                shapes[binding.name] = shape
        words, groups = self.capture.words or [], (*self.capture.grid, 1)
        x, y, z = group
        return step_threads(source, storages, shapes, words, groups, (x, y, z))[0]

    def _shapes(self, written: Sequence[Binding]) -> list[tuple[int, ...] | None]:
        """Return the shape of each written storage; None where it is unknown.

        A kernel with scratch storages writes more of them than it has outputs.
        """
        if len(written) != len(self.outputs):
            return [None] * len(written)
        return [shape for shape, _ in self.outputs]

    def as_code(self, source: str) -> str:
        """Return a program's own kernel with this text, and a call of it.

        Raises:
            LookupError: the text cannot be the text of a `tw.kernel`; says why.
        """
        if '"""' in source:
            raise LookupError('the text has """, which ends a text of Python')
        bindings = bindings_of(source)
        main = re.search(
            r"@compute\s*@workgroup_size\(([^)]+)\)\s*fn\s+main\s*\((.*?)\)\s*\{(.*)\}",
            source,
            re.DOTALL,
        )
        if main is None:
            raise LookupError("the text has no main function")
        workgroup = [_number(n, source) for n in main[1].split(",") if n.strip()]
        begin = [
            f"let {name} = {BUILTINS[builtin]};"
            for builtin, name in re.findall(r"@builtin\((\w+)\)\s*(\w+)", main[2])
            if BUILTINS.get(builtin, name) != name
        ]
        body = main[3].strip("\n").rstrip()
        header = source[: main.start()] + source[main.end() :]
        parameters = re.search(r"struct Parameters \{(.*?)\}\n?", header, re.DOTALL)
        fields = re.findall(r"(\w+):\s*(\w+)", parameters[1]) if parameters else []
        if parameters is not None:
            header = header.replace(parameters[0], "")
        # tw.kernel makes values of main of them, which would hide their namesakes.
        header, body = (
            re.sub(r"\bparameters\.", "parameters.given_", part)
            for part in (header, body)
        )
        header = re.sub(r"@group\(\d+\)[^;]*;\n?", "", header)
        helpers = []
        for each in bindings:
            # tw.kernel declares these itself.
            header = re.sub(rf"const {each.name}_(size|shape) =[^;]*;\n?", "", header)
            form = FORMS.fullmatch(each.kind.replace(" ", ""))
            if form is None:
                raise LookupError(f"tw.kernel takes no storage of {each.kind}")
            if form[1]:
                header, body, helper = _without_vectors(
                    each, int(form[1]), header, body
                )
                helpers.append(helper)
        read = [each for each in bindings if not each.is_written]
        written = [each for each in bindings if each.is_written]
        numbers = self._numbers(fields)
        inputs = {each.name: each.dtype for each in read}
        inputs |= {f"given_{name}": NUMBERS[kind][0] for name, kind in fields}
        if not inputs:
            raise LookupError("the kernel reads nothing, and tw.kernel needs an input")
        shapes = dict(
            zip((each.name for each in written), self._shapes(written), strict=True)
        )
        if None in shapes.values():
            raise LookupError("the kernel has scratch storages as well as outputs")
        grid = [n * m for n, m in zip(self.capture.grid, [*workgroup, 1], strict=False)]
        lines = [
            "edited = tw.kernel(",
            f'    r"""\n{_indented([*begin, body])}\n    """,',
            f'    header=r"""\n{_indented([*helpers, header.strip()])}\n    """,',
            f"    inputs={inputs},",
            f"    outputs={ {each.name: each.dtype for each in written} },",
            f"    shape={shapes},",
            f"    grid={tuple(grid)},",
            f"    workgroup_size={tuple(workgroup)},",
            ")",
        ]
        names = [*(each.name for each in read), *map(str, numbers)]
        call = f"# {', '.join(shapes)} = edited({', '.join(names)})"
        return "\n".join([*lines, call]) + "\n"

    def _numbers(self, fields: Sequence[tuple[str, str]]) -> list[str]:
        """Return the parameters of the launch as literals of Python."""
        words = self.capture.words or []
        found = []
        for (_, kind), word in zip(fields, words, strict=False):
            if kind not in NUMBERS:
                raise LookupError(f"tw.kernel takes no number of type {kind}")
            (value,) = struct.unpack(NUMBERS[kind][1], struct.pack("i", word))
            is_plain = value == value and abs(value) != float("inf")
            found.append(repr(value) if is_plain else f"float('{value}')")
        return found


def _problem(skipped: int, text: str, line: int, column: int) -> ShaderProblem:
    """Return what the compiler said, without the lines that the host adds."""
    return {"text": text, "line": max(line - skipped, 0), "column": column}


def _tensor(binding: Binding, data: bytes, shape: tuple[int, ...] | None) -> tw.Tensor:
    """Return the elements of a storage."""
    dtype = BY_NAME[binding.dtype]
    if shape is None or prod(shape) * dtype.itemsize > len(data):
        shape = (len(data) // dtype.itemsize,)
    data = data[: prod(shape) * dtype.itemsize]
    return tw.Tensor(leaf(HostData(data), shape, dtype, "cpu"))


def _number(expression: str, source: str) -> int:
    """Return the value of an expression of numbers and constants of a text."""

    def value(name: re.Match[str]) -> str:
        found = re.search(rf"\bconst {name[0]}(?:: \w+)? = ([^;]+);", source)
        return f"({found[1]})" if found else name[0]

    numbers = expression
    for _ in range(DEEPEST):
        numbers = re.sub(NAME, value, numbers)
    plain = re.sub(r"(\d)u\b", r"\1", numbers).replace("/", "//")
    if re.fullmatch(r"[\d\s()+*/-]+", plain) and "**" not in plain:
        with suppress(ArithmeticError, SyntaxError, TypeError):
            return int(eval(plain))  # digits and operators only
    raise LookupError(f"the size of a workgroup, {expression.strip()}, is no number")


def _indented(parts: Sequence[str]) -> str:
    return "\n".join(
        f"        {line}".rstrip() for line in "\n".join(parts).split("\n")
    )


def _without_vectors(
    binding: Binding, width: int, header: str, body: str
) -> tuple[str, str, str]:
    """Let functions read and write the vectors of a storage, whose array has elements.

    Returns header and body with calls of them, and the functions.
    """
    name, kind = binding.name, binding.kind[len("array<") : -1]
    at = [f"{width}u * at + {n}u" for n in range(width)]
    if binding.is_written:
        stores = " ".join(f"{name}[{one}] = v[{n}];" for n, one in enumerate(at))
        helper = f"fn store_{name}(at: u32, v: {kind}) {{ {stores} }}"
        header, body = (_with_stores(name, text) for text in (header, body))
        return header, body, helper
    loads = ", ".join(f"{name}[{one}]" for one in at)
    helper = f"fn load_{name}(at: u32) -> {kind} {{ return {kind}({loads}); }}"

    def call(index: str, rest: str) -> tuple[str, str]:
        return f"load_{name}(u32({index}))", rest

    header, body = (_replaced(name, text, call) for text in (header, body))
    return header, body, helper


def _with_stores(name: str, text: str) -> str:
    """Replace assignments to elements of an array by calls."""

    def call(index: str, rest: str) -> tuple[str, str]:
        found = re.match(r"\s*=([^=;][^;]*);", rest)
        if found is None:
            raise LookupError(f"{name} is written in another way than {name}[i] = …;")
        return f"store_{name}(u32({index}),{found[1]});", rest[found.end() :]

    return _replaced(name, text, call)


def _replaced(name: str, text: str, call: Callable[[str, str], tuple[str, str]]) -> str:
    """Replace each element of an array in a text.

    `call` gets its index and the text behind it, and returns what stands there instead.
    """
    found = re.search(rf"\b{name}\[", text)
    if found is None:
        return text
    depth, end = 1, found.end()
    while depth and end < len(text):
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        end += 1
    instead, rest = call(text[found.end() : end - 1], text[end:])
    return text[: found.start()] + instead + _replaced(name, rest, call)
