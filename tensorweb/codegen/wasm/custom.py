"""Write a program's own kernel: each unit is a workgroup.

The invocations run one after another, each up to the next barrier. Barriers stand in
the body of main, or in its `if` and loops, whose conditions are equal for all
invocations. With barriers the variables of main are memory of each invocation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import NoReturn

from tensorweb.codegen import custom as wgsl
from tensorweb.codegen.program import Program, scratch
from tensorweb.codegen.python_functions import called
from tensorweb.codegen.stepping import fold, read_program
from tensorweb.codegen.wasm.frame import Frame, per_slice
from tensorweb.codegen.wasm.functions import text_of
from tensorweb.codegen.wasm.loops import counted, units
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import VALUE, Scope, Translation, Writer
from tensorweb.codegen.wgsl import (
    Definition,
    Statement,
    Term,
    refuse,
)
from tensorweb.codegen.wgsl_program import (
    BARRIERS,
    Module,
    OutsideError,
)
from tensorweb.codegen.wgsl_types import array_parts
from tensorweb.schedule.kernel import Kernel
from tensorweb.shapes import size

SIGNS = {
    **{"atomicAdd": "+", "atomicSub": "-", "atomicAnd": "&", "atomicOr": "|"},
    **{"atomicXor": "^", "atomicMax": "max", "atomicMin": "min"},
}
"""Operators that atomic functions compute."""

INSTRUCTIONS = (
    *("max", "min", "clamp", "fma", "select"),
    *("countLeadingZeros", "countTrailingZeros", "countOneBits"),
)
"""Functions of WGSL that `translation.py` writes."""

LARGEST = {"i32": 2147483520.0, "u32": 4294967040.0}
"""The largest floats that have an integer, as WGSL has it."""

WORK = 1000
"""Instructions of an invocation, of which nothing is known."""


class Layout:
    """Where arrays and variables are in the scratch memory of a workgroup.

    Attributes:
        module: the program.
        lengths: of all shared arrays.
        shared: bytes of the arrays of the workgroup.
        own: bytes of each invocation.
    """

    def __init__(self, module: Module, sizes: dict[str, int]) -> None:
        """Give each array and variable an offset."""
        self.module = module
        self.lengths = {
            name: tuple(sizes[name] if n < 0 else n for n in each.shape)
            for name, each in module.arrays.items()
        }
        self.shared = self.own = 0
        self.offsets: dict[str, int] = {}
        for name, each in module.arrays.items():
            if each.space == "workgroup":
                self.offsets[name] = self.shared
                self.shared += 4 * prod(each.shape)
        self.spilled = bool(set(called(module.functions["main"].body)) & {*BARRIERS})
        for name, own in module.functions.items():
            self._add(name, own.body)

    def _add(self, name: str, body: Sequence[Statement]) -> None:
        """Give the variables of a function offsets, if they are in memory."""
        for each in body:
            self._add(name, (*each.body, *each.other))
            kind = each.term.type if each.term else ""
            is_spilled = self.spilled and name == "main"
            if each.kind in ("let", "var") and (is_spilled or kind[:5] == "array"):
                self.offsets[f"{name} {each.word}"] = self.own
                self.own += 4 * prod(lengths_of(kind))


def lengths_of(kind: str) -> tuple[int, ...]:
    """Return the lengths of nested arrays.

    >>> lengths_of("array<array<f32,8>,4>"), lengths_of("f32")
    ((4, 8), ())
    """
    if not kind.startswith("array<"):
        return ()
    element, length = array_parts(kind)
    return (length or 0, *lengths_of(element))


class KernelTranslation(Translation):
    """Writes the statements of one function.

    Attributes:
        layout: of the memory.
        name: of the function.
        bases: locals of the address of each storage, of `workgroup` and of `own`.
        depth: how many blocks are open.
    """

    def __init__(
        self, writer: Writer, f: Function, layout: Layout, name: str, bases: Scope
    ) -> None:
        """Begin to write into a function."""
        super().__init__(writer, f)
        self.layout = layout
        self.name = name
        self.bases = bases
        self.depth = 0
        self.line = 1
        self.is_inlined = False
        self.exits = {"break": 0, "continue": 0, "return": 0}

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that only a GPU runs the present statement."""
        refuse(self.line, f"{what} is not translated to WebAssembly", OutsideError)

    @contextmanager
    def opened(self, kind: str, *exits: str) -> Iterator[int]:
        """Open a block inside a `with` block, which ends for these statements."""
        before = self.exits
        with self.f.block(kind):
            self.depth += 1
            self.exits = {**before, **dict.fromkeys(exits, self.depth)}
            yield self.depth
        self.depth -= 1
        self.exits = before

    # Statements

    def body(
        self, statements: Sequence[Statement], scope: dict[str, tuple[int, ...]]
    ) -> None:
        """Write statements."""
        for each in statements:
            self.line = each.line
            self.statement(each, scope)

    def statement(self, own: Statement, scope: dict[str, tuple[int, ...]]) -> None:
        """Write one statement."""
        f, kind, term = self.f, own.kind, own.term
        if kind == "if" and term is not None:
            self.term(term, scope)
            with self.opened("if"):
                self.body(own.body, scope)
                f.orelse()
                self.body(own.other, scope)
        elif kind == "while" and term is not None:
            self.loop(term, own.other, scope, lambda: self.body(own.body, scope))
        elif kind == "return" and self.name != "main":
            if term is not None:
                self.term(term, scope)
            f.op("return")
        elif kind in self.exits:
            if self.exits[kind] < 0:
                self.refuse(f"{kind!r} in a kernel with barriers")
            f.br(self.depth - self.exits[kind])
        elif kind == "call" and term is not None:
            self.term(term, scope)
            if term.type and term.word != "atomicStore":
                f.op("drop")
        elif kind == "store" and own.target is not None and term is not None:
            self.put(own.target, term, scope)
        elif kind != "const" and term is not None:
            key = f"{self.name} {own.word}"
            if key in self.layout.offsets or own.word in self.layout.module.arrays:
                name = Term("name", term.type, own.word)
                if term.kind == "zero" and lengths_of(term.type):
                    nbytes = 4 * prod(lengths_of(term.type))
                    self.zero("own", self.layout.offsets[key], nbytes)
                else:
                    self.put(name, term, scope)
            else:
                self.term(term, scope)
                self.keep(own, scope)

    def loop(
        self,
        condition: Term,
        step: Sequence[Statement],
        scope: dict[str, tuple[int, ...]],
        write: Callable[[], None],
    ) -> None:
        """Write a loop around what a function writes."""
        with self.opened("block", "break"), self.opened("loop") as again:
            self.term(condition, scope)
            self.f.br_if(self.depth - self.exits["break"], "i32.eqz")
            with self.opened("block", "continue"):
                write()
            self.body(step, scope)
            self.f.br(self.depth - again)

    def zero(self, base: str, offset: int, nbytes: int) -> None:
        """Fill words of memory with zeros."""
        f = self.f
        first, last = f.local("i32"), f.local("i32")
        f.set(first, ("i32", 0))
        f.set(last, ("i32", nbytes // 4))
        with counted(f, first, last) as word:
            f.emit(
                word,
                ("i32", 4),
                "i32.mul",
                self.bases[base][0],
                "i32.add",
                ("i32", 0),
                ("i32.store", offset),
            )
        f.free(first, last)

    # Elements of memory

    def find(self, term: Term, scope: Scope) -> tuple[int, int]:
        """Write the address of an element; return locals of it and of its validity."""
        f = self.f
        indices: list[Term] = []
        while term.kind == "index":
            term, index = term.parts
            indices.insert(0, index)
        key = f"{self.name} {term.word}"
        shared = self.layout.module.arrays.get(term.word)
        if shared is None and key not in self.layout.offsets:
            self.refuse(f"{term.word or 'this'!r}")
        lengths = self.layout.lengths[term.word] if shared else lengths_of(term.type)
        if len(lengths) != len(indices):
            self.refuse(f"the assignment or use of {term.word!r}, an array,")
        at, is_valid, own = (f.local("i32") for _ in range(3))
        f.set(is_valid, ("i32", 1))
        f.set(at, ("i32", 0))
        for index, length in zip(indices, lengths, strict=True):
            self.term(index, scope)
            f.tee(own)
            f.set(is_valid, ("i32", length), "i32.lt_u", is_valid, "i32.and")
            f.set(at, at, ("i32", length), "i32.mul", own, "i32.add")
        f.emit(at, ("i32", 4), "i32.mul")
        is_storage = shared is not None and shared.space == "storage"
        base = term.word if is_storage else "workgroup" if shared else "own"
        f.get(self.bases[base][0])
        f.set(
            at,
            ("i32", self.layout.offsets.get(term.word if shared else key, 0)),
            "i32.add",
            "i32.add",
        )
        f.free(own)
        return at, is_valid

    def put(self, target: Term, value: Term, scope: Scope) -> None:
        """Write an element, if there is one."""
        held = self.held(value, scope)
        at, is_valid = self.find(target, scope)
        self.write_at(at, is_valid, held, VALUE.get(value.type, value.type))
        self.f.free(held, at, is_valid)

    def held(self, value: Term, scope: Scope) -> int:
        """Return a new local with a value."""
        local = self.f.local(VALUE.get(value.type, value.type))
        self.term(value, scope)
        self.f.set(local)
        return local

    def write_at(self, at: int, is_valid: int, held: int, kind: str) -> None:
        """Write a local at an address that is valid."""
        self.f.get(is_valid)
        with self.opened("if"):
            self.f.emit(at, held, (f"{kind}.store", 0))

    def read_at(self, at: int, is_valid: int, kind: str) -> None:
        """Push what an address has, or zero if it is not valid."""
        f = self.f
        with f.block("if", is_valid, result=kind):
            f.emit(at, (f"{kind}.load", 0))
            f.orelse()
            f.const(kind, 0)

    def get(self, term: Term, scope: Scope) -> None:
        """Push an element of an array, zero for an index out of range."""
        root, constants = term, self.layout.module.constants
        while root.kind == "index":
            root = root.parts[0]
        if any(root.word == each.word for each in constants):
            value = fold(term, constants)
            if not isinstance(value, int | float):
                self.refuse(f"an index of the constant {root.word!r} that varies")
            self.number(term.type, value)
            return
        at, is_valid = self.find(term, scope)
        self.read_at(at, is_valid, VALUE.get(term.type, term.type))
        self.f.free(at, is_valid)

    def atomic(self, term: Term, scope: Scope) -> None:
        """Write an atomic function, which nothing interrupts."""
        f, (reference, *values) = self.f, term.parts
        name = term.word
        at, is_valid = self.find(reference.parts[0], scope)
        own, other = (Term("name", term.type, word) for word in ("own", "other"))
        locals_ = [self.held(each, scope) for each in values]
        before = f.local("i32")
        self.read_at(at, is_valid, "i32")
        f.set(before)
        if values:
            after = other
            if name in ("atomicMax", "atomicMin"):
                after = Term("builtin", term.type, SIGNS[name], (own, other))
            elif name in SIGNS:
                after = Term("binary", term.type, SIGNS[name], (own, other))
            locals_.append(self.held(after, {"own": (before,), "other": (locals_[0],)}))
            self.write_at(at, is_valid, locals_[-1], "i32")
        if name != "atomicStore":
            f.get(before)
        f.free(*locals_, before, at, is_valid)

    # Terms

    def term(self, term: Term, scope: Scope) -> None:
        """Push a term's value on the stack."""
        if self.is_inlined:
            super().term(term, scope)
            return
        kind, names = term.kind, self.layout
        is_value = kind == "name" and term.word in scope
        in_memory = term.word in names.module.arrays
        in_memory |= f"{self.name} {term.word}" in names.offsets
        if term.type and term.type not in ("f32", "i32", "u32", "bool"):
            self.refuse(f"a value of type {term.type.partition('{')[0]}")
        if kind == "index" or (kind == "name" and in_memory and not is_value):
            self.get(term, scope)
        elif kind == "zero":
            self.f.const(VALUE.get(term.type, term.type), 0)
        elif kind == "member":
            (part,) = term.parts
            vector = scope.get(part.word) or self.refuse(f"a value of type {part.type}")
            self.f.get(vector["xyz".index(term.word)])
        elif kind == "convert":
            self._convert(term, scope)
        elif kind == "call" and term.word in self.layout.module.functions:
            for local in self.bases.values():
                self.f.get(local[0])
            for part in term.parts:
                self.term(part, scope)
            self.f.call(f"own {term.word}")
        elif kind == "builtin":
            self._function(term, scope)
        elif kind == "binary" and term.word in ("&&", "||"):
            self._short(term, scope)
        elif kind == "binary" and term.word in "/%":
            self._divide(term, scope)
        else:
            super().term(term, scope)

    def _convert(self, term: Term, scope: Scope) -> None:
        (part,) = term.parts
        if term.type == "bool":
            none = Term("number", part.type)
            self.term(Term("binary", "bool", "!=", (part, none)), scope)
            return
        self.term(part, scope)
        if part.type == "f32" and term.type in LARGEST:
            self.f.emit(("f32", LARGEST[term.type]), "f32.min")
        self.convert("u32" if part.type == "bool" else part.type, term.type)

    def _function(self, term: Term, scope: Scope) -> None:
        """Write a function that WGSL has itself."""
        name, parts = term.word, term.parts
        if name.startswith("atomic"):
            self.atomic(term, scope)
        elif name in INSTRUCTIONS or (name in ("abs", "sign") and term.type != "f32"):
            self.builtin(term, scope)
        elif term.type == "f32" and text_of(f"{name}_f32"):
            self._library(Term("call", "f32", f"{name}_f32", parts), scope)
        else:
            self.refuse(f"{name!r}")

    def _library(self, term: Term, scope: Scope) -> None:
        """Write a call of a function of the library, whose names are its own."""
        locals_ = []
        for part in term.parts:
            self.term(part, scope)
            locals_.append(self.f.local("f32"))
            self.f.set(locals_[-1])
        names = {f"operand{n}": (local,) for n, local in enumerate(locals_)}
        self.is_inlined = True
        parts = tuple(Term("name", "f32", name) for name in names)
        super().term(term._replace(parts=parts), names)
        self.is_inlined = False
        self.f.free(*locals_)

    def _short(self, term: Term, scope: Scope) -> None:
        """Write `&&` or `||`, whose right side is computed only if it decides."""
        self.term(term.parts[0], scope)
        with self.f.block("if", result="i32"):
            for number, word in enumerate(("&&", "||")):
                if number:
                    self.f.orelse()
                if term.word == word:
                    self.term(term.parts[1], scope)
                else:
                    self.f.const("i32", 1 - number)

    def _divide(self, term: Term, scope: Scope) -> None:
        """Write a division; of integers by zero the quotient is the dividend."""
        kind, sign = term.type, term.word
        if kind == "f32" and sign == "/":
            super().term(term, scope)
            return
        if kind == "f32":
            self.refuse("'%' of floats")
        a, b = (self.f.local("i32") for _ in term.parts)
        for part, local in zip(term.parts, (a, b), strict=True):
            self.term(part, scope)
            self.f.set(local)
        names = {"a": (a,), "b": (b,)}
        left, right = Term("name", kind, "a"), Term("name", kind, "b")
        zero, one = Term("number", kind), Term("number", kind, value=1)
        safe = Term("binary", "bool", "==", (right, zero))
        if kind == "i32":  # the quotient of the least number by -1 is itself
            least = Term("binary", "bool", "==", (left, zero._replace(value=-(2**31))))
            minus = Term("binary", "bool", "==", (right, zero._replace(value=-1)))
            both = Term("binary", "bool", "&", (least, minus))
            safe = Term("binary", "bool", "|", (safe, both))
        by = Term("builtin", kind, "select", (right, one, safe))
        super().term(Term("binary", kind, sign, (left, by)), names)
        self.f.free(a, b)


def custom(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a program's own kernel.

    Raises:
        ShaderError: the text is wrong; an `OutsideError` if only a GPU runs it.
    """
    program = wgsl.custom(kernel, wgsl.CPU)
    own, (launch,) = kernel.custom, program.launches
    assert own is not None, "internal: a kernel without its text"
    module = read_program(str(launch.source)).module
    sizes = {name: size(shape) for name, _, shape in (*own.inputs, *own.outputs)}
    layout = Layout(module, sizes | {f"{name}_value": 1 for name in sizes})
    frame = Frame(kernel, target)
    f = frame.f
    bases: dict[str, tuple[int, ...]] = {}
    for name, slot, access in zip(
        module.arrays, launch.storages, launch.access, strict=False
    ):
        bases[name] = (frame.storage(slot, access),)
    x, y, z = module.workgroup
    threads = x * y * z
    nbytes = layout.shared + layout.own * threads
    more = scratch(len(program.scratch_bytes))
    bases["workgroup"] = (
        (frame.storage(more, "w"),) if nbytes else (f.own_local("i32"),)
    )
    bases["own"] = (f.own_local("i32"),)
    scope: dict[str, tuple[int, ...]] = {}
    for (name, _), word in zip(module.parameters, launch.words, strict=True):
        assert not isinstance(word, int), "internal: a parameter without a slot"
        scope[f"parameters.{name}"] = (frame.scalar(word[0]),)
    for name, each in module.functions.items():
        if name != "main":
            _define(frame.writer, layout, each, bases)
    main = KernelTranslation(frame.writer, f, layout, "main", bases)
    with units(frame) as unit:
        if layout.shared:
            main.zero("workgroup", 0, layout.shared)
        regions = _Regions(main, scope, unit, own.groups)
        regions.write(module.functions["main"].body)
    groups = size(own.groups)
    is_alone = bool(nbytes) or any(each.is_atomic for each in module.arrays.values())
    made = frame.launch("custom", groups, per_slice(threads * WORK), "", is_alone)
    scratches = (*program.scratch_bytes, nbytes) if nbytes else program.scratch_bytes
    return Program((made,), scratches, program.cleared, program.clears_outputs)


def _define(writer: Writer, layout: Layout, own: Definition, bases: Scope) -> None:
    """Write a function of the header; it gets all addresses first."""
    kinds = [VALUE.get(kind, kind) for _, kind in own.parameters]
    results = [VALUE.get(own.result, own.result)] if own.result else []
    f = Function(["i32"] * len(bases) + kinds, results)
    inner = {name: (number,) for number, name in enumerate(bases)}
    translation = KernelTranslation(writer, f, layout, own.name, inner)
    if set(called(own.body)) & {*BARRIERS}:
        translation.refuse("a barrier in a function")
    if {kind for _, kind in own.parameters} - {"f32", "i32", "u32", "bool"}:
        translation.refuse(f"a parameter of {own.name!r} that is no number")
    scope: dict[str, tuple[int, ...]] = {
        name: (len(bases) + number,) for number, (name, _) in enumerate(own.parameters)
    }
    translation.body(own.body, scope)
    if results:
        f.op("unreachable")
    writer.defined(f"own {own.name}", f)


class _Regions:
    """Writes main as loops over the invocations, with the barriers between them."""

    def __init__(
        self,
        main: KernelTranslation,
        scope: dict[str, tuple[int, ...]],
        unit: int,
        groups: tuple[int, int, int],
    ) -> None:
        self.main = main
        self.scope = scope
        self.unit = unit
        self.groups = groups
        f = main.f
        self.thread, self.none, self.threads = (f.own_local("i32") for _ in range(3))
        f.set(self.threads, ("i32", prod(main.layout.module.workgroup)))
        for name, builtin in main.layout.module.builtins.items():
            count = 1 if builtin == "local_invocation_index" else 3
            scope[name] = tuple(f.own_local("i32") for _ in range(count))

    def write(self, body: Sequence[Statement]) -> None:
        """Write statements for all invocations."""
        main, f = self.main, self.main.f
        region: list[Statement] = []
        for each in body:
            if not set(called([each])) & {*BARRIERS}:
                region.append(each)
                continue
            self.each(region)
            region = []
            if each.term is None or each.kind == "call":
                continue
            if each.kind not in ("if", "while"):
                main.refuse("workgroupUniformLoad")
            if each.kind == "if":
                self.condition(each.term)
                with main.opened("if"):
                    self.write(each.body)
                    f.orelse()
                    self.write(each.other)
                continue
            with main.opened("block") as end, main.opened("loop") as again:
                self.condition(each.term)
                f.br_if(main.depth - end, "i32.eqz")
                self.write(each.body)
                self.write(each.other)
                f.br(main.depth - again)
        self.each(region)

    def condition(self, term: Term) -> None:
        """Push a condition, which is that of the first invocation."""
        self.main.f.set(self.thread, self.none)
        self.ids()
        self.main.term(term, self.scope)

    def each(self, body: Sequence[Statement]) -> None:
        """Write statements without barriers in a loop over the invocations."""
        if not body:
            return
        main = self.main
        with counted(main.f, self.none, self.threads) as thread:
            main.f.set(self.thread, thread)
            self.ids()
            exits = main.exits
            with main.opened("block", "return"):
                if main.layout.spilled:
                    main.exits = dict.fromkeys(exits, -1)
                main.body(body, self.scope)

    def ids(self) -> None:
        """Compute the ids of an invocation, and the address of its memory."""
        f, layout = self.main.f, self.main.layout
        sizes = layout.module.workgroup
        for name, builtin in layout.module.builtins.items():
            for axis, local in enumerate(self.scope[name]):
                if builtin == "local_invocation_index":
                    f.get(self.thread)
                elif builtin == "num_workgroups":
                    f.const("i32", self.groups[axis])
                elif builtin == "local_invocation_id":
                    self.digit(self.thread, sizes, axis)
                else:
                    self.digit(self.unit, self.groups, axis)
                if builtin == "global_invocation_id":
                    f.emit(("i32", sizes[axis]), "i32.mul")
                    self.digit(self.thread, sizes, axis)
                    f.op("i32.add")
                f.set(local)
        f.set(
            self.main.bases["own"][0],
            self.thread,
            ("i32", layout.own),
            "i32.mul",
            self.main.bases["workgroup"][0],
            ("i32", layout.shared),
            "i32.add",
            "i32.add",
        )

    def digit(self, number: int, lengths: Sequence[int], axis: int) -> None:
        """Push the index along an axis of what is counted row by row."""
        f = self.main.f
        f.get(number)
        f.emit(("i32", prod(lengths[:axis])), "i32.div_u")
        if axis < 2:
            f.emit(("i32", lengths[axis]), "i32.rem_u")
