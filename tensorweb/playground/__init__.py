"""What the page asks of Python: run a program, list its tensors, draw numbers of one.

`answer` is the only entrance: a question's name and its details as JSON go in, JSON
comes out. Nothing here touches the page or its worker; what a running program prints
and shows leaves through the function given to `connect`.
"""

from __future__ import annotations

from .bridge import answer, answer_async, connect
from .session import Session

__all__ = ["Session", "answer", "answer_async", "connect"]
