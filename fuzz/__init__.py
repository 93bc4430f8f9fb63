"""Random graphs of tensor operations, compared with NumPy element by element.

`python3 build.py fuzz SECONDS SEED` runs them on both devices; a failure ends in a
small program that shows it.
"""
