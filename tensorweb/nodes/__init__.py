"""Builders: functions from nodes to nodes that check shapes, dtypes and devices."""
