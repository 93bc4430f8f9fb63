"""Functions from functions to functions: `jit`."""
