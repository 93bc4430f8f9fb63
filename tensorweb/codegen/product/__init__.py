"""The product of matrices: tiles, how operands get there, windows and their padding."""
