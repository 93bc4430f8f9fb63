"""Editing a kernel of a run: differences, problems at their lines, code that runs."""

from __future__ import annotations

import re

from page_driver import PageDriver, expect
from test_page_access import in_every_scheme

PROGRAM = """import tensorweb as tw

x = tw.arange(12.0).reshape(3, 4)
total = (x * 2 + 1).sum(1)
print(total.tolist())
"""


def test_a_kernel_is_edited_run_and_kept(shared: PageDriver) -> None:
    page = shared.page
    page.set_viewport_size({"width": 1280, "height": 800})
    shared.choose_device("webgpu")
    assert shared.run(PROGRAM) == "ready", shared.wrong()
    page.get_by_role("tab", name="Kernels").click()
    row = page.locator(".kernel-row", has_text="sum").first
    row.locator("summary").click()
    row.get_by_role("button", name="Edit").click()
    text = page.get_by_role("textbox", name="WGSL of the kernel")
    expect(text).to_be_visible()
    report = page.locator(".kernel-report")
    page.get_by_role("button", name="Run on captured inputs").click()
    expect(report).to_contain_text("All 3 elements are equal.")
    assert in_every_scheme(page) == []

    replace(shared, "return (a + b);", "return (a + b;")
    page.keyboard.press("Control+Enter")
    expect(report).to_contain_text("compiler refused the text")
    report.get_by_role("button", name=re.compile(r"line \d+")).first.click()
    expect(text).to_be_focused()

    replace(shared, "return (a + b;", "return (a + b + 1.0);")
    page.keyboard.press("Control+Enter")
    expect(report).to_contain_text("3 of 3 elements differ")
    expect(report.locator("canvas")).to_be_visible()
    assert in_every_scheme(page) == []

    page.get_by_role("button", name="Keep as code").click()
    expect(report).to_contain_text("at the end of the program")
    program = page.evaluate("tensorwebPage.editor.source()")
    assert "edited = tw.kernel(" in program
    assert "return (a + b + 1.0);" in program
    call = program.rstrip().rsplit("# result = ", 1)[1].replace("input0", "x")
    assert shared.run(f"{program}\nprint({call}.tolist())") == "ready", shared.wrong()

    # The run has closed the editor, and kept the text.
    row.get_by_role("button", name="Continue editing").click()
    expect(text).to_contain_text("return (a + b + 1.0);")
    expect(text).to_be_focused()

    # What is shown belongs to this program, not to the next one.
    page.evaluate("tensorwebPage.workspace.openExample('02-broadcasting')")
    page.get_by_role("button", name="Keep as code").click()
    expect(report).to_contain_text("open that program first")
    measure = page.locator("#kernels").get_by_role("button", name="Measure times")
    measure.click()
    expect(page.locator("#notice")).to_contain_text("open that program first")
    assert "edited" not in page.evaluate("tensorwebPage.editor.source()")
    shared.tidy()


def test_editing_keeps_an_answer_of_why(shared: PageDriver) -> None:
    page = shared.page
    shared.choose_device("webgpu")
    assert shared.run(PROGRAM + "total * 2\n") == "ready", shared.wrong()
    page.evaluate("tensorwebPage.why({name: 'total', index: [1]})")
    title = page.locator("#why .why-title")
    expect(title).to_have_text("total[1] = 48")
    page.locator("#why .why-cell").last.click()
    expect(title).to_have_text(re.compile(r"x\[1, 3\] = 7"))
    page.get_by_role("tab", name="Kernels").click()
    row = page.locator(".kernel-row", has_text="sum").first
    row.locator("summary").click()
    row.get_by_role("button", name="Step threads").click()
    expect(page.locator(".threads-words")).to_be_visible()
    page.get_by_role("tab", name="Why?").click()
    expect(title).to_have_text(re.compile(r"x\[1, 3\] = 7"))
    expect(page.locator("#why .why-trail button")).to_have_count(2)
    page.get_by_role("tab", name="Kernels").click()
    runs = page.evaluate("tensorwebPage.view.origins.run.run")
    page.locator("#kernels").get_by_role("button", name="Measure times").click()
    page.wait_for_function(
        "before => tensorwebPage.view.origins.tensors.run > before", arg=runs
    )
    page.get_by_role("tab", name="Why?").click()
    expect(title).to_have_text(re.compile(r"x\[1, 3\] = 7"))

    # Cells of another text are no step of a lesson.
    page.get_by_role("tab", name="Kernels").click()
    changed = PROGRAM.replace("total", "other") + "other * 2\n"
    assert shared.run(changed) == "ready", shared.wrong()
    page.get_by_role("tab", name="Why?").click()
    page.get_by_role("button", name="Share").click()
    lesson = page.get_by_label("Lesson")
    expect(lesson).to_have_value(re.compile("Open the panel .Why"))
    expect(lesson).not_to_have_value(re.compile("Ask why"))
    page.keyboard.press("Escape")
    shared.tidy()


def replace(shared: PageDriver, old: str, new: str) -> None:
    """Type another text over a part of the kernel's."""
    found = shared.page.evaluate(
        """([old, text]) => {
          const lines = [...document.querySelectorAll(".kernel-editor .cm-line")];
          const line = lines.find((each) => each.textContent.includes(old));
          line.scrollIntoView({ block: "center" });
          const range = document.createRange();
          range.selectNodeContents(line);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
          line.closest("[contenteditable]").focus();
          return line.textContent.replace(old, text);
        }""",
        [old, new],
    )
    shared.page.keyboard.insert_text(found)
