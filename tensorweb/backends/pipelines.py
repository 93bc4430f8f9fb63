"""The compiled shaders of one device, found by their source text."""

from __future__ import annotations

from tensorweb.codegen.program import Launch
from tensorweb.drivers.protocol import Driver


class Pipelines:
    """Pipelines of one device by their source text."""

    def __init__(self, driver: Driver) -> None:
        """Begin without pipelines."""
        self.driver = driver
        self._handles: dict[str, int] = {}

    def handle(self, launch: Launch, words: str) -> int:
        """Return the pipeline of a launch, compiled on first use.

        Raises:
            ShaderError: the device's compiler refused it.
        """
        found = self._handles.get(launch.source)
        if found is None:
            header = self.driver.shader_header
            if "f16" in launch.source:
                header = f"enable f16;\n{header}"
            found = self._handles[launch.source] = self.driver.create_pipeline(
                header + launch.source, launch.access, words
            )
        return found
