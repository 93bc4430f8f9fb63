"""Backends run a graph on a device; each implements `protocol.Backend`."""
