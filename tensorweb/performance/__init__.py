"""Measuring and compiling ahead: what makes the same results come sooner."""
