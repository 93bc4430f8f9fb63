"""Stepping the threads of a kernel: pictures, sentences, races, other workgroups."""

from __future__ import annotations

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw

transposed = tw.kernel(
    '''
    tile[local_id.y][local_id.x] = x[global_id.y * 8 + global_id.x];
    workgroupBarrier();
    let to = workgroup_id.x * 4 + local_id.y;
    y[to * 8 + workgroup_id.y * 4 + local_id.x] = tile[local_id.x][local_id.y];
    ''',
    header="var<workgroup> tile: array<array<f32, 4>, 4>;",
    inputs={"x": tw.float32},
    outputs={"y": tw.float32},
    grid=(8, 8),
    workgroup_size=(4, 4),
    name="transposed",
)
x = tw.arange(64.0).reshape(8, 8)
print((transposed(x) == x.T).all().item())
"""


def test_threads_are_stepped_and_races_named(shared: PageDriver) -> None:
    page = shared.page
    page.set_viewport_size({"width": 1280, "height": 800})
    shared.choose_device("webgpu")
    assert shared.run(PROGRAM) == "ready", shared.wrong()
    assert shared.output.startswith("True")
    page.get_by_role("tab", name="Kernels").click()
    row = page.locator(".kernel-row", has_text="transposed").first
    row.locator("summary").click()
    row.get_by_role("button", name="Step threads").click()
    threads = page.locator(".threads")
    expect(threads).to_contain_text("No races")
    expect(threads.locator("canvas")).to_have_count(3)
    slider = threads.get_by_label("Thread of the workgroup", exact=True)
    expect(slider).to_be_in_viewport()
    words = threads.get_by_role("status")
    expect(words).to_contain_text("Thread 0 (0, 0), step 1 of 5: reads x[0]")

    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    step = threads.get_by_label("Step of the thread", exact=True)
    step.focus()
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("writes 10 to tile[1][2]")
    expect(threads.locator(".is-lit")).to_contain_text("tile[local_id.y][local_id.x] =")
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("waits at the barrier")

    threads.get_by_label("Workgroup x").fill("1")
    threads.get_by_label("Workgroup x").press("Enter")
    expect(words).to_contain_text("reads x[4], which is 4")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert in_every_scheme(page) == []

    # A text without the barrier.
    page.evaluate(
        """() => {
          const lines = [...document.querySelectorAll(".kernel-editor .cm-line")];
          const line = lines.find((each) => each.textContent.includes("Barrier"));
          const range = document.createRange();
          range.selectNodeContents(line);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
          line.closest("[contenteditable]").focus();
        }"""
    )
    page.keyboard.insert_text(" ")
    page.get_by_role("button", name="Step threads").click()
    expect(threads.get_by_role("alert")).to_contain_text("without a barrier between")
    assert in_every_scheme(page) == []
    shared.tidy()


def test_a_kernel_puzzle_shows_its_threads(shared: PageDriver) -> None:
    page = shared.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("tensorwebPage.workspace.openExample('49-kernel-puzzles')")
    shared.wait("tensorwebPage.view.document.id === '49-kernel-puzzles'")
    source = page.evaluate("tensorwebPage.editor.source()")
    shared.choose_device("cpu")
    shortened = source.replace("PUZZLES.items()", "[*PUZZLES.items()][:2]")
    assert shared.run(shortened) == "ready", shared.wrong()
    assert "0 of 9 are solved" in shared.output
    verdict = page.locator("#tensors .verdict")
    expect(verdict).to_contain_text("Out of bounds: thread 2 uses x[6]")
    verdict.locator("summary").click()
    threads = verdict.locator(".threads")
    expect(threads.get_by_role("status")).to_contain_text("reads x[4]")
    expect(threads.locator("canvas")).to_have_count(2)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert in_every_scheme(page) == []
    shared.tidy()
