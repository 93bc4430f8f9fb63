"""Benchmarks of kernels, training, launches and the page; `README.md` explains them."""
