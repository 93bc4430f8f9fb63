"""From kernels to WebAssembly modules, for the CPU."""
