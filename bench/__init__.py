"""Benchmarks: kernels beside their peers, the launch path, the page, and a report.

`python3 build.py bench --help` tells the commands; `README.md` here tells how to run
them on a machine with a GPU and no network.
"""
