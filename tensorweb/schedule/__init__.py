"""From the graph to kernels: what is fused, what is stored, in which order."""
