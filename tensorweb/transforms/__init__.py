"""Functions from functions to functions: `jit`, `grad` and their like."""
