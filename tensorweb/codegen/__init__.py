"""Code generation: fill the templates of `shaders/` with a kernel's WGSL."""
