"""Kernels that a program brings in WGSL: calls, transformations, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.wasm import WasmBackend
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

F32, I32, U32 = tw.float32, tw.int32, tw.uint32

saxpy = tw.kernel(
    """
    let i = global_id.x;
    if (i < out_size) {
      out[i] = a * x[i] + y[i];
    }
    """,
    inputs={"a": F32, "x": F32, "y": F32},
    outputs={"out": F32},
    name="saxpy",
    vjp=lambda inputs, _, g: ((g * inputs[1]).sum(), g * inputs[0], g),
    reference=lambda a, x, y: a * x + y,
)

sums = tw.kernel(
    """
    parts[local_index] = 0.0;
    if (global_id.x < x_size) {
      parts[local_index] = x[global_id.x];
    }
    for (var width = 32u; width > 0u; width /= 2u) {
      workgroupBarrier();
      if (local_index < width) {
        parts[local_index] += parts[local_index + width];
      }
    }
    if (local_index == 0u) {
      total[workgroup_id.x] = parts[0];
    }
    """,
    header="var<workgroup> parts: array<f32, 64>;",
    inputs={"x": F32},
    outputs={"total": F32},
    shape=lambda x: -(-x[0] // 64),
    grid=lambda x: x,
    workgroup_size=64,
    name="sums",
)

TILE = 4

matmul = tw.kernel(
    f"""
    let row = global_id.y;
    let column = global_id.x;
    let m = a_shape[0];
    let k = a_shape[1];
    let n = b_shape[1];
    var sum = 0.0;
    for (var start = 0u; start < k; start += {TILE}u) {{
      left[local_id.y][local_id.x] = 0.0;
      right[local_id.y][local_id.x] = 0.0;
      if (row < m && start + local_id.x < k) {{
        left[local_id.y][local_id.x] = a[row * k + start + local_id.x];
      }}
      if (column < n && start + local_id.y < k) {{
        right[local_id.y][local_id.x] = b[(start + local_id.y) * n + column];
      }}
      workgroupBarrier();
      for (var i = 0u; i < {TILE}u; i++) {{
        sum += left[local_id.y][i] * right[i][local_id.x];
      }}
      workgroupBarrier();
    }}
    if (row < m && column < n) {{
      c[row * n + column] = sum;
    }}
    """,
    header=f"""
    var<workgroup> left: array<array<f32, {TILE}>, {TILE}>;
    var<workgroup> right: array<array<f32, {TILE}>, {TILE}>;
    """,
    inputs={"a": F32, "b": F32},
    outputs={"c": F32},
    shape=lambda a, b: (a[0], b[1]),
    grid=lambda c: (c[1], c[0]),
    workgroup_size=(TILE, TILE),
    name="matmul",
    reference=lambda a, b: a @ b,
)

both = tw.kernel(
    """
    let i = global_id.x;
    if (i < x_size) {
      double[i] = 2.0 * x[i];
      index[i] = i;
    }
    """,
    inputs={"x": F32},
    outputs={"double": F32, "index": U32},
    name="both",
)


def kernels_of(*tensors: tw.Tensor) -> list[str]:
    """Return the names of the kernels that computing tensors together runs."""
    with tw.record_kernels() as records:
        tw.realize(*tensors)
        for each in tensors:
            each.numpy()
    return [record.name for record in records]


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000])
def test_it_computes_every_element(n: int, anywhere: str) -> None:
    x, y = np.arange(n, dtype="f4"), np.linspace(0, 1, n, dtype="f4")
    found = saxpy(3.0, tw.asarray(x), y)
    assert found.shape == (n,)
    np.testing.assert_allclose(found.numpy(), 3 * x + y, rtol=1e-6)


def test_views_are_read_in_their_own_order(anywhere: str) -> None:
    x = np.arange(30, dtype="f4").reshape(5, 6)
    views = [x.T, x[1:, ::2], x[::-1], x[2], x[:, 1:2], np.broadcast_to(x[0], (2, 6))]
    t = tw.asarray(x)
    same = [t.T, t[1:, ::2], t[::-1], t[2], t[:, 1:2], tw.broadcast_to(t[0], (2, 6))]
    for view, expected in zip(same, views, strict=True):
        found = saxpy(t[2, 3], view, 0.0 * view)
        np.testing.assert_array_equal(found.numpy(), 15 * expected)


def test_numbers_and_constants_share_a_pipeline(webgpu: str) -> None:
    x = tw.asarray([0.0, 1, 2, 3, 4, 5, 6])
    assert saxpy(2.0, x, x).tolist() == [3 * n for n in range(7)]
    backend = devices.backend(webgpu)
    assert isinstance(backend, WebGpuBackend)
    before = backend.driver.counters()["pipelines"]
    twin = tw.kernel(
        saxpy._text,
        inputs={"a": F32, "x": F32, "y": F32},
        outputs={"out": F32},
        name="another",
    )
    assert saxpy(7.0, x, x).tolist() == [8 * n for n in range(7)]
    assert twin(8.0, x, x).tolist() == [9 * n for n in range(7)]
    assert backend.driver.counters()["pipelines"] == before
    assert saxpy(8.0, x[:3], x[:3]).tolist() == [0, 9, 18]
    assert backend.driver.counters()["pipelines"] > before  # it names out_size


def test_pending_inputs_and_results_have_kernels_of_their_own(webgpu: str) -> None:
    x = tw.arange(6.0).realize()
    a = (x.sum() + 1) / 4
    found = saxpy(a, (x + 1).exp().log() * 2, x[::-1]) - 1
    expected = 4 * (np.arange(6) + 1) * 2 + np.arange(6)[::-1] - 1
    names = kernels_of(found)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
    assert names.count("custom saxpy → [6]") == 1
    assert names[-1].startswith("elementwise subtract")


def test_it_may_bind_every_buffer_of_a_device(anywhere: str) -> None:
    """Kernels of the scheduler keep two bindings for themselves."""
    node = saxpy(2.0, tw.ones(2) * 3, tw.ones(2)).node
    kernels = plan(linearize([node]), 1)
    assert [each.kernel.kind for each in kernels][-1] == "custom"


def test_a_kernel_reads_what_another_wrote(anywhere: str) -> None:
    x = tw.ones(100)
    for _ in range(20):
        x = saxpy(1.0, x, x)
    assert x.tolist() == [2.0**20] * 100


def test_assignments_leave_inputs_and_results_alone(anywhere: str) -> None:
    x = tw.zeros(4)
    first = saxpy(1.0, x, x)
    x[1] = 5
    second = saxpy(1.0, x, x)
    second += 1
    third = saxpy(1.0, second, second)
    second[0] = 100
    assert first.tolist() == [0, 0, 0, 0]
    assert third.tolist() == [2, 22, 2, 2]
    assert second.tolist() == [100, 11, 1, 1]


def test_workgroup_memory_reduces(anywhere: str) -> None:
    x = np.arange(300, dtype="f4")
    expected = [x[start : start + 64].sum() for start in range(0, 300, 64)]
    assert sums(x).tolist() == expected
    assert sums(sums(x)).tolist() == [x.sum()]


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 4, 4), (5, 9, 6), (3, 0, 2)])
def test_tiles_multiply_matrices(shape: tuple[int, int, int], anywhere: str) -> None:
    m, k, n = shape
    random = np.random.default_rng(3)
    a = random.normal(size=(k, m)).astype("f4")
    b = random.normal(size=(k, n)).astype("f4")
    t = tw.asarray(a).T
    np.testing.assert_allclose(matmul(t, b).numpy(), a.T @ b, rtol=1e-5, atol=1e-5)
    matmul.check(t, b)


def test_the_game_of_life(device: str) -> None:
    life = tw.kernel(
        """
        if (global_id.x >= old_shape[1] || global_id.y >= old_shape[0]) {
          return;
        }
        let around = at(-1, -1) + at(-1, 0) + at(-1, 1) + at(0, -1);
        next[global_id.y * old_shape[1] + global_id.x] = around;
        """.replace("at(", "at(global_id.xy, "),
        header="""
        fn at(cell: vec2u, down: i32, right: i32) -> i32 {
          let height = i32(old_shape[0]);
          let width = i32(old_shape[1]);
          let row = (i32(cell.y) + down + height) % height;
          let column = (i32(cell.x) + right + width) % width;
          return old[row * width + column];
        }
        """,
        inputs={"old": I32},
        outputs={"next": I32},
        grid=lambda old: old[::-1],
        workgroup_size=(8, 8),
        name="life",
    )
    board = np.random.default_rng(0).integers(0, 2, (9, 13)).astype("i4")
    steps = [(1, 1), (1, 0), (1, -1), (0, 1)]
    expected = sum(np.roll(board, step, (0, 1)) for step in steps)
    np.testing.assert_array_equal(life(board).numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32"])
def test_dtypes(dtype: str, device: str) -> None:
    twice = tw.kernel(
        "y[global_id.x] = x[global_id.x] + x[global_id.x] + one;",
        inputs={"x": dtype, "one": dtype},
        outputs={"y": dtype},
        workgroup_size=1,
    )
    try:
        x = tw.asarray([1, 2, 5], dtype=dtype)
    except tw.DTypeError as error:
        pytest.skip(str(error))
    found = twice(x, 1)
    assert (found.dtype.name, found.tolist()) == (dtype, [3, 5, 11])
    assert twice(x, x[1]).tolist() == [4, 6, 12]


def test_several_outputs_are_one_launch(webgpu: str) -> None:
    x = tw.arange(5.0).realize()
    double, index = both(x)
    assert kernels_of(double, index) == ["custom both → [5], [5]"]
    assert double.tolist() == [0, 2, 4, 6, 8]
    assert (index.dtype, index.tolist()) == (U32, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("chosen", [0, 1])
def test_one_of_several_outputs(chosen: int, anywhere: str) -> None:
    expected = [[0, 2, 4, 6, 8], [0, 1, 2, 3, 4]]
    result = both(tw.arange(5.0))[chosen]
    assert result.tolist() == expected[chosen]
    first, second = both(tw.arange(5.0))
    results = [first + 1, second + 1]
    assert (results[chosen] - 1).tolist() == expected[chosen]
    assert (results[1 - chosen] - 1).tolist() == expected[1 - chosen]


def test_reading_one_output_computes_the_others(anywhere: str) -> None:
    double, index = both(tw.arange(5.0).realize())
    assert double.tolist()[1] == 2
    assert kernels_of(index) == []


def test_outputs_start_as_zeros(anywhere: str) -> None:
    (tw.ones(1000) * 7).sum().item()
    some = tw.kernel(
        "if (global_id.x == 2u) { y[2] = x; }",
        inputs={"x": F32},
        outputs={"y": F32},
        shape=1000,
    )
    for value in (3.0, 4.0):
        found = some(value).numpy()
        assert found[2] == value
        assert found.sum() == value


def test_outputs_need_not_be_cleared(webgpu: str) -> None:
    full = declared("if (global_id.x < y_size) { y[global_id.x] = 5.0; }", clear=False)
    clears = devices.backend(webgpu)
    assert isinstance(clears, WebGpuBackend)
    plans = [
        clears._pipelines.program(
            plan(linearize([kernel(tw.ones(9)).node]), 9)[-1].kernel
        )
        for kernel in (full, declared("y[0] = x[0];"))
    ]
    assert [program.clears_outputs for program in plans] == [False, True]
    assert full(tw.ones(9)).tolist() == [5] * 9


def test_atomics_count(anywhere: str) -> None:
    histogram = tw.kernel(
        "if (global_id.x < x_size) { atomicAdd(&count[x[global_id.x]], 1u); }",
        inputs={"x": U32},
        outputs={"count": U32},
        shape=5,
        grid=lambda x: x,
    )
    x = np.random.default_rng(1).integers(0, 5, 777).astype("u4")
    assert histogram(x).tolist() == np.bincount(x, minlength=5).tolist()
    assert histogram(x[:0]).tolist() == [0] * 5


@pytest.mark.parametrize("groups", [65_535, 65_536, 140_001])
def test_workgroups_beyond_a_dispatch(groups: int, anywhere: str) -> None:
    ids = tw.kernel(
        "y[global_id.x] = global_id.x + workgroup_id.x * num_workgroups.x;",
        inputs={"x": I32},
        outputs={"y": U32},
        shape=groups * 2,
        workgroup_size=2,
    )
    n = np.arange(2 * groups, dtype="u4")
    np.testing.assert_array_equal(ids(0).numpy(), n + n // 2 * np.uint32(groups))


def test_grids_of_three_axes(device: str) -> None:
    ids = tw.kernel(
        """
        if (all(global_id < vec3u(4, 3, 5))) {
          let at = (global_id.z * 3 + global_id.y) * 4 + global_id.x;
          y[at] = at + local_index * 0u;
          atomicAdd(&groups[0], select(0u, 1u, local_index == 0));
        }
        """,
        inputs={"x": I32},
        outputs={"y": U32, "groups": U32},
        shape={"y": (5, 3, 4), "groups": 1},
        grid=(4, 3, 5),
        workgroup_size=(2, 2, 2),
    )
    y, groups = ids(0)
    assert y.tolist() == np.arange(60).reshape(5, 3, 4).tolist()
    assert groups.tolist() == [2 * 2 * 3]


# Transformations


def test_jit_replays_it(anywhere: str) -> None:
    step = tw.jit(lambda a, x: saxpy(a, x, x * x) + both(x)[1])
    for n in range(4):
        x = np.arange(6, dtype="f4") + n
        expected = n * x + x * x + np.arange(6)
        assert step(tw.asarray(float(n)), tw.asarray(x)).tolist() == expected.tolist()
    direct = tw.jit(saxpy)
    x = tw.ones(3)
    assert [direct(float(n), x, x)[1].item() for n in range(3)] == [1, 2, 3]


def test_its_vjp_is_its_derivative(anywhere: str) -> None:
    a, x, y = tw.asarray(2.0), tw.arange(5.0) / 5, tw.ones(5)
    tw.check_grads(lambda *p: (saxpy(*p) ** 2).sum(), [a, x, y])
    w = tw.ones(5).requires_grad_()
    saxpy(3.0, w, w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [4] * 5


def test_several_outputs_have_a_vjp(anywhere: str) -> None:
    parts = tw.kernel(
        """
        let i = global_id.x;
        if (i < x_size) {
          s[i] = x[i] * x[i];
          c[i] = 3.0 * x[i];
        }
        """,
        inputs={"x": F32},
        outputs={"s": F32, "c": F32},
        vjp=lambda inputs, _, g: (2 * inputs[0] * g[0] + 3 * g[1],),
    )

    def loss(x: tw.Tensor) -> tw.Tensor:
        s, c = parts(x)
        return (s * tw.arange(4.0) + c).sum()

    x = np.asarray([1, 2, 3, 4], "f4")
    expected = 2 * x * np.arange(4) + 3
    assert tw.grad(loss)(tw.asarray(x)).tolist() == expected.tolist()


def test_a_result_in_a_vjp_is_not_computed_again(webgpu: str) -> None:
    exp = tw.kernel(
        "if (global_id.x < x_size) { y[global_id.x] = exp(x[global_id.x]); }",
        inputs={"x": F32},
        outputs={"y": F32},
        name="own exp",
        vjp=lambda _, result, g: (g * result,),
    )
    x = tw.arange(3.0).realize()
    gradient = tw.grad(lambda x: exp(x).sum())(x)
    names = kernels_of(gradient)
    assert names.count("custom own exp → [3]") == 1
    np.testing.assert_allclose(gradient.numpy(), np.exp(np.arange(3)), rtol=1e-5)
    with pytest.raises(tw.TransformError, match="own exp: this kernel has no deriv"):
        tw.grad(lambda x: tw.grad(lambda x: exp(x).sum())(x).sum())(x)


def test_without_a_vjp_it_has_no_derivative(anywhere: str) -> None:
    with pytest.raises(tw.TransformError, match="both: this kernel has no derivative"):
        tw.grad(lambda x: both(x)[0].sum())(tw.ones(3))
    stopped = tw.grad(lambda x: (both(tw.stop_gradient(x))[0] * x).sum())(tw.ones(3))
    assert stopped.tolist() == [2, 2, 2]


def test_vmap_launches_it_for_each_example(webgpu: str) -> None:
    x = tw.arange(12.0).reshape(3, 4)
    a = tw.arange(3.0)
    expected = a.numpy()[:, None] * x.numpy() + 1
    batch = tw.vmap(saxpy, (0, 0, None))(a, x, tw.ones(4))
    assert batch.tolist() == expected.tolist()
    columns = tw.vmap(saxpy, (None, 1, None), 1)(2.0, x, tw.ones(3))
    assert columns.tolist() == (2 * x.numpy() + 1).tolist()
    double, index = tw.vmap(both)(x.realize())
    names = kernels_of(double, index)
    assert names.count("custom both → [4], [4]") == 3
    assert double.tolist() == (2 * x).tolist()
    assert index.tolist() == [[0, 1, 2, 3]] * 3


def test_transformations_nest(anywhere: str) -> None:
    x = tw.arange(6.0).reshape(2, 3)
    gradients = tw.jit(tw.vmap(tw.grad(lambda x: (saxpy(2.0, x, x) ** 2).sum())))
    for _ in range(2):
        assert gradients(x).tolist() == (18 * x.numpy()).tolist()


# Errors and devices


def declared(text: str = "y[0] = x[0];", **changed: Any) -> Any:
    """Return a kernel of one input and one output, with changes."""
    given: dict[str, Any] = {"inputs": {"x": F32}, "outputs": {"y": F32}, "name": "k"}
    return tw.kernel(text, **{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"outputs": {"x": F32}}, "two arguments are called 'x'"),
        ({"outputs": {"x_size": F32}}, "'x_size' is declared already"),
        ({"inputs": {"global_id": F32}}, "'global_id' is declared already"),
        ({"inputs": {"a b": F32}}, "'a b' is no name of WGSL"),
        ({"inputs": {}}, "inputs and outputs are dicts"),
        ({"inputs": ["x"]}, "inputs and outputs are dicts"),
        ({"text": "@compute fn main() {}"}, "the text is the body of main"),
        ({"text": "if (i < arrayLength(&x)) {}"}, "use x_size"),
        ({"workgroup_size": 0}, "workgroup_size is 0; it has one to three"),
        ({"workgroup_size": (1, 2, 3, 4)}, "it has one to three numbers"),
        ({"workgroup_size": 1.5}, "it is a number or a tuple of numbers"),
        ({"shape": {"z": 1}}, r"shape names \['z'\]"),
        ({"outputs": {"y": F32, "z": F32}, "shape": 3}, "as a dict by their names"),
        ({"fallback": True}, "needs a reference"),
    ],
    ids=str,
)
def test_declarations_are_checked(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(tw.KernelError, match=f"^k: .*{words}"):
        declared(**changed)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
def test_other_dtypes_are_refused(dtype: str) -> None:
    with pytest.raises(tw.DTypeError, match=rf"k: 'x' is declared {dtype}"):
        declared(inputs={"x": dtype})


def test_calls_are_checked(webgpu: str) -> None:
    with pytest.raises(tw.KernelError, match=r"saxpy: 2 inputs for 3.*\(a, x, y\)"):
        saxpy(1.0, tw.ones(2))
    with pytest.raises(tw.DTypeError, match=r"'x' is int32 of shape \(2,\).*float32"):
        saxpy(1.0, tw.ones(2, dtype=I32), tw.ones(2))
    with pytest.raises(tw.DeviceError, match="'y' is on device 'cpu'"):
        saxpy(1.0, tw.ones(2), tw.ones(2, device="cpu"))
    with pytest.raises(tw.KernelError, match=r"do not broadcast .*x \(2,\), y \(3,\)"):
        saxpy(1.0, tw.ones(2), tw.ones(3))
    with pytest.raises(tw.KernelError, match=r"parameter 'z'.*\['x'\]"):
        declared(shape=lambda z: z)(tw.ones(2))
    with pytest.raises(tw.KernelError, match="shape is -1"):
        declared(shape=lambda x: -1)(tw.ones(2))
    with pytest.raises(tw.KernelError, match=r"grid is .* one to three numbers"):
        declared(grid=lambda x: x * 4)(tw.ones(2))


def test_limits_of_the_device_are_checked(webgpu: str) -> None:
    with pytest.raises(tw.KernelError, match=r"workgroup_size \(100000, 1, 1\)"):
        declared(workgroup_size=100_000)(tw.ones(2))
    with pytest.raises(tw.KernelError, match=r"at most \(\d+, \d+, \d+\) along x, y"):
        declared(workgroup_size=(1, 1, 1025))(tw.ones(2))
    with pytest.raises(tw.KernelError, match="the grid has 4,294,967,296 workgroups"):
        declared(grid=(65536, 65536), workgroup_size=1)(tw.ones(2))
    limits = devices.backend(webgpu).shader_compiler
    assert limits is not None
    most = limits.shader_limits["maxStorageBuffersPerShaderStage"]
    if most < 100:
        names = {f"x{n}": F32 for n in range(most)}
        with pytest.raises(tw.KernelError, match=f"binds {most} buffers"):
            declared(inputs=names)(*[tw.ones(2)] * most)


def test_a_refused_text_is_named_by_its_own_lines(anywhere: str) -> None:
    wrong = declared("let i = global_id.x;\n  y[i] = x[i] + n;\n")
    for _ in range(2):
        with pytest.raises(tw.ShaderError, match=r"(?s)kernel 'k'.*line 2: .*") as info:
            wrong(tw.ones(2))
        text = str(info.value)
        assert ">" in text
        shown = text.splitlines()
        marked = next(n for n, line in enumerate(shown) if line.startswith("> 2 | "))
        assert shown[marked].endswith("y[i] = x[i] + n;")
        assert shown[marked + 1].index("^") == shown[marked].index("n;")
    wrong = declared(header="\nfn f() -> f32 {\n  return true;\n}")
    with pytest.raises(tw.ShaderError, match=r"line \d of the header: "):
        wrong(tw.ones(2))


def test_a_refused_declaration_is_named(webgpu: str) -> None:
    with pytest.raises(tw.ShaderError, match=r"line \d+ of the declarations: "):
        declared(inputs={"fn": F32})(tw.ones(2))


def test_the_complete_text_is_valid(anywhere: str) -> None:
    text = matmul.wgsl(tw.ones((2, 3)), tw.ones((3, 4)))
    assert "@compute @workgroup_size(4, 4, 1)" in text
    assert "const a_shape = array<u32, 2>(2u, 3u);" in text
    assert "local_index" not in text
    with pytest.raises(tw.ShaderError):
        declared("y[0] = z;").wgsl(tw.ones(2))


def test_explanations_have_its_name_and_text(webgpu: str) -> None:
    text = str(tw.explain(saxpy(2.0, tw.ones(3), tw.ones(3))))
    assert "custom saxpy → [3]" in text
    assert "saxpy(" in text
    assert "out[i] = a * x[i] + y[i];" in text


def test_the_reference_checks_it(anywhere: str) -> None:
    x = tw.arange(6.0).reshape(2, 3)
    saxpy.check(2.0, x, x)
    off = declared(
        "let i = global_id.x; y[i] = select(x[i], 9.0, i > 3u);",
        workgroup_size=1,
        reference=lambda x: x,
    )
    with pytest.raises(tw.KernelError, match=r"y\[1, 1\] is 9, .* has 4; 2 of 6"):
        off.check(x)
    counts = declared(
        "y[global_id.x] = global_id.x;",
        outputs={"y": U32},
        reference=lambda x: np.arange(x.size),
    )
    counts.check(tw.ones(256))
    with pytest.raises(tw.KernelError, match=r"has shape \(5,\), .* has \(6,\)"):
        declared(reference=lambda x: x[:5]).check(tw.ones(6))
    with pytest.raises(tw.KernelError, match="check needs a reference"):
        both.check(tw.ones(2))


def test_nan_equals_nan_for_the_reference(anywhere: str) -> None:
    same = declared(
        "y[global_id.x] = x[global_id.x];", workgroup_size=1, reference=lambda x: x
    )
    same.check([1.0, float("nan"), float("inf")])


def test_webassembly_names_what_it_does_not_translate(wasm: WasmBackend) -> None:
    for text, words in (
        ("let p = global_id.xy; y[0] = f32(p.x);", "a value of type vec2u"),
        ("y[0] = x[0] % 2.0;", "'%' of floats"),
        ("if (x[0] > 0.0) { workgroupBarrier(); return; }", "'return' in a kernel"),
    ):
        with pytest.raises(tw.DeviceError, match=f"line 1: {words}.*not translated"):
            declared(text)(tw.ones(2))


def referring(reference: Any) -> Any:
    return tw.kernel(
        "y[0] = x[0];",
        inputs={"x": F32},
        outputs={"y": F32},
        vjp=lambda inputs, _, g: (3 * g,),
        reference=reference,
        fallback=True,
    )


def test_the_reference_computes_on_the_cpu(cpu: str) -> None:
    triple = referring(lambda x: 3 * x)
    x = tw.arange(6.0).reshape(2, 3)
    assert triple(x).tolist() == (3 * x).tolist()
    assert tw.jit(triple)(x).tolist() == (3 * x).tolist()
    assert tw.vmap(triple)(x).tolist() == (3 * x).tolist()
    assert tw.grad(lambda x: triple(x).sum())(x).tolist() == [[3] * 3] * 2
    of_numpy = referring(lambda x: np.multiply(np.asarray(x), 3))
    assert of_numpy(x).tolist() == (3 * x).tolist()
    with pytest.raises(tw.KernelError, match="returned 2 results"):
        referring(lambda x: (x, x))(x)


def test_an_empty_output_does_not_hinder_the_other(anywhere: str) -> None:
    two = tw.kernel(
        "if (global_id.x < 3u) { b[global_id.x] = x; }",
        inputs={"x": F32},
        outputs={"a": F32, "b": F32},
        shape={"a": 0, "b": 3},
        grid=3,
    )
    a, b = two(4.0)
    assert (a.tolist(), b.tolist()) == ([], [4, 4, 4])


def test_a_reference_may_make_tensors(anywhere: str) -> None:
    ramp = declared(
        "y[global_id.x] = x[global_id.x] * f32(global_id.x);",
        workgroup_size=1,
        reference=lambda x: x * tw.arange(3),
    )
    ramp.check([1.0, 2.0, 3.0])
