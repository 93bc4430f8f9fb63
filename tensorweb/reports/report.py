"""`trace` and `inspect`: what a program computes, as a report.

`report.js` and `report.css` are bundled from the page's own sources (`web/src/report/`)
by `python3 build.py setup` and whenever a wheel is built. The policy of the file lets
nothing but this script run, whatever a program has printed.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from html import escape
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from tensorweb import frames
from tensorweb.display.statistics import shape_text, short
from tensorweb.errors import BackendError, DataError, MissingPackageError, counted
from tensorweb.show import has_host
from tensorweb.tensor import Tensor
from tensorweb.version import VERSION

if TYPE_CHECKING:
    from tensorweb.reports.recording import Recorder


POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'none'; base-uri 'none'"
)

PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{styles}</style></head>
<body class="saved-page"><main><h1>{title}</h1>
<p class="saved-facts">{facts}</p>
{program}</main>
<script type="application/json" id="recording">{recording}</script>
<script>{script}</script></body></html>
"""

PROGRAM = """\
<h2>Program</h2>
<pre class="saved-code" data-file="main.py" tabindex="0" \
aria-label="Code of {name}"><code>{text}</code></pre>
"""

FRAME = """\
<iframe srcdoc="{page}" title="{title}" sandbox="allow-scripts" \
style="width: 100%; height: {height}px; border: 0"></iframe>"""

FRAME_HEIGHT = 560


@cache
def _bundled(name: str) -> str:
    path = Path(__file__).with_name(name)
    # In the playground the file is empty until the page has loaded what no start reads.
    text = path.read_text("utf-8") if path.is_file() else ""
    if not text:
        raise MissingPackageError(
            f"reports need {name}, which is not there yet; run it again when the page "
            "is loaded, in a checkout run `python3 build.py setup` first."
        )
    return text


def html_of(title: str, facts: str, text: str, recording: dict[str, Any]) -> str:
    """Return the file's text.

    Args:
        title: its heading.
        facts: the sentence below it.
        text: the program; none is shown if it is empty.
        recording: what `web/src/report/report.ts` draws.
    """
    script = _bundled("report.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    program = ""
    if text:
        name = escape(title, quote=True)
        program = PROGRAM.format(name=name, text=escape(text))
    return PAGE.format(
        policy=POLICY.format(script=f"sha256-{digest}"),
        title=escape(title),
        facts=escape(facts),
        styles=_bundled("report.css"),
        program=program,
        # No text inside a script element can end it without this sign.
        recording=json.dumps(recording, allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )


def framed(page: str, title: str) -> str:
    """Return a frame with the page, which cannot reach the document around it."""
    return FRAME.format(
        page=escape(page, quote=True),
        title=escape(title, quote=True),
        height=FRAME_HEIGHT,
    )


MOST_LISTED = 20
"""Lines of each part of a report's text."""

UNENCODABLE = "backslashreplace"
"""What files contain for lone surrogates, which no encoding has."""

CONTEXTLIB = ExitStack.close.__code__.co_filename


class Report:
    """What a program computed: its lines, tensors, kernels, memory and graph.

    `tw.trace()` and `tw.inspect()` make it. A notebook shows it, and printing it writes
    a summary.

    >>> with tw.trace() as t:
    ...     x = tw.asarray([[1.0, 2.0], [3.0, 4.0]], device="cpu")
    ...     y = (x @ x).sum()
    >>> "y: float32 () on cpu" in repr(t)
    True
    """

    def __init__(self, title: str = "") -> None:
        """Begin without a recording; `title` heads the report."""
        self._title = title
        self._recorder: Recorder | None = None
        self._recording: dict[str, Any] | None = None
        self._block = ExitStack()
        self._is_open = False

    def __enter__(self) -> Self:
        """Record what the program computes from here on."""
        if self._recorder is not None or self._recording is not None:
            raise DataError("trace: it records once; open another by tw.trace().")
        # Imported now: programs that do not look start faster.
        from .recording import Recorder

        self._recorder = Recorder()
        main = _block_frame().f_code.co_filename
        self._title = self._title or _title_of(main)
        self._block.enter_context(self._recorder.open(main))
        self._is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Compute what was built and has a name, and end the recording."""
        assert self._recorder is not None, "internal: a block ends after it has begun"
        self._is_open = False
        with self._block:
            if error is not None:
                self._recorder.fail(error)
            frame = _block_frame()
            seen = {**frame.f_globals, **frame.f_locals}
            self._recorder.take(frame.f_locals, seen)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report as one HTML file, and return the file's path.

        The file needs neither a server nor a network, and shows values where you point.
        Whatever the program printed or named is text in it.

        Args:
            path: the file; None for a temporary one that is opened in a browser. Where
                there is no browser, its path is printed.

        Raises:
            DataError: nothing has been recorded yet.
            OSError: the file cannot be written.

        >>> import tempfile
        >>> path = tw.inspect(tw.ones((2, 3))).report(tempfile.mkdtemp() + "/x.html")
        >>> path.read_text("utf-8")[:15]
        '<!doctype html>'
        """
        import tempfile
        import webbrowser

        text = self._html()
        if path is not None:
            Path(path).write_text(text, "utf-8", UNENCODABLE)
            return Path(path)
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors=UNENCODABLE,
            suffix=".html",
            prefix="tensorweb-",
            delete=False,
        ) as file:
            file.write(text)
        written = Path(file.name)
        if not webbrowser.open(written.as_uri()):
            print(written)
        return written

    def _recorded(self) -> dict[str, Any]:
        if self._recording is not None:
            return self._recording
        if self._recorder is None or self._is_open:
            raise DataError(
                "trace: nothing is recorded yet; write `with tw.trace() as t:` around "
                "a part of the program, and t.report() after it."
            )
        self._recording = self._recorder.recording()
        self._recorder = None  # It retains the values of the program.
        return self._recording

    def _html(self) -> str:
        recording = self._recorded()
        facts = f"A report of tensorweb {VERSION}: {_counts(recording)}."
        error = recording["run"]["error"]
        if error is not None:
            facts += f" The program failed: {error['text']}"
        return html_of(self._title, facts, recording["source"], recording)

    def __repr__(self) -> str:
        """Return a summary as text."""
        try:
            recording = self._recorded()
        except (BackendError, DataError) as error:
            return f"Report {self._title}: {error}"
        parts = [f"{self._title}: {_counts(recording)}"]
        parts += _listed("Tensors", map(_tensor_text, recording["tensors"]))
        parts += _listed("Graph", map(_step_text, recording["graph"]))
        parts += _listed("Kernels", map(_kernel_text, recording["run"]["kernels"]))
        return "\n".join(parts)

    def _repr_mimebundle_(
        self,
        include: Container[str] | None = None,
        exclude: Container[str] | None = None,
    ) -> dict[str, str]:
        """Return the report by MIME type, for notebooks."""
        bundle = {"text/plain": repr(self)}
        # The playground has these views itself, and lets no other script run.
        if self._recording is not None and not has_host():
            try:
                bundle["text/html"] = framed(self._html(), self._title)
            except MissingPackageError as error:
                bundle["text/plain"] += f"\n{error}"
        return {
            kind: text
            for kind, text in bundle.items()
            if (not include or kind in include) and not (exclude and kind in exclude)
        }


def trace(title: object = "") -> Report:
    """Record what a program computes inside a `with` block.

    The report has the shapes and values that each line made, the kernels with their
    text, the device memory over time, and the graph. Tensors that the block built and
    that have a name at its end are computed there; other values that nothing needed
    are not in the report. Functions under `tw.jit` run without
    a recording inside the block, so that their lines are seen.

    After an exception the report has what was computed until then, and of pending
    tensors shapes and layouts. A block inside of another one has no part Memory.

    A recording retains what the block computed, up to 128 MB, until the report is
    shown, written or dropped. Ordinary Python runs no kernels on `cpu`, which computes
    with NumPy.

    Args:
        title: heads the report; by default the name of the program's file.

    Returns:
        The report, complete after the block: it displays itself in notebooks, and
        `report()` opens it in a browser.

    Raises:
        DataError: `title` is a tensor.

    >>> with tw.trace("a sum") as t:
    ...     x = tw.ones((2, 3), device="cpu") * 2
    ...     total = x.sum()
    >>> print(repr(t).split(",")[0])
    a sum: 2 tensors
    """
    if isinstance(title, Tensor):
        raise DataError(
            f"trace: a tensor of shape {title.shape} given; it records a run. "
            "The sum of a diagonal is tw.linalg.trace(x)."
        )
    return Report(str(title))


def inspect(x: Tensor, name: str = "", *, why: Iterable[Sequence[int]] = ()) -> Report:
    """Show a tensor: its values, its layout, how it was made, and by which kernels.

    A pending tensor is computed, and the kernels are the ones that run now. Inside a
    block of `tw.trace()` the graph begins with the data of the block, elsewhere with
    the values that were computed before.

    Args:
        x: the tensor.
        name: its name in the report; by default its expression in the program.
        why: indices of cells whose values the report explains, down to the data as far
            as its size allows; by default every cell of up to 32, else the first.

    Returns:
        A report that displays itself in notebooks; `report()` opens it in a browser.

    Raises:
        DataError: `x` is no tensor, or has no cell of `why`.
        BlockingError: Python cannot wait for the device here.

    >>> x = tw.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="cpu")
    >>> print(tw.inspect(x.T, "x.T"))
    x.T: 2 tensors, 0 kernels
    Tensors
      x.T: float32 (3, 2) on cpu · 1 … 6 · offset 0, strides (1, 3) · view of data
      data: float32 (2, 3) on cpu · 1 … 6 · offset 0, strides (3, 1)
    Graph
      %0 = data  float32 (2, 3)
      %1 = permute(%0)  float32 (3, 2)
    """
    if not isinstance(x, Tensor):
        raise DataError(f"inspect: {type(x).__name__} given; it takes a tensor.")
    from .recording import Recorder, argument_of

    report = Report()
    frame = frames.user_frame()
    report._title = name = name or argument_of(frame) or "x"
    recorder = report._recorder = Recorder(why=[_cell(x, index) for index in why])
    seen = {**frame.f_globals, **frame.f_locals}
    recorder.inspect(x, name, frame.f_code.co_filename, seen)
    report._recorded()
    return report


def _cell(x: Tensor, index: Sequence[int]) -> tuple[int, ...]:
    """Return a cell's index, counted from the start of each axis."""
    fits = len(index) == len(x.shape)
    if not fits or any(not -n <= at < n for at, n in zip(index, x.shape, strict=True)):
        raise DataError(
            f"inspect: there is no cell {tuple(index)} in shape {x.shape}; `why` takes "
            "a list of indices, such as [(0, 1)]."
        )
    return tuple([at % n for at, n in zip(index, x.shape, strict=True)])


def _block_frame() -> FrameType:
    """Return the frame of a `with` block, also one that `contextlib` entered."""
    frame = frames.user_frame()
    while (caller := frame.f_back) is not None:
        is_manager = frame.f_code.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR)
        if (caller if is_manager else frame).f_code.co_filename != CONTEXTLIB:
            break
        frame = caller
    return frame


def _title_of(file: str) -> str:
    """Return the name of a file of a program; cells of notebooks have none."""
    name = file.replace("\\", "/").rpartition("/")[2]
    return "Trace" if name.startswith("<") or "ipykernel" in file else name


def _counts(recording: Mapping[str, Any]) -> str:
    run = recording["run"]
    kinds = len(run["kernels"]) + run["kernelsLeftOut"]
    tensors = counted(len(recording["tensors"]), "tensor")
    return f"{tensors}, {counted(kinds, 'kernel')}"


def _listed(title: str, rows: Iterator[str]) -> list[str]:
    texts = [*rows]
    rest = len(texts) - MOST_LISTED
    more = [f"  … {rest} more"] if rest > 0 else []
    return [title, *(f"  {text}" for text in texts[:MOST_LISTED]), *more] * bool(texts)


def _tensor_text(tensor: Mapping[str, Any]) -> str:
    shape = shape_text(tensor["shape"])
    parts = [f"{tensor['name']}: {tensor['dtype']} {shape} on {tensor['device']}"]
    least, greatest = tensor.get("min"), tensor.get("max")
    if least is not None and greatest is not None:
        parts.append(f"{short(least)} … {short(greatest)}")
    parts += [f"{tensor[kind]:,} {kind}" for kind in ("nan", "inf") if tensor.get(kind)]
    layout = f"offset {tensor['offset']}, strides {tuple(tensor['strides'])}"
    view = f"view of {tensor['viewOf']}" if tensor["viewOf"] else ""
    return " · ".join([*parts, layout, *filter(None, [view])])


def _step_text(step: Mapping[str, Any]) -> str:
    line = f" · line {step['line']}" if step["line"] else ""
    return f"{step['text']}  {step['dtype']} {shape_text(step['shape'])}{line}"


def _kernel_text(kernel: Mapping[str, Any]) -> str:
    file = f"{kernel['file']}, " if "file" in kernel else ""
    line = f" · {file}line {kernel['line']}" if kernel["line"] else ""
    launches = counted(kernel["count"], "launch")
    return f"{kernel['name']} · {launches} on {kernel['device']}{line}"
