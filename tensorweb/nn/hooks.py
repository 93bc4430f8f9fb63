"""Hooks of modules: functions that are called before or after `forward`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Hook = Callable[..., Any]


class HookHandle:
    """Removes a hook again.

    >>> handle = tw.nn.Linear(3, 2).register_forward_hook(lambda *call: None)
    >>> handle.remove()
    """

    def __init__(self, module: Any, name: str, hook: Hook) -> None:
        """Add a hook to a module."""
        self._module, self._name, self._hook = module, name, hook
        setattr(module, name, (*getattr(module, name), hook))

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        hooks = getattr(self._module, self._name)
        left = tuple([hook for hook in hooks if hook is not self._hook])
        vars(self._module).pop(self._name, None)
        if left:
            setattr(self._module, self._name, left)


class TakingKeywords(partial[Any]):
    """A hook that receives the keywords of the call, too."""
