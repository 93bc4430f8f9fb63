"""The text of WebAssembly modules: every instruction, and back to the same module."""

from __future__ import annotations

import re

import pytest

from tensorweb.codegen.wasm.module import CODES
from tensorweb.codegen.wasm.text import ModuleText, wat

wasmtime = pytest.importorskip("wasmtime")

EXAMPLE = """
(module
  (import "m" "memory" (memory 1 65536 shared))
  (import "m" "pow" (func $pow (param f64 f64) (result f64)))
  (func $helper (param f32) (result f32)
    local.get 0  f32.const -1.5  f32.mul)
  (func $run (export "run")
      (param $parameters i32) (param $buffers i32) (param $first i32) (param $last i32)
    (local f32 f32) (local v128)
    block
      loop (result i32)
        local.get $first  i32.const -7  i32.lt_s  br_if 1
        local.get $buffers  i32.load offset=8  v128.load offset=16
        v128.const i32x4 1 2 3 0xffffffff  i32x4.add  local.set 6
        local.get $last  local.get 6  v128.store32_lane offset=4 2
        i32.const 1
        local.get 6  i8x16.extract_lane_u 15
        if (result i64)
          i64.const -9223372036854775808
        else
          i64.const 5
        end
        drop
      end
      drop
    end
    f32.const 1e-40  call $helper  drop
    f64.const -inf  f64.const 0.1  call $pow  drop
    f32.const nan:0x400000  local.set 4
    local.get 6  local.get 6  local.get 6  f32x4.relaxed_madd  local.set 6))
"""

EXPECTED = """\
(module
  (import "m" "memory" (memory 1 65536 shared))
  (import "m" "pow" (func $pow (param f64 f64) (result f64)))
  (func $1 (param f32) (result f32)
    local.get 0  f32.const -1.5  f32.mul)
  (func $run (export "run") (param $parameters i32) (param $buffers i32) \
(param $first i32) (param $last i32)
    (local (; from 4 ;) f32 f32)
    (local (; from 6 ;) v128)
    block
      loop (result i32)
        local.get $first  i32.const -7  i32.lt_s  br_if 1
        local.get $buffers  i32.load offset=8  v128.load offset=16
        v128.const i32x4 0x00000001 0x00000002 0x00000003 0xffffffff  i32x4.add  \
local.set 6
        local.get $last  local.get 6  v128.store32_lane offset=4 2
        i32.const 1  local.get 6  i8x16.extract_lane_u 15  if (result i64)
          i64.const -9223372036854775808
        else
          i64.const 5
        end
        drop
      end
      drop
    end
    f32.const 9.9999461e-41  call $1  drop
    f64.const -inf  f64.const 0.1  call $pow  drop
    f32.const nan:0x400000  local.set 4
    local.get 6  local.get 6  local.get 6  f32x4.relaxed_madd  local.set 6))"""


def compiled(text: str) -> bytes:
    """Return the module of a text, as another implementation writes it."""
    return bytes(wasmtime.wat2wasm(text))


def test_a_module_is_readable() -> None:
    assert wat(compiled(EXAMPLE)) == EXPECTED


def test_the_text_is_the_module() -> None:
    text = wat(compiled(EXAMPLE))
    assert wat(compiled(text)) == text
    wasmtime.Module(wasmtime.Engine(), compiled(text.replace(" 65536 shared", "")))


IMMEDIATES = {
    r"block|loop|if": " nop end",
    r"br|br_if": " 0",
    r"call": " $0",
    r"local\..*": " 0",
    r"(i32|i64|f32|f64)\.const": " 7",
    r"v128\.const": " i32x4 0x00000001 0x00000002 0x00000003 0x00000004",
    r".*lane_?\w?|.*_lane": " 1",
    r"i8x16\.shuffle": " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
}


def test_every_instruction_has_its_code() -> None:
    names = sorted(CODES.keys() - {"else", "end"})
    assert [name for name in names if not has_its_code(name)] == []


def has_its_code(name: str) -> bool:
    """Whether an instruction is written as its code, and read as its name."""
    rest = next((v for k, v in IMMEDIATES.items() if re.fullmatch(k, name)), "")
    module = compiled(
        "(module (memory 1) "
        f"(func $0 (local i32) unreachable {name}{rest} unreachable))"
    )
    begin = b"\x01\x01\x7f" + CODES["unreachable"]
    _, _, body = module.partition(begin)
    words = [word for line in wat(module).splitlines() for word in line.split("  ")]
    shown = f"{name}{rest}".replace(" nop end", "")
    is_whole = {shown, "unreachable))"} <= {*words}
    return body.startswith(CODES[name]) and is_whole


def test_texts_are_equal_where_modules_are() -> None:
    module, other = compiled("(module)"), compiled("(module (memory 1))")
    assert ModuleText(module) == ModuleText(bytes(module))
    assert ModuleText(module) != ModuleText(other)
    assert len({ModuleText(module), ModuleText(bytes(module)), ModuleText(other)}) == 2
    assert str(ModuleText(other)) == "(module\n  ;; section 5: 3 bytes)"


def test_unknown_instructions_are_shown() -> None:
    words = "i32.const 0 i32.const 0 memory.atomic.notify drop"
    module = compiled(f"(module (memory 1) (func {words}))")
    assert "(; instruction fe is not known ;)" in wat(module)
