"""Functions from nodes to nodes, which check shapes and dtypes and read no values."""

# Registers the operations on complex numbers, which are built on `elementwise`.
import tensorweb.nodes.complex_functions  # noqa: F401
