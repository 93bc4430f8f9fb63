"""Describe the WebAssembly engine that runs generated modules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WasmTarget:
    """An engine that runs modules.

    Attributes:
        shared: whether the memory is shared, as modules must declare it: it is where
            the page is cross-origin isolated, so that threads can work on it.
        relaxed: whether the engine has relaxed SIMD, of which products use the fused
            multiply-add.

    >>> WasmTarget(shared=False, relaxed=True).relaxed
    True
    """

    shared: bool
    relaxed: bool
