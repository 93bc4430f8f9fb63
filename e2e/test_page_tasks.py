"""Ten questions about a run, each answered within three clicks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from page_driver import PageDriver, expect
from playwright.sync_api import Page

Click = Callable[[Page], None]

SETUP = "import tensorweb as tw\nfrom tensorweb import nn\n"


def tab(name: str) -> Click:
    return lambda page: (
        page.get_by_role("tab", name=name).locator("visible=true").click()
    )


def tensor(name: str) -> Click:
    card = f"#tensors .tensor:has(.tensor-name:text-is('{name}'))"
    return lambda page: page.click(card)


def button(text: str, panel: str) -> Click:
    return lambda page: page.locator(
        f"#{panel} button:has-text('{text}')"
    ).first.click()


WHY = button("Why?", "tensors")

TASKS: dict[str, tuple[str, list[Click], str, str | re.Pattern[str]]] = {
    "the line that made the NaN": (
        """x = tw.arange(6.0).reshape(2, 3)
y = x - 2
z = tw.sqrt(y[:, ::-1]) * 3
late = z + 1
tw.show(late)
""",
        [WHY, button("Where is it first made?", "why")],
        "#why .why-where",
        "line 5",
    ),
    "the operation that copied": (
        """x = tw.arange(12.0).reshape(3, 4)
rows = x[::2]
columns = x.mT.reshape(12)
""",
        [],
        ".cm-line:has-text('columns =') .cm-ghost[data-text*='copy']",
        "",
    ),
    "the slow kernel and why": (
        """x = tw.ones((400, 400))
y = tw.realize(x * 2)
for step in range(30):
    y = tw.realize(tw.tanh(y @ x) / 400)
    print(y.sum().item())
""",
        [tab("Timeline")],
        "#timeline .timeline-finding",
        re.compile(r"line [67]"),
    ),
    "the axis that does not fit": (
        """x = tw.ones((4, 3))
w = tw.ones((4, 5))
y = x @ w
""",
        [],
        "#output .clash-wrong >> nth=0",
        "3",
    ),
    "why a cell has its value": (
        """x = tw.arange(4.0)
y = x * 3 + 1
tw.show(y)
""",
        [WHY],
        "#why .why-rows",
        "0·3 = 0",
    ),
    "what a cell of a convolution sees": (
        """x = tw.random.normal(tw.random.key(0), (1, 1, 6, 6))
kernel = tw.ones((1, 1, 3, 3))
y = tw.conv2d(x, kernel)
tw.show(y)
""",
        [WHY],
        "#why .why-source h4 >> nth=0",
        "9 cells of 36",
    ),
    "the peak of memory": (
        """x = tw.realize(tw.ones((256, 256)) * 2)
y = tw.realize(x @ x)
""",
        [tab("Memory"), button("Record memory", "memory")],
        "#memory .memory-summary",
        re.compile(r"Peak .* line \d"),
    ),
    "why two operations are not fused": (
        """x = tw.random.normal(tw.random.key(0), (64, 64))
y = (x * 2).sum(1, keepdims=True)
z = tw.sort(x / y, axis=0) + 1
tw.show(z)
""",
        [tab("Kernels"), button("Why not fused?", "kernels")],
        "#kernels .kernel-list",
        "sort",
    ),
    "where the devices part": (
        """x = tw.arange(1.0, 9.0)
y = tw.exp(tw.log(x)).sum()
tw.show(y)
""",
        [tensor("x"), WHY, button("Compare with", "why")],
        "#why .why-further",
        re.compile("operations of the run agree|After"),
    ),
    "which gradient vanished": (
        """model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
model[0].bias = model[0].bias - 100
loss = (model(tw.ones((5, 3))) ** 2).mean()
tw.show(loss)
""",
        [WHY, button("Its gradients", "why")],
        "#why .why-further",
        re.compile(r"weight \(\d, 3\): all 0"),
    ),
}


ON_GPU = ("the slow kernel and why", "where the devices part")
"""Tasks whose answer depends on the device; compiling takes the time of the others."""


@pytest.mark.parametrize("task", TASKS)
def test_three_clicks_answer(tidy: PageDriver, task: str) -> None:
    program, clicks, selector, answer = TASKS[task]
    assert len(clicks) <= 3
    tidy.choose_device("webgpu" if task in ON_GPU else "cpu")
    state = tidy.run(SETUP + program)
    page = tidy.page
    for click in clicks:
        click(page)
    expect(page.locator(selector)).to_contain_text(answer)
    tidy.choose_device("webgpu")  # the page is shared
    if state == "error":
        tidy.run("pass")
