"""What errors of wgpu-py say, and what stood behind them; used by the native driver."""

from __future__ import annotations


def interruption(
    error: BaseException, outside: BaseException | None
) -> BaseException | None:
    """Return what interrupted wgpu-py before an error, such as KeyboardInterrupt.

    Locks and callbacks that were left half-way complain afterwards. `outside` is what
    was being handled before the call: interruptions before that are over.
    """
    cause = error.__context__
    while cause is not None and cause is not outside:
        if not isinstance(cause, Exception):
            return cause
        cause = cause.__context__
    return None


def without_preamble(error: BaseException | None) -> str:
    """Return the text of a wgpu error behind `Validation Error, Caused by:`."""
    return str(error).split("Caused by:", 1)[-1].strip()
