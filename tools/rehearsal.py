"""Install each artefact of a release where its users would, and run a first program.

`build.py rehearse` makes the release, makes it again from its own source distribution,
and installs it: with pip into each CPython that this machine has, with micropip in
Pyodide from an index that it serves itself, with npm in Node and in a page. What a
machine lacks is skipped with the reason.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools import (
    about,
    archives,
    environment,
    in_pyodide,
    machine,
    recipes,
    release,
)
from tools.process import ROOT, BuildError, output

PROGRAM = """
import tensorweb as tw

x = tw.reshape(tw.arange(12), (3, 4)) - 5
print(tw.__version__, x.sum().item(), x.device)
"""

PRINTED = "6 cpu"
"""The sum, and where it is computed without a GPU."""

WITHOUT_WGPU = """
import tensorweb as tw

try:
    tw.set_default_device("webgpu")
except tw.DeviceError as error:
    print(error)
"""

IN_PYODIDE = """
import asyncio, contextlib, io, micropip

async def main():
    await micropip.install("tensorweb", index_urls=[{index!r}])

asyncio.run(main())
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    exec({program!r})
print("printed:", printed.getvalue())
0
"""

IN_NODE = """
await import("tensorweb/drivers");
const { checksums } = globalThis.tensorwebScripts;
console.log(Object.keys(checksums).length, "scripts");
"""

IN_PAGE = """<!doctype html>
<title>waiting</title>
<script type="importmap">
{
  "imports": {
    "tensorweb": "./node_modules/tensorweb/tensor-web.js",
    "tensorweb/drivers": "./node_modules/tensorweb/tensorweb-drivers.js"
  }
}
</script>
<script type="module">
  import "tensorweb";
  import "tensorweb/drivers";
  await customElements.whenDefined("tensor-web");
  document.title = `${Object.keys(tensorwebScripts.checksums).length} scripts`;
</script>
<tensor-web base="https://tensorweb.example/">print(1)</tensor-web>
"""

SCRIPTS = re.compile(r"[1-9]\d* scripts")

CLASSIFIER = "Programming Language :: Python :: 3."

PYENV = Path.home() / ".pyenv/versions"

SHOWN = 2000
"""Characters of the output of a step that failed."""

FIRST_RUN = "e2e/test_page_run.py::test_run_prints_and_displays"
"""The browser test of a program on the page."""

JSON_INDEX = "application/vnd.pypi.simple.v1+json"
"""https://packaging.python.org/en/latest/specifications/simple-repository-api/"""


class Skipped(Exception):
    """A step cannot run on this machine; the message says why."""


def run(folder: Path | None, wheels: Path | None) -> int:
    """Rehearse a release and print a line for each step; return the exit code.

    Args:
        folder: an existing release, which is not made again; None makes one.
        wheels: folder of wheels, as `build.py site` takes it.
    """
    environment.prepare("test")
    made = folder or ROOT / "dist/release"
    if folder is None:
        release.run(made, wheels, None)
    steps: dict[str, Callable[[], str]] = {
        "checksums": partial(check_sums, made),
        **{
            f"pip in CPython {version}": partial(in_python, made, version)
            for version in versions()
        },
        "micropip in Pyodide": partial(in_node_pyodide, made),
        "npm in Node": partial(in_node, made),
        "npm in a page": partial(in_page, made),
        "conda-forge's recipe": partial(recipe_is_read, made, recipes.CONDA),
        "Pyodide's recipe": partial(recipe_is_read, made, recipes.PYODIDE),
        "the site's archive": partial(site_archive, made),
        "tests of the source distribution": partial(source_tests, made),
    }
    if folder is None:
        steps["the same bytes again"] = partial(same_again, made, wheels)
    failed = 0
    for name, step in steps.items():
        started = time.monotonic()
        try:
            result = f"ok: {step()}"
        except Skipped as reason:
            result = f"skipped: {reason}"
        except (BuildError, AssertionError, OSError) as error:
            result = f"FAILED: {str(error)[-SHOWN:]}"
            failed += 1
        print(f"{time.monotonic() - started:6.1f} s  {name}: {result}", flush=True)
    return 1 if failed else 0


def versions() -> list[str]:
    """Return the versions of Python that the metadata promises."""
    found = [text for text in about.project()["classifiers"] if CLASSIFIER in text]
    return [text.rpartition(" ")[2] for text in found]


def interpreter(version: str) -> Path:
    """Return a CPython of a version such as `3.12`.

    Raises:
        Skipped: this machine has none.
    """
    named = shutil.which(f"python{version}")
    for path in [*([Path(named)] if named else []), *PYENV.glob(f"{version}.*/bin")]:
        program = path / "python" if path.is_dir() else path
        with contextlib.suppress(BuildError):  # pyenv's shims may lead nowhere
            if output([program, "--version"]).split()[1].startswith(f"{version}."):
                return program
    raise Skipped("not on this machine")


def check_sums(made: Path) -> str:
    """Compare the files with the checksums."""
    lines = (made / release.SUMS).read_text("utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ")
        found = hashlib.sha256((made / name).read_bytes()).hexdigest()
        assert digest == found, f"{name} has other bytes"
    return f"{len(lines)} files"


def in_python(made: Path, version: str) -> str:
    """Install the wheel with pip into an environment of its own, and use it."""
    python = interpreter(version)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside = new_environment(python, folder)
        pip: list[str | Path] = [inside, "-m", "pip", "install", "--quiet"]
        pip += ["--disable-pip-version-check"]
        output([*pip, wheel_of(made)], folder=folder)
        said = first_program([inside], folder)
        without = output([inside, "-c", WITHOUT_WGPU], folder=folder).strip()
        assert 'pip install "tensorweb[gpu]"' in without, without
        assert "\n" not in without, without
        output([*pip, f"tensorweb[gpu] @ {wheel_of(made).as_uri()}"], folder=folder)
        info = output([inside, "-m", "tensorweb", "info"], folder=folder)
        gpu = next(line for line in info.splitlines() if line.startswith("device webg"))
        serves_site([inside], made, folder)
        return f"{said}; {gpu}; the playground is served"


def new_environment(python: Path, folder: Path) -> Path:
    """Make a virtual environment in a folder; return its Python."""
    output([python, "-m", "venv", folder / "venv"])
    return folder / "venv" / environment.SCRIPTS.name / environment.PYTHON.name


def first_program(python: list[str | Path], folder: Path) -> str:
    """Run the first program and the description of the machine."""
    printed = output([*python, "-c", PROGRAM], folder=folder).strip()
    assert printed == f"{about.version()} {PRINTED}", printed
    info = output([*python, "-m", "tensorweb", "info"], folder=folder)
    assert info.startswith(f"tensorweb {about.version()}\n"), info
    return printed


def serves_site(python: list[str | Path], made: Path, folder: Path) -> None:
    """Start `python -m tensorweb` on the site's archive and ask for the page."""
    command = [*python, "-m", "tensorweb", "--no-browser", "--port", "0", "--site"]
    process = subprocess.Popen(
        [*map(str, command), str(site_of(made))],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.search(r"http://\S+", said)
        assert address, said
        with urllib.request.urlopen(address[0]) as answer:
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert b"data-build=" in answer.read()
    finally:
        process.terminate()
        process.communicate()


def wheel_of(made: Path) -> Path:
    """Return the wheel of a release."""
    (path,) = made.glob("*.whl")
    return path


def site_of(made: Path) -> Path:
    """Return the site's archive of a release."""
    (path,) = made.glob("tensorweb-site-*.zip")
    return path


class IndexHandler(http.server.BaseHTTPRequestHandler):
    """An index of packages with one package of one wheel."""

    def __init__(self, wheel: Path, *arguments: object) -> None:
        self.wheel = wheel
        super().__init__(*arguments)  # type: ignore[arg-type]  # passed through

    def do_GET(self) -> None:
        """Send the list of files, or the file."""
        data = self.wheel.read_bytes()
        if self.path == f"/files/{self.wheel.name}":
            self.send(data, "application/zip")
        elif self.path.rstrip("/") == "/simple/tensorweb":
            file = {
                "filename": self.wheel.name,
                "url": f"http://{self.headers['Host']}/files/{self.wheel.name}",
                "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                "requires-python": about.project()["requires-python"],
                "size": len(data),
            }
            project = {
                "meta": {"api-version": "1.1"},
                "name": "tensorweb",
                "versions": [about.version()],
                "files": [file],
            }
            self.send(json.dumps(project).encode(), JSON_INDEX)
        else:
            self.send_error(404)

    def send(self, data: bytes, kind: str) -> None:
        """Send an answer that pages of every origin may read."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def index(wheel: Path) -> Iterator[str]:
    """Serve an index of packages on this machine; yield its address."""
    handler = partial(IndexHandler, wheel)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


def in_node_pyodide(made: Path) -> str:
    """Install the wheel with micropip in Pyodide under Node, and use it."""
    installers = [installer(name) for name in ("micropip", "packaging")]
    with index(wheel_of(made)) as address:
        program = IN_PYODIDE.format(index=address, program=PROGRAM)
        wheels = list(map(str, installers))
        command = in_pyodide.node_command(program, [], wheels)
        printed = output(command, env=environment.variables())
    said = next((x for x in printed.splitlines() if x.startswith("printed: ")), printed)
    assert f"{about.version()} 6 " in said, printed
    return said.removeprefix("printed: ").strip()


def installer(name: str) -> Path:
    """Return a wheel that the site's build fetched for Pyodide.

    Raises:
        Skipped: it was never fetched.
    """
    folders = (environment.CACHE / "wheels", ROOT / "dist/wheels", release.DRAFT)
    for folder in folders:
        for path in sorted(folder.rglob(f"{name}-*.whl")):
            return path
    raise Skipped(f"no wheel of {name}; `python3 build.py site` fetches it")


def install_npm(made: Path, folder: Path) -> None:
    """Install the npm package into a folder, without asking a registry."""
    (package,) = made.glob("tensorweb-npm-*.tgz")
    (folder / "package.json").write_text('{"private": true}', "utf-8")
    command = [*environment.npm(), "install", "--offline", "--ignore-scripts"]
    command += ["--no-audit", "--no-fund", package.resolve()]
    output(command, env=environment.variables(), folder=folder)


def in_node(made: Path) -> str:
    """Install the npm package and import it in Node."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install_npm(made, folder)
        (folder / "first.mjs").write_text(IN_NODE, "utf-8")
        printed = output([environment.node(), "first.mjs"], folder=folder).strip()
    assert SCRIPTS.fullmatch(printed), printed
    return printed


def in_page(made: Path) -> str:
    """Install the npm package and import it in a page of Chromium."""
    browser = machine.chromium()
    if browser is None:
        raise Skipped("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install_npm(made, folder)
        (folder / "index.html").write_text(IN_PAGE, "utf-8")
        title = output(
            [environment.PYTHON, "-m", "tools.page_title", browser, folder],
            env=environment.variables(),
        ).strip()
    assert SCRIPTS.fullmatch(title), title
    return title


def recipe_is_read(made: Path, recipe: recipes.Recipe) -> str:
    """Let a recipe's own tool read it, with the artefact of this release.

    Building with it needs the distribution's own packages, which these tools fetch.
    """
    for version in reversed(versions()):
        number = tuple(map(int, version.split(".")))
        with contextlib.suppress(Skipped), tempfile.TemporaryDirectory() as name:
            if number >= recipe.oldest:
                python = new_environment(interpreter(version), Path(name))
                return recipes.read(recipe, made, python, Path(name))
    oldest = ".".join(map(str, recipe.oldest))
    raise Skipped(f"no Python {oldest} or later on this machine")


def site_archive(made: Path) -> str:
    """Unpack the site and run its first browser test."""
    if machine.chromium() is None:
        raise Skipped("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as name:
        with zipfile.ZipFile(site_of(made)) as archive:
            archive.extractall(name)
        env = environment.variables() | {"TENSORWEB_SITE": name}
        env["TENSORWEB_CHROMIUM"] = machine.chromium() or ""
        command: list[str | Path] = [environment.PYTHON, "-m", "pytest", "-q", "-n0"]
        return output([*command, FIRST_RUN], env=env).strip().splitlines()[-1]


@contextlib.contextmanager
def source(made: Path) -> Iterator[Path]:
    """Yield the unpacked source distribution, with the tools of this checkout."""
    (archive,) = made.glob("tensorweb-*.tar.gz")
    with tempfile.TemporaryDirectory(dir=environment.CACHE) as name:
        with tarfile.open(archive) as files:
            files.extractall(name, filter="data")
        (folder,) = Path(name).iterdir()
        venv = environment.VENV.resolve()
        (folder / environment.VENV.name).symlink_to(venv, target_is_directory=True)
        # No link to the folder: source maps have the paths that links lead to.
        npm = environment.NODE_MODULES
        shutil.copytree(npm, folder / npm.name, symlinks=True, copy_function=os.link)
        yield folder


def source_tests(made: Path) -> str:
    """Run the quick tests of the source distribution."""
    with source(made) as folder:
        command: list[str | Path] = [environment.PYTHON, "build.py", "test", "--quick"]
        printed = output(command, env=environment.variables(), folder=folder)
    return printed.strip().splitlines()[-1]


def same_again(made: Path, wheels: Path | None) -> str:
    """Make the release from its source distribution and compare all bytes."""
    with source(made) as folder:
        command: list[str | Path] = [environment.PYTHON, "build.py", "release"]
        command += ["--wheels", wheels.resolve()] if wheels else []
        env = {k: v for k, v in os.environ.items() if k != archives.VARIABLE}
        output(command, env=env, folder=folder)
        again = (folder / "dist/release" / release.SUMS).read_text("utf-8")
    mine = (made / release.SUMS).read_text("utf-8")
    different = set(mine.splitlines()) ^ set(again.splitlines())
    names = sorted({line.split("  ")[1] for line in different})
    assert not names, f"other bytes of {', '.join(names)}"
    return f"{len(mine.splitlines())} files"
