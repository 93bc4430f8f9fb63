"""A program's own kernels: errors in their own lines, and their run in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tensorweb.backends import policy
from tensorweb.codegen.custom import CPU, custom, locate_in_text
from tensorweb.codegen.expression import VALUE_TYPES
from tensorweb.codegen.program import Launch
from tensorweb.codegen.python_functions import ROUND, Value
from tensorweb.codegen.stepping import Memory, read_program
from tensorweb.codegen.wgsl_program import OutsideError
from tensorweb.devices import DEVICES
from tensorweb.drivers.messages import excerpt
from tensorweb.dtypes import BY_NAME
from tensorweb.errors import DeviceError, ShaderError
from tensorweb.graph.custom import Custom
from tensorweb.graph.node import Node, attributes_of, number_of_constant
from tensorweb.nodes.custom import is_value
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.shapes import size


def own_error(own: Custom, error: ShaderError) -> ShaderError:
    """Return the error of a program's own kernel, with lines of its own text."""
    parts = [f"kernel {own.name!r} does not compile."]
    for message, line, column in error.reports:
        part, at, column = locate_in_text(error.source, line, column)
        text = {"text": own.text, "header": own.header}.get(part, error.source)
        where = "" if part == "text" else f" of the {part}"
        parts.append(f"line {at}{where}: {message}" if at else message)
        if at:
            parts.append(excerpt(text, at, column))
    found = ShaderError("\n".join(parts))
    found.label, found.source, found.reports = error.label, error.source, error.reports
    return found


def launch_of(node: Node) -> Launch:
    """Return the launch of a custom node on a GPU."""
    (planned,) = plan(linearize([node]), policy.WASM_MOST_INPUTS)
    (launch,) = custom(planned.kernel, CPU).launches
    return launch


class CpuCompiler:
    """Reads the part of WGSL that runs without a GPU; see `ShaderCompiler`."""

    is_slow = True
    shader_limits: Mapping[str, int] = {
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupSizeY": 256,
        "maxComputeWorkgroupSizeZ": 64,
        "maxStorageBuffersPerShaderStage": 8,
    }  # those of every device of WebGPU

    def __init__(self, translate: Callable[[Kernel], object] | None = None) -> None:
        """Run texts in Python, or translate them."""
        self._translate = translate

    def compile_custom(self, node: Node) -> str:
        """Return the complete WGSL of a custom node, which Python can run.

        Raises:
            DeviceError: the text has what only a GPU runs.
            ShaderError: the text is wrong; lines are those of the program's text.
        """
        source = launch_of(node).source
        assert isinstance(source, str), "internal: a module for a GPU"
        try:
            read_program(source)
            if self._translate is not None:
                (planned,) = plan(linearize([node]), policy.WASM_MOST_INPUTS)
                self._translate(planned.kernel)
        except ShaderError as error:
            error.source = source
            found = own_error(attributes_of(node, Custom), error)
            if isinstance(error, OutsideError):
                raise DeviceError(
                    f"{found}\nPass tensors of device {[*DEVICES][-1]!r}, or give "
                    "tw.kernel a reference= and fallback=True."
                ) from None
            raise found from None
        return source


PYTHON = CpuCompiler()


def begun(
    node: Node, inputs: Sequence[bytes]
) -> tuple[Launch, dict[str, bytes], dict[str, Value]]:
    """Return a node's launch, the bytes of its arrays by name, and its parameters."""
    own = attributes_of(node, Custom)
    launch = launch_of(node)
    parameters: dict[str, Value] = {}
    storages = {}
    for argument, source, data in zip(own.inputs, node.inputs, inputs, strict=False):
        if is_value(source):
            value = number_of_constant(source.base)
            kind = VALUE_TYPES[argument.dtype]
            parameters[argument.name] = ROUND[kind](value)
        else:
            is_array = bool(argument.shape)
            storages[argument.name if is_array else f"{argument.name}_value"] = data
    for name, dtype, shape in own.outputs:
        storages[name] = bytes(size(shape) * BY_NAME[dtype].itemsize)
    return launch, storages, parameters


def computed(node: Node, inputs: Sequence[bytes]) -> bytes:
    """Return the output that a custom node is, for the bytes of its inputs."""
    launch, storages, parameters = begun(node, inputs)
    program = read_program(str(launch.source))
    memory = Memory(program.module.arrays, storages)
    own = attributes_of(node, Custom)
    program.run(memory, parameters, own.groups)
    return memory.data(own.outputs[own.output].name)
