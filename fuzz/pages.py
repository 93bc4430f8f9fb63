"""Run programs in a page's Python, on device `cpu`, and fetch what they make.

The page has Pyodide and the package, no NumPy: data go there as bytes and come back so.
"""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from fuzz.ball import Array
from fuzz.program import Program
from fuzz.running import Failure, Wrong, judge, line_of, lines
from tools import machine
from tools.server import SiteServer

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS = 300_000

PAGE = "<!doctype html><meta charset=utf-8><title>fuzz</title>"
START = """async () => {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location.href));
  globalThis.py = await loadPyodide();
  const files = await fetch("package.zip").then((found) => found.arrayBuffer());
  py.unpackArchive(files, "zip");
  await py.runPythonAsync(await fetch("runner.py").then((found) => found.text()));
  globalThis.run = py.globals.get("run");
}"""
RUNNER = '''
import base64, json, types, warnings
import tensorweb as tw
from tensorweb.evaluate import read

LETTERS = {"bool": "?", "float16": "e"}
np = types.SimpleNamespace(
    inf=float("inf"),
    nan=float("nan"),
    array=lambda data, dtype: tw.asarray(data, dtype=dtype),
    zeros=lambda shape, dtype: tw.zeros(shape, dtype=dtype),
)

def leaf(dtype, letter, shape, data):
    """Return a tensor of bytes."""
    flat = memoryview(base64.b64decode(data)).cast(letter)
    if not len(flat):
        return tw.zeros(shape, dtype=dtype)
    return tw.reshape(tw.asarray(flat.tolist(), dtype=dtype), tuple(shape))

def run_one(text, times):
    found = []
    def check(tensor, number):
        (data,) = read([tensor.node])
        name = tensor.dtype.name
        found.append([number, name, tensor.shape, base64.b64encode(data).decode()])
    names = {"tw": tw, "np": np, "check": check, "leaf": leaf}
    try:
        with tw.device("cpu"), warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(times):
                exec(compile(text, "<program>", "exec"), dict(names))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:600], "found": found}
    return {"error": "", "found": found}

def run(texts):
    """Run programs; takes and returns JSON."""
    return json.dumps([run_one(text, times) for text, times in json.loads(texts)])
'''


@contextmanager
def opened(name: str) -> Iterator[Page]:
    """Start Chromium or Firefox with a page that has the package."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        (folder / "index.html").write_text(PAGE)
        (folder / "runner.py").write_text(RUNNER)
        (folder / "pyodide").symlink_to(ROOT / "node_modules" / "pyodide")
        _pack(folder)
        server = SiteServer(folder)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = _launch(playwright, name)
        page = browser.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto(server.url)
        page.evaluate(START)
        try:
            yield page
        finally:
            browser.close()
            server.shutdown()


def _pack(folder: Path) -> None:
    """Write the package as an archive."""
    packed = folder / "packed"
    for part in ("tensorweb", "shaders"):
        shutil.copytree(ROOT / part, packed / part)
    shutil.make_archive(str(folder / "package"), "zip", packed)
    shutil.rmtree(packed)


def _launch(playwright: Any, name: str) -> Any:
    if name == "firefox":
        found = shutil.which("firefox-esr") or shutil.which("firefox")
        if found is None:
            raise SystemExit("no Firefox is installed")
        return playwright.firefox.launch(channel="moz-firefox", executable_path=found)
    found = machine.chromium()
    if found is None:
        raise SystemExit("no Chromium is installed")
    return playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])


def text_for(program: Program, manner: str, seed: str) -> str:
    """Return a program's text in a manner, its data as bytes."""
    text = "\n".join(lines(program, manner, seed))
    for step in program.steps:
        if step.is_leaf:
            for line in step.line.split("\n"):
                text = text.replace(line, _leaf_line(line), 1)
    return text


def _leaf_line(line: str) -> str:
    """Return the line that makes a tensor of bytes, for one of a NumPy expression."""
    name, expression = line.split(" = tw.asarray(", 1)
    array: Array = np.asarray(eval(expression[:-1], {"np": np}))
    data = base64.b64encode(array.tobytes()).decode()
    letter = (
        array.dtype.char
        if array.dtype.char not in "lL"
        else "qQ"["lL".index(array.dtype.char)]
    )
    return f"{name} = leaf({array.dtype.name!r}, {letter!r}, {array.shape!r}, {data!r})"


def run_all(
    page: Page, programs: Sequence[tuple[Program, str, str]]
) -> list[Failure | None]:
    """Run programs, each in a manner, with a seed; return what went wrong in each."""
    texts = [
        (text_for(program, manner, seed), 2 if manner == "twice" else 1)
        for program, manner, seed in programs
    ]
    answers = json.loads(page.evaluate("(texts) => run(texts)", json.dumps(texts)))
    return [
        _failure(program, manner, answer)
        for (program, manner, _), answer in zip(programs, answers, strict=True)
    ]


def _failure(program: Program, manner: str, answer: dict[str, Any]) -> Failure | None:
    for number, name, shape, data in answer["found"]:
        got = np.frombuffer(base64.b64decode(data), name).reshape(shape)
        try:
            judge(got, name, program.balls[number], number, has_signs=True)
        except Wrong as error:
            line = line_of(program, error.number)
            return Failure("cpu", manner, str(error), error.number, line, error.kind)
    if answer["error"]:
        kind = answer["error"].split(":")[0]
        return Failure("cpu", manner, answer["error"], -1, "?", kind)
    return None
