"""Explain the values of a program: what they come from, and what they reach."""
