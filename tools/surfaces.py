"""Write the elementwise functions and methods, which are made from the op table.

Each entry with an example gets a function in `tensorweb/functions/elementwise.py` and a
method in `tensorweb/tensor/elementwise.py`. The entry says what the operation returns;
what all operations of one arity and dtype rule promise is said here, once.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator

from tensorweb.graph.op import Op
from tensorweb.ops import GROUPS
from tools.process import ROOT

FUNCTIONS = ROOT / "tensorweb" / "functions" / "elementwise.py"
METHODS = ROOT / "tensorweb" / "tensor" / "elementwise.py"

WIDTH = 88

ONE_OPERAND = {
    "same": "Shape and dtype are kept.",
    "float": "Integers and bool become float32. Shape is kept.",
    "bool": "Bool, of the same shape.",
    "logical": "Bool, of the same shape.",
}
"""What a function of one operand promises, by the entry's rule for the dtype."""

TWO_OPERANDS = {
    "same": "Shapes broadcast and dtypes are promoted; a Python number takes the "
    "other's dtype.",
    "float": "Shapes broadcast; integers and bool become float32.",
    "bool": "Shapes broadcast; the result is bool.",
    "logical": "Shapes broadcast; the result is bool.",
}
"""What a function of two operands promises, by the entry's rule for the dtype."""

ONE_OPERAND_RAISES = {
    "any": (),
    "numeric": ("DTypeError: the elements are bool.",),
    "integer": ("DTypeError: the elements are no integers.",),
    "integer or bool": ("DTypeError: the elements are floats.",),
    "floating": ("DTypeError: the elements are no floats.",),
}
"""The errors of a function of one operand, by the dtypes that the entry accepts."""

TWO_OPERANDS_RAISE = (
    "ShapeError: the shapes do not broadcast.",
    "DTypeError: the dtypes do not fit the operation.",
    "DeviceError: the operands lie on different devices.",
)


ENTRIES = [
    entry
    for group in GROUPS.values()
    for entry in group
    if entry.kind == "map" and entry.example
]
"""The entries that get a function and a method, in the table's order."""


TOPICS = {
    entry.name: topic
    for topic, group in GROUPS.items()
    for entry in group
    if entry.example
}
"""The topic of the API reference of each function."""


FUNCTIONS_HEAD = '''\
"""Elementwise functions, made from the op table by `python3 build.py docs`."""

from __future__ import annotations

from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, as_node
from tensorweb.tensor.operators import operation
'''


def functions() -> str:
    """Return the module of functions."""
    parts = [FUNCTIONS_HEAD]
    for entry in ENTRIES:
        if entry.arity == 1:
            parameters = "x: ArrayLike, /"
            node = f'elementwise(OPS["{entry.name}"], as_node(x))'
        else:
            parameters = "x1: ArrayLike, x2: ArrayLike, /"
            node = f'operation("{entry.name}", x1, x2)'
        body = [*_documentation(entry), f"return Tensor({node})"]
        parts.append(f"def {entry.name}({parameters}) -> Tensor:\n{_indented(body)}")
    parts.append("declare_public(__name__)\n")
    return "\n\n".join(parts)


def _documentation(entry: Op) -> Iterator[str]:
    """Yield the lines of a function's docstring."""
    promises = ONE_OPERAND if entry.arity == 1 else TWO_OPERANDS
    raises = (
        ONE_OPERAND_RAISES[entry.accepts] if entry.arity == 1 else TWO_OPERANDS_RAISE
    )
    yield f'"""Return {entry.summary}.'
    yield ""
    yield from textwrap.wrap(f"{promises[entry.result]} {entry.details}", WIDTH - 4)
    yield ""
    if raises:
        yield "Raises:"
        yield from (f"    {error}" for error in raises)
        yield ""
    assert entry.example, "internal: an entry without an example"
    call, printed = entry.example
    yield f">>> {call}"
    yield from printed.split("\n")
    yield '"""'


METHODS_HEAD = '''\
"""Elementwise methods, made from the op table by `python3 build.py docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.operators import operation

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class ElementwiseMethods(TensorBase):
    """Operations on each element; `tensorweb.exp` and the like document them.

    In first lines `x` is the tensor.
    """

    __slots__ = ()

'''


def methods() -> str:
    """Return the module of methods."""
    return METHODS_HEAD + "\n".join(_indented(_method(e)) for e in ENTRIES)


def _method(entry: Op) -> Iterator[str]:
    """Yield the lines of a method."""
    summary = re.sub(r"\bx1\b", "x", re.sub(r"\bx2\b", "other", entry.summary))
    if entry.arity == 1:
        yield f"def {entry.name}(self) -> Tensor:"
        body = f'elementwise(OPS["{entry.name}"], self.node)'
    else:
        yield f"def {entry.name}(self, other: ArrayLike, /) -> Tensor:"
        body = f'operation("{entry.name}", self, other)'
    assert entry.example, "internal: an entry without an example"
    call, printed = entry.example
    yield f'    """Return {summary}.'
    yield ""
    yield f"    >>> {as_method(entry.name, call)}"
    yield from (f"    {line}" for line in printed.split("\n"))
    yield '    """'
    yield f"    return self._wrap({body})"


def as_method(name: str, code: str) -> str:
    """Return code that calls a function with a call of the method of its name.

    >>> as_method("add", "tw.round(tw.add([1, 2], 10))")
    'tw.round(tw.tensor([1, 2]).add(10))'
    """
    tree = ast.parse(code, mode="eval")
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    called, function = next(
        (each, each.func)
        for each in calls
        if isinstance(each.func, ast.Attribute)
        and ast.unparse(each.func) == f"tw.{name}"
    )
    first = called.args.pop(0)
    is_tensor = ast.unparse(first).startswith("tw.")
    make = ast.parse("tw.tensor", mode="eval").body
    function.value = first if is_tensor else ast.Call(make, [first], [])
    return ast.unparse(tree).replace("'", '"')


def _indented(lines: Iterable[str]) -> str:
    return textwrap.indent("\n".join(lines), "    ") + "\n"


def write() -> bool:
    """Write both modules; return whether one of them changed."""
    is_changed = False
    for path, text in ((FUNCTIONS, functions()), (METHODS, methods())):
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            is_changed = True
    return is_changed
