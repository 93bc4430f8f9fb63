"""The wheel alone in a bare Pyodide page, as in JupyterLite or PyScript.

`micropip.install` of the file, then WebGPU tensors on the main thread and in a worker,
blocking and awaiting, in Chromium and Firefox; without WebGPU; in a memory snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_page import BarePage, open_bare, serve_bare, wheel_path
from playwright.sync_api import Browser

from conftest import Serve

SIDES = ("onMain", "inWorker")


@pytest.fixture(scope="module")
def address(
    serve: Serve, memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of the bare page."""
    return serve_bare(serve, tmp_path_factory.mktemp("bare"), memory)


@pytest.fixture(scope="module", params=SIDES)
def installed(
    request: pytest.FixtureRequest, chromium: Browser, address: str
) -> Iterator[BarePage]:
    """Python with the wheel, on the main thread and in a worker of Chromium."""
    python = open_bare(chromium, address, request.param)
    python("load")
    python.install()
    python("await", CHOICE)
    yield python
    python.page.context.close()


CHOICE = "import tensorweb as tw\ntw.set_default_device('webgpu')\n"
"""A software adapter is not chosen by itself."""

COMPUTE = """
import tensorweb as tw
x = tw.reshape(tw.arange(12, dtype=tw.float32), (3, 4))
with tw.record_kernels() as kernels:
    y = ((x @ x.T) * 0.5).sum(axis=0)
    values = y.tolist()
"""

SUMS = [57.0, 189.0, 321.0]


def test_wheel_computes_on_webgpu_and_reads_blocking(installed: BarePage) -> None:
    installed("await", COMPUTE)
    assert installed("await", "repr(x.device)") == "'webgpu'"
    assert json.loads(installed("await", "str(values)")) == SUMS
    kinds = installed("await", "' '.join(kernel.kind for kernel in kernels)")
    assert kinds == "matmul reduce"
    assert installed("await", "import sys; 'numpy' in sys.modules") == "false"


def test_printing_and_truth_block_too(installed: BarePage) -> None:
    code = "import tensorweb as tw\nx = tw.arange(3)\nf'{x!r} {bool((x < 3).all())}'"
    assert installed("await", code) == "tensor([0, 1, 2]) True"


@pytest.mark.parametrize("kind", ["callback", "plain"])
def test_where_python_cannot_wait_the_error_names_the_twin(
    installed: BarePage, kind: str
) -> None:
    installed("await", "import tensorweb as tw; z = tw.ones(3) * 2 + tw.arange(3)")
    text = installed.error(kind, "z.tolist" if kind == "callback" else "z.tolist()")
    assert "BlockingError" in text
    assert "await x.tolist_async()" in text


@pytest.mark.parametrize("kind", ["callback", "plain"])
def test_the_twin_works_where_python_cannot_wait(
    installed: BarePage, kind: str
) -> None:
    installed("await", "import tensorweb as tw; z = tw.ones(3) * 2 + tw.arange(3)")
    code = "z.tolist_async" if kind == "callback" else "z.tolist_async()"
    assert installed(kind, code) == "[2.0, 3.0, 4.0]"


def test_first_use_by_awaiting(chromium: Browser, address: str) -> None:
    python = open_bare(chromium, address, "onMain")
    python("resume")
    python.install()
    python("plain", "import tensorweb as tw")
    text = python.error("plain", "tw.ones(2)")
    assert "BlockingError" in text
    assert "await tw.open_device_async()" in text
    python("plain", "tw.open_device_async()")
    assert python("plain", "(tw.ones(2) + 1).tolist_async()") == "[2.0, 2.0]"
    python.page.context.close()


def test_firefox_computes_with_the_wheel(firefox: Browser, address: str) -> None:
    python = open_bare(firefox, address, "inWorker")
    python("resume")
    if python("plain", "import js; hasattr(js.navigator, 'gpu')") == "false":
        pytest.skip("this Firefox has no WebGPU")
    python.install()
    python("await", COMPUTE)
    assert python("await", "x.device") == "cpu"
    assert "stands in for a GPU" in python("await", "tw.open_device_async()")
    python("await", CHOICE + COMPUTE)
    assert json.loads(python("await", "str(values)")) == SUMS
    assert python("await", "x.device") == "webgpu"
    python.page.context.close()


def test_without_webgpu_the_cpu_computes(without_webgpu: Browser, address: str) -> None:
    python = open_bare(without_webgpu, address, "onMain")
    python("resume")
    python.install()
    python("await", COMPUTE)
    assert json.loads(python("await", "str(values)")) == SUMS
    assert python("await", "x.device") == "cpu"
    assert python("await", "import sys; 'numpy' in sys.modules") == "false"
    text = python.error("await", 'tw.arange(2, device="webgpu").tolist()')
    assert "offers no GPU adapter" in text
    python.page.context.close()


@pytest.mark.parametrize("kind", ["await", "plain", "callback"])
def test_the_cpu_never_waits(installed: BarePage, kind: str) -> None:
    installed("await", "import tensorweb as tw; z = tw.ones(3, device='cpu') * 2")
    assert installed(kind, "z.tolist" if kind == "callback" else "z.tolist()") == (
        "[2.0, 2.0, 2.0]"
    )


HELD = """
import sys
from tensorweb.playground.preload import preload
from pyodide.ffi import JsProxy
preload()
[
    f"{module}.{name}"
    for module in list(sys.modules) if module.startswith("tensorweb")
    for name, value in vars(sys.modules[module]).items() if isinstance(value, JsProxy)
]
"""


def test_import_leaves_no_javascript_in_a_snapshot(
    chromium: Browser, address: str
) -> None:
    python = open_bare(chromium, address, "inWorker")
    python("record")
    python("unpack", wheel_path())
    assert python("plain", HELD) == "[]"
    assert int(python("snapshot")) > 1 << 20
    python("restore")
    python("unpack", wheel_path())
    for device in ("webgpu", "cpu"):
        choice = f"import tensorweb as tw\ntw.set_default_device({device!r})\n"
        python("await", choice + COMPUTE)
        assert json.loads(python("await", "str(values)")) == SUMS
        assert python("await", "x.device") == device
    python.page.context.close()
