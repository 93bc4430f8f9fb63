"""Texts of kernels: one result on every device, or words why there is none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import devices

F32, I32, U32 = tw.float32, tw.int32, tw.uint32


def numbers(text: str, count: int, dtype: Any = F32, header: str = "") -> list[Any]:
    """Return what one invocation writes into `y`."""
    kernel = tw.kernel(
        text,
        inputs={"x": dtype},
        outputs={"y": dtype},
        shape=count,
        grid=1,
        workgroup_size=1,
        header=header,
    )
    return kernel(tw.arange(8, dtype=dtype)).tolist()  # type: ignore[no-any-return]


LOOPS = """
var n = 0;
for (var i = 0; i < 10; i++) {
  if (i == 3) { continue; }
  if (i == 8) { break; }
  n += i;
}
y[0] = n;
var i = 5;
while (i > 0) { i -= 2; }
y[1] = i;
loop {
  i++;
  if (i > 6) { break; }
  if (i % 2 == 0) { continue; }
  y[2] += i;
  continuing { y[3] += 1; }
}
loop { i--; continuing { break if i < 2; } }
y[4] = i;
{ let i = 40; y[5] = i; }
y[6] = i;
if (i > 5) { y[7] = 1; } else if (i > 0) { y[7] = 2; } else { y[7] = 3; }
"""


def test_loops_end_go_on_and_hide_names(anywhere: str) -> None:
    assert numbers(LOOPS, 8, I32) == [25, -1, 9, 7, 1, 40, 1, 2]


INTEGERS = """
let most = 2147483647;
y[0] = most + x[1];
y[1] = (x[1] - 8) / 2;
y[2] = (x[1] + 8) % 4;
y[3] = i32(0xfffffff0u >> 4u);
y[4] = (x[1] - 17) >> 2u;
y[5] = ~x[5] & 0xff;
y[6] = i32(u32(x[0] - 1) * 3u);
y[7] = clamp(x[7], -2, 3) + max(x[2], 4) - abs(x[0] - 9);
y[8] = i32(countOneBits(0xf0f0u)) + countLeadingZeros(x[1]);
y[9] = bitcast<i32>(1.5f + f32(x[0]));
y[10] = i32(-2.7 + f32(x[0])) + i32(f32(x[1]) * 3e20);
y[11] = select(x[3], x[4], x[2] > x[1] || x[0] == 1);
"""


def test_integers_wrap_and_are_cut_towards_zero(anywhere: str) -> None:
    assert numbers(INTEGERS, 12, I32) == [
        *(-(2**31), -3, 1, 0x0FFFFFFF, -4, 250, -3, -2),
        *(8 + 31, 0x3FC00000, 2**31 - 128 - 2, 4),
    ]


def test_remainders_have_the_sign_of_the_dividend(anywhere: str) -> None:
    found = numbers("y[0] = (x[1] - 8) % 4; y[1] = (x[1] + 6) % -4;", 2, I32)
    faults = getattr(devices.backend(anywhere), "faults", ())
    assert found == [-3, 3] or any("remainders" in fault for fault in faults)


VECTORS = """
let v = vec3f(x[1], x[2], x[3]);
var w = vec3<f32>(2.0) * v.zyx + v;
w.y = 10.0;
w[0] -= 1.0;
y[0] = w.x;
y[1] = w[1];
y[2] = dot(v, w);
let pair = vec2f(v.xy) + vec2(1.0, 0.5);
y[3] = pair.x / pair.y;
y[4] = length(vec2f(3.0, 4.0) * x[1]);
y[5] = f32(any(v > vec3f(2.0))) + f32(all(v > vec3f(2.0)));
var parts: array<vec2f, 3>;
parts[1] = pair;
parts[2].y = 7.0;
y[6] = parts[1].y + parts[2].y + parts[0].x;
let ids = vec3u(global_id) + 4u;
y[7] = f32(ids.z) + max(v, vec3f(2.5)).x;
"""


def test_vectors_have_elements_and_members(device: str) -> None:
    w = [2 * 3 + 1 - 1, 10.0, 2 * 1 + 3]
    dot = w[0] + 2 * w[1] + 3 * w[2]
    expected = [w[0], w[1], dot, 2 / 2.5, 5, 1, 9.5, 6.5]
    assert numbers(VECTORS, 8) == pytest.approx(expected, rel=1e-6)


FUNCTIONS = """
const N = 4;
const weights = array<f32, N>(1.0, 2.0, 3.0, 4.0);
var<workgroup> grid: array<array<f32, N>, 2>;
var<workgroup> hits: atomic<u32>;
fn later(i: u32) -> f32 { return 2.0 * weighted(i); }
fn weighted(i: u32) -> f32 { return weights[i] * x[i]; }
fn fill(value: f32) { for (var i = 0u; i < N; i++) { grid[1][i] = value; } }
"""


def test_functions_constants_and_shared_arrays(device: str) -> None:
    text = """
    const HALF = N / 2;
    fill(later(HALF));
    grid[0][HALF] = 0.0;
    grid[0][HALF] += 1.0;
    atomicStore(&hits, 0u);
    atomicAdd(&hits, 3u);
    atomicMax(&hits, 2u);
    y[0] = grid[1][3];
    y[1] = grid[0][2];
    y[2] = f32(atomicLoad(&hits)) + f32(N);
    var own = weights;
    own[0] = 9.0;
    y[3] = own[0] + weights[0];
    """
    assert numbers(text, 4, header=FUNCTIONS) == [12, 1, 7, 10]


MATHS = (
    *("exp", "sin", "cos", "sqrt", "floor", "ceil", "fract", "tanh", "log2"),
    *("inverseSqrt", "sign", "saturate"),
)


def test_functions_of_floats_are_those_of_the_device(anywhere: str) -> None:
    text = "".join(f"y[{n}] = {name}(x[2] + 0.3);" for n, name in enumerate(MATHS))
    found = numbers(text + "y[12] = pow(x[2], 3.5); y[13] = fma(x[2], x[3], 0.5);", 14)
    x = 2.3
    expected = [math.exp(x), math.sin(x), math.cos(x), math.sqrt(x), 2, 3, 0.3]
    expected += [math.tanh(x), math.log2(x), x**-0.5, 1, 1, 2**3.5, 6.5]
    assert found == pytest.approx(expected, rel=1e-4)


def test_floats_are_rounded_to_32_bits_and_divided_by_zero(cpu: str) -> None:
    text = """
    y[0] = 16777216.0 + x[1];
    y[1] = x[1] / 3.0;
    y[2] = x[1] / x[0];
    y[3] = -x[1] / x[0];
    y[4] = log(x[0]);
    y[5] = 1e38 * (x[2] * 10.0);
    """
    infinity = math.inf
    third = 0.3333333432674408
    expected = [16777216, third, infinity, -infinity, -infinity, infinity]
    assert numbers(text, 6) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y[0] = x[0] + 1u;", r"line 1: \+ has operands of the types f32 and u32"),
        ("\ny[0] = 1;\nlet i = 2;\ny[1] = i;", "line 3: f32 is expected.* i32;"),
        ("y[0] = zero(x[0]);", "'zero' is not in the part of WGSL"),
        ("let a = 1.0; a = 2.0; y[0] = a;", "'a' is no variable; declare it by var"),
        ("x[0] = 1.0; y[0] = 1.0;", "'x' is an input"),
        ("y[0] = x[0]", "';' expected, not"),
        ("y[0] = max(x[0]);", "max takes 2 arguments, not 1"),
        ("if (x[0]) { y[0] = 1.0; }", "bool is expected"),
        ("y[0] = vec2f(1.0, 2.0).z;", "vec2f has no member 'z'"),
        ("if (atomicAdd(&x[0], 1) > 0) { y[0] = 1.0; }", "needs the address of an at"),
    ],
)
def test_wrong_texts_are_refused_with_their_line(
    text: str, words: str, device: str
) -> None:
    with pytest.raises((tw.ShaderError, tw.DeviceError), match="line ") as info:
        numbers(text, 2)
    if device == "cpu":
        assert info.match(words)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("switch i32(x[0]) { default: {} } y[0] = 1.0;", "write if and else"),
        ("var m: mat2x2f; y[0] = m[0][0];", "mat2x2f"),
    ],
)
def test_what_only_a_gpu_runs_is_a_device_error(
    text: str, instead: str, cpu: str
) -> None:
    with pytest.raises(tw.DeviceError, match=f"line 1: .*without a GPU.*|{instead}"):
        numbers(text, 1)


LESSON = Path(__file__).parents[2] / "web/examples/48-your-own-kernel.py"


def test_the_lesson_computes_what_its_references_do(
    anywhere: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = LESSON.read_text("utf-8").replace("range(60)", "range(2)")
    printed = []
    for each in (text, text.replace("fallback=True,", "")):
        exec(compile(each, "lesson", "exec"), {"__name__": "__main__"})
        out = capsys.readouterr().out
        printed.append([line for line in out.splitlines() if ":" in line])
    assert len(printed[0]) >= 4
    assert printed[0] == printed[1]


SUMS = """
var<workgroup> tile: array<i32, 8>;
fn total(first: i32, last: i32) -> i32 {
  var parts: array<i32, 8>;
  var sum = 0;
  for (var i = first; i < last; i++) {
    parts[i] = tile[i];
    if (parts[i] < 0) { continue; }
    sum += parts[i];
  }
  return sum;
}
"""


def test_barriers_in_loops_keep_the_variables_of_invocations(anywhere: str) -> None:
    text = """
    var own = x[global_id.x];
    var rounds = 0;
    while (rounds < 3) {
      tile[local_index] = own;
      workgroupBarrier();
      own = total(0, 8) - tile[(local_index + 1) % 8];
      rounds++;
      workgroupBarrier();
    }
    y[global_id.x] = own + rounds * 1000;
    """
    kernel = tw.kernel(
        text,
        inputs={"x": I32},
        outputs={"y": I32},
        workgroup_size=8,
        header=SUMS,
    )
    x = [*range(-3, 13)]
    expected = []
    for group in (x[:8], x[8:]):
        for _ in range(3):
            sum_ = sum(value for value in group if value >= 0)
            group = [sum_ - group[(n + 1) % 8] for n in range(8)]
        expected += [value + 3000 for value in group]
    assert kernel(tw.asarray(x, dtype=I32)).tolist() == expected


COUNTERS = """
var<workgroup> n: array<atomic<u32>, 8>;
fn f() -> u32 { return atomicAdd(&n[0], 1u); }
fn g() -> u32 { atomicAdd(&n[1], 10u); return 1u; }
fn clear() { for (var i = 0u; i < 8; i++) { atomicStore(&n[i], 0u); } }
"""


def test_targets_are_computed_once(anywhere: str) -> None:
    text = """
    clear();
    for (var i = 0u; i < 4u; i++) { y[i] = 0u; }
    y[f()] += 10u;
    for (var i = 0u; i < 2u; y[f()] += 10u) { i++; }
    atomicAdd(&n[f()], 5u);
    y[4] = atomicLoad(&n[3]);
    y[5] = atomicLoad(&n[0]);
    y[6] = atomicAdd(&n[1], g());
    let before = 7u;
    atomicMax(&n[2], before);
    y[7] = atomicLoad(&n[2]);
    """
    found = numbers(text, 8, U32, COUNTERS)
    assert found == [10, 10, 10, 0, 5, 4, 10, 7]


def test_elements_of_vectors_are_computed_once(device: str) -> None:
    text = """
    clear();
    var v = array<vec2u, 2>();
    v[f()].x += 3u;
    v[f()][f() - 1u] = 4u;
    y[0] = v[0].x;
    y[1] = v[1].y;
    """
    assert numbers(text, 2, U32, COUNTERS) == [3, 4]


def test_private_variables_are_named_by_the_error(cpu: str) -> None:
    words = "line 1 of the header: 'private' .*declare the variable in a function"
    with pytest.raises(tw.DeviceError, match=words) as info:
        numbers("y[0] = p;", 1, header="var<private> p: f32 = 1.0;")
    assert "device's compiler" not in str(info.value)


LITERALS = """
/* a comment /* inside */ another */
y[0] = 1E1 + 1.5e0 + .5e1 + 5.;
y[1] = f32(0XFF) + 0x1.8 + 0x1p-3f + 0x.8p1;
y[2] = f32(0x1f) + f32(7u) + f32(0x10i) + 2f + 0f;
"""


def test_literals_are_those_of_wgsl(anywhere: str) -> None:
    assert numbers(LITERALS, 3) == [21.5, 255 + 1.5 + 0.125 + 1, 31 + 7 + 16 + 2]


def test_half_literals_are_halves(cpu: str) -> None:
    text = "y[0] = f32(1h + 1.5h) + f32(0x1p-1h);"
    assert numbers(text, 1) == [3]


SHADOWS = """
let y_ = 3.0;
y[0] = y_;
if (x[1] == 1.0) { let y = 7.0; let x = y; put(x + y); }
"""


def test_names_may_hide_outputs(anywhere: str) -> None:
    header = "fn put(value: f32) { y[1] = value; }"
    assert numbers(SHADOWS, 2, header=header) == [3, 14]


def test_a_function_may_end_by_a_loop_without_end(cpu: str) -> None:
    header = "fn f(n: i32) -> f32 { loop { if (n > 2) { return 1.0; } } }"
    assert numbers("y[0] = f(3);", 1, header=header) == [1]
    with pytest.raises(tw.ShaderError, match="f ends without a return of f32"):
        numbers("y[0] = f(3);", 1, header=header.replace("return 1.0", "break"))


def test_constants_are_exact_until_they_have_a_type(anywhere: str) -> None:
    text = """
    const A = 1 << 3;
    let a: u32 = A - 1;
    y[0] = f32(a) + f32(2147483648 / 1073741824);
    y[1] = f32(u32(4294967295) >> 28u) + f32(-(7 / 2) % 2);
    let one = cos(0) + 4;
    y[2] = select(0.0, one, A > 7 && 2.5 * 2 == 5);
    """
    assert numbers(text, 3) == [7 + 2, 15 - 1, 5]


@pytest.mark.parametrize("text", ["2147483647i + 1i", "0u - 1u"])
def test_constants_do_not_wrap(text: str, cpu: str) -> None:
    with pytest.raises(tw.ShaderError, match=r"line 1: .* is no value of [iu]32"):
        numbers(f"y[0] = f32({text});", 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y[0] = 012;", "'012' is no number"),
        ("y[0] = 1.0x;", "'1.0x' is no number"),
        ("/* /* */ y[0] = 1.0;", "comment"),
        ("y[1.5] = 0.0;", "an index is an i32 or a u32, not f32"),
        ("y[0] = y[x[0]];", "an index is an i32 or a u32, not f32"),
        ("y[true] = 1.0;", "an index is an i32 or a u32, not bool"),
        ("let v = vec2f(); y[0] = v[2];", "vec2f has no element 2"),
        ("y[0] = x[0][0];", "f32 has no elements"),
        ("y[0] = f32(~1.5);", "~ takes i32, u32, not float"),
        ("y[0] = f32(x[0] & x[1]);", "& takes bool, i32, u32, not f32"),
        ("y[0] = x[0] << 1u;", "<< takes"),
        ("y[0] = f32(true % true);", "% takes"),
        ("y[0] = f32(true + true);", r"\+ takes f16, f32, i32, u32, not bool"),
        ("y[0] = -1u;", "- takes"),
        ("y[0]++;", r"\+\+ takes an integer, not f32"),
        ("y[0] = 1.0; break;", "'break' is outside of a loop"),
        ("y[0] = 1.0; continue;", "'continue' is outside of a loop"),
        ("y[0] * 2.0;", "'=' expected, not '\\*'"),
        ("var v = vec2f(); v.xy = vec2f(1, 2); y[0] = v.x;", "'xy' is several elem"),
        ("y[0] = select(0.0, 1.0, x[0]);", "condition of select is a bool, not f32"),
        ("y[0] = 1.0; let a = 1.0; let a = 2.0;", "'a' is declared already"),
        ("y[0] = f32(1 / 0);", "/ by zero"),
        ("let n: i32 = 2147483647 + 1; y[0] = 0.0;", "2147483648 is no value of i32"),
        ("let n: u32 = 1 - 2; y[0] = 0.0;", "-1 is no value of u32"),
        ("y[0] = f32(countOneBits(1.5));", "countOneBits takes i32, u32, not float"),
        ("let a = sin(x[0] > 1.0); y[0] = 0.0;", "sin takes f16, f32, not bool"),
        ("y[0] = 1.0 / 0.0;", "inf is no value of f32"),
        ("y[0] = 1e39;", r"1e\+39 is no value of f32"),
    ],
)
def test_what_wgsl_refuses_is_refused_with_its_line(
    text: str, words: str, device: str
) -> None:
    with pytest.raises(tw.ShaderError) as info:
        numbers(text, 2)
    if device == "cpu":
        assert info.match(f"line 1: .*{words}")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("fn f(a: i32) -> f32 {\nif (a > 0) { return 1.0; }\n}", "line 3.* f ends w"),
        ("fn f() -> f32 {\nreturn;\n}", "line 2.* return without a value"),
        ("fn f() -> f32 {\nreturn f();\n}", "line 2.* f calls itself"),
        ("fn f() { g(); }\nfn g() { f(); }", "line 2.* f calls itself|g calls itself"),
        ("fn f() { }\nfn f() { }", "line 2.* 'f' is declared already"),
        ("fn f(a: i32) {\nlet a = 1;\n}", "line 2.* 'a' is declared already"),
        ("fn f() { }\nfn g() {\nlet a = f(); }", "line 3.* f returns nothing"),
    ],
)
def test_wrong_functions_are_refused_with_their_line(
    header: str, words: str, device: str
) -> None:
    with pytest.raises(tw.ShaderError) as info:
        numbers("y[0] = 1.0;", 1, header=header)
    if device == "cpu":
        assert info.match(words)
