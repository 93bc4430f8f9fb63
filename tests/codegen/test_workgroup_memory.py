"""No shader takes more workgroup memory than every WebGPU device has."""

from __future__ import annotations

import re

import pytest

from tensorweb.codegen.program import DEFAULT_TARGET
from tensorweb.nodes import sorting
from tests import shader_corpus

BYTES = {"f32": 4, "u32": 4, "i32": 4, "f16": 2}

CONSTANT = re.compile(r"^const (\w+)(?:: \w+)? = ([^;]+);", re.MULTILINE)
CHOICE = re.compile(r"\bselect\(([^,]+), ([^,]+), ([^)]+)\)")
VARIABLE = re.compile(r"var<workgroup> (\w+): ([^;]+);")
FIELD = re.compile(r"\w+: ([^,]+),")


class Sizes:
    """The constants and types of one shader."""

    def __init__(self, text: str) -> None:
        self.constants: dict[str, int] = {}
        for name, value in CONSTANT.findall(text):
            if re.fullmatch(r"[\w\s+*/(),]+", value) and "0x" not in value:
                self.constants[name] = self.number(value)
        self.aliases = dict(re.findall(r"alias (\w+) = ([^;]+);", text))
        self.structures = dict(re.findall(r"struct (\w+) \{([^}]*)\}", text))

    def number(self, text: str) -> int:
        """Return what an expression of whole numbers is."""
        plain = re.sub(r"(\d)u\b", r"\1", text).replace("/", "//")
        plain = CHOICE.sub(r"(\2 if \3 else \1)", plain)
        plain = plain.replace("true", "True").replace("false", "False")
        return int(eval(plain, {}, self.constants))

    def of(self, kind: str) -> int:
        """Return the bytes of a type."""
        if kind in BYTES:
            return BYTES[kind]
        if kind in self.aliases:
            return self.of(self.aliases[kind])
        if kind in self.structures:
            return sum(map(self.of, FIELD.findall(self.structures[kind])))
        if found := re.fullmatch(r"vec(\d)([fu])", kind):
            return 4 * int(found[1])
        name, inside = re.fullmatch(r"(\w+)<(.*)>", kind).groups()  # type: ignore[union-attr]  # else it fails
        if name == "array":
            element, length = inside.rsplit(",", 1)
            return self.of(element) * self.number(length)
        return self.of(inside) * int(re.sub(r"\D", "", name) or 1)


def workgroup_bytes(text: str) -> int:
    """Return the workgroup memory of a shader, of the variables that it uses.

    Each takes whole 16 bytes. (WebGPU, 23.1, Computing Operations)
    """
    text = re.sub(r"//.*", "", text)
    sizes = Sizes(text)
    return sum(
        -(-sizes.of(kind) // 16) * 16
        for name, kind in VARIABLE.findall(text)
        if len(re.findall(rf"\b{name}\b", text)) > 1
    )


def test_every_kernel_fits_the_least_device() -> None:
    """But the committed text of merging, whose tile is that of devices with more."""
    found = {
        name: workgroup_bytes(text)
        for name, text in shader_corpus.corpus().items()
        if not name.startswith("sort_merge.wgsl as committed")
    }
    most = DEFAULT_TARGET.workgroup_bytes
    assert max(found.values()) > most // 2
    assert {name for name, nbytes in found.items() if nbytes > most} == set()


@pytest.mark.parametrize("length", [1024, 2048, 2049, 4096, 4097, 8192, 16_384])
def test_rows_of_every_length_are_sorted_on_the_least_device(length: int) -> None:
    x = shader_corpus.value(3, length)
    for node in (sorting.sort(x, 1), sorting.argsort(x, 1, descending=True)):
        for text in shader_corpus.sources(node):
            assert workgroup_bytes(text) <= DEFAULT_TARGET.workgroup_bytes
