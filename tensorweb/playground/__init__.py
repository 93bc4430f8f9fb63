"""The Python side of the page: run programs, list their tensors, draw their values.

`respond` is the only entry point: it takes the name of a request and its details as
JSON and returns the response as JSON. Nothing here touches the page or its worker;
output of a running program is passed to the function given to `connect`.
"""

from __future__ import annotations

from .bridge import connect, respond, respond_async
from .session import Session

__all__ = ["Session", "connect", "respond", "respond_async"]
