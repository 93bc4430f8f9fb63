"""Kernels of a program's own, in a page: compiled by Tint, listed, refused."""

from __future__ import annotations

from page_driver import PageDriver, expect

SAXPY = """import tensorweb as tw

saxpy = tw.kernel(
    '''
    let i = global_id.x;
    if (i < out_size) {
      out[i] = a * x[i] + SECOND[i];
    }
    ''',
    inputs={"a": tw.float32, "x": tw.float32, "y": tw.float32},
    outputs={"out": tw.float32},
    name="saxpy",
    reference=lambda a, x, y: a * x + y,
)
x = tw.arange(5.0)
try:
    print(saxpy(2.0, x, x).tolist())
    saxpy.check(3.0, x, x)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_its_kernel_is_listed_by_its_name(shared: PageDriver) -> None:
    page = shared.page
    assert shared.run(SAXPY.replace("SECOND", "y")) == "ready"
    assert shared.output.startswith("[0.0, 3.0, 6.0, 9.0, 12.0]")
    assert "Error" not in shared.output
    page.get_by_role("tab", name="Kernels").click()
    row = page.locator(".kernel", has_text="saxpy")
    expect(row.locator("strong").first).to_have_text("saxpy \u2192 [5]")
    row.locator("summary").first.click()
    expect(row).to_contain_text("out[i] = a * x[i] + y[i];")
    page.get_by_role("tab", name="Tensors").click()


def test_a_refused_text_is_named_at_the_call(shared: PageDriver) -> None:
    for _ in range(2):
        assert shared.run(SAXPY.replace("SECOND", "z")) == "ready"
        assert shared.output.startswith("ShaderError kernel 'saxpy' does not compile.")
        assert "line 3: unresolved value 'z'" in shared.output
        assert "> 3 |   out[i] = a * x[i] + z[i];" in shared.output
        assert "const out_size" not in shared.output
    assert shared.run(SAXPY.replace("SECOND", "y")) == "ready"
    assert shared.output.startswith("[0.0, 3.0, 6.0, 9.0, 12.0]")


def test_the_cpu_translates_it_or_says_what_to_do(shared: PageDriver) -> None:
    text = SAXPY.replace("SECOND", "y").replace("(5.0)", "(5.0, device='cpu')")
    assert shared.run(text) == "ready"
    assert shared.output.startswith("[0.0, 3.0, 6.0, 9.0, 12.0]")
    assert "Error" not in shared.output
    text = text.replace("let i = global_id.x;", "let i = global_id.xy.x;")
    assert shared.run(text) == "ready"
    assert shared.output.startswith("DeviceError kernel 'saxpy'")
    assert (
        "line 1: a value of type vec2u is not translated to WebAssembly"
        in shared.output
    )
    assert "fallback=True" in shared.output
    fallback = text.replace("name=", "fallback=True, name=").replace("saxpy.check", "#")
    assert shared.run(fallback) == "ready"
    assert shared.output.startswith("[0.0, 3.0, 6.0, 9.0, 12.0]")
