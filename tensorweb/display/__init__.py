"""A tensor for the eye: facts, cells, colours, a PNG. Works on nodes.

The page (`playground/`) and notebooks (`Tensor._repr_mimebundle_`) both show these.
Every reduction runs on the node's device; only what is drawn is read.
"""
