"""From kernels to WGSL: templates of `shaders/` with their slots filled."""
