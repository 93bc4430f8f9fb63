"""vjp and batching rules, one per operation of the op table."""
