"""The product of matrices: tiles, their bodies and sides, windows and their borders."""
