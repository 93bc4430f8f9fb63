"""Deterministic accumulation of values at indices."""
