"""The whole op table inside Pyodide in browsers, against NumPy.

The page has the wheel and no NumPy: what is right is computed in this process. All
cases run in one page load; each checks its values and, on `webgpu`, its kernels. Only
Chromium's `cpu` gets every case: compilers take the time of `webgpu`, and Firefox
computes with the same modules.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bare_page import open_bare, serve_bare
from operation_cases import all_cases
from operation_files import write_cases
from playwright.sync_api import Browser

from conftest import Serve

RUN = """
import json, sys
from pathlib import Path
from pyodide.http import pyfetch
for name in ("op_runner.py", "cases.json", "cases.bin"):
    response = await pyfetch(f"./{name}")
    Path(name).write_bytes(await response.bytes())
import op_runner
table = op_runner.Table(Path())
failures = op_runner.run(table, DEVICE)
assert "numpy" not in sys.modules
json.dumps([len(table.cases), failures])
"""

BROWSERS = [("chromium", "webgpu"), ("chromium", "cpu"), ("firefox", "cpu")]
"""A browser and a device each."""


@pytest.mark.parametrize(("browser_name", "device"), BROWSERS)
def test_every_case_equals_numpy_and_runs_its_kernels(
    browser_name: str,
    device: str,
    serve: Serve,
    memory: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    browser: Browser = request.getfixturevalue(browser_name)
    cases = all_cases(device, sampled=browser_name == "firefox")
    write_cases(tmp_path, cases, device)
    python = open_bare(browser, serve_bare(serve, tmp_path, memory), "inWorker")
    python("resume")
    python.install()
    number, failures = json.loads(python("await", f"DEVICE = {device!r}\n{RUN}"))
    python.page.context.close()
    assert number == len(cases)
    assert not failures, f"{len(failures)} of {number}:\n" + "\n".join(failures)
